//! `segue rm`

use clap::Args;
use segue_core::{Error, Result};

use crate::context::{Context, Ending};
use crate::output::Output;
use crate::progress::{self, Task, watching};
use crate::render::sessions::address;

/// Forget a session; its transcript stays unless --purge
#[derive(Debug, Args)]
#[command(after_help = "Without a terminal it must be told --yes.\n\n\
    Examples:\n  segue rm coder\n  segue rm shop/tester --purge --yes")]
pub(crate) struct Arguments {
    /// `fleet/name`, a name, an id or its beginning
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,

    /// Delete its transcript too: nothing can bring the conversation back
    #[arg(long)]
    pub(crate) purge: bool,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

pub(crate) async fn run(arguments: &Arguments, context: &mut Context) -> Result<Ending> {
    let client = progress::connect(context).await?;
    let session = client.session(&arguments.session, context.cwd()).await?;
    let name = address(&session);
    confirm(arguments, &name, context)?;
    // The id, so that what was asked about is what is removed.
    let id = session.id.to_string();
    let task = Task::new("ending and forgetting").of([name.clone()]);
    let task = task.goes_on(format!("{name} is being forgotten"), "run `segue ls --all` to see");
    let removed = client.remove(&id, context.cwd(), arguments.purge);
    watching(context, task, removed).await?;
    if context.wants_json() {
        context.output.json(&session)?;
    } else {
        context.output.text(&format!("{name} is forgotten\n"))?;
    }
    Ok(Ending::Done)
}

fn confirm(arguments: &Arguments, name: &str, context: &Context) -> Result<()> {
    if arguments.yes {
        return Ok(());
    }
    if !Output::can_ask() {
        return Err(Error::usage(format!(
            "`{name}` is not removed: there is no terminal to ask on"
        ))
        .hint(format!("run `segue rm {name} --yes` to remove it without being asked")));
    }
    let question = if arguments.purge {
        format!("forget {name} and delete its transcript? nothing can bring it back")
    } else {
        format!("forget {name}? its transcript stays")
    };
    if context.output.ask(&question)? {
        return Ok(());
    }
    Err(Error::usage(format!("`{name}` is not removed: the answer was no")))
}
