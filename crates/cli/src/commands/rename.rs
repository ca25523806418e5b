//! `segue rename`: gives a session another name.

use clap::Args;
use segue_core::Result;
use segue_core::api::RenameRequest;

use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress;
use crate::render::sessions::address;

/// Give a session another name; its agent continues to run
#[derive(Debug, Args)]
#[command(
    after_help = "The session stays in its fleet and keeps its id. `segue up` still finds the \
    session of an agent that was renamed. A name that another session of the fleet has is a \
    conflict.\n\n\
    Examples:\n  segue rename coder login-fix\n  segue rename shop/tester night-tests"
)]
pub(crate) struct RenameArguments {
    /// The session
    #[arg(value_name = "SESSION", add = complete::sessions())]
    pub(crate) session: String,

    /// The new name, without the fleet
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

pub(crate) async fn run(
    arguments: RenameArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let RenameArguments { session, name } = arguments;
    let request = RenameRequest { cwd: context.cwd().to_owned(), session, name };
    let report = client.rename(&request).await?;
    if context.wants_json() {
        context.output.json(&report)?;
    } else {
        let (from, to) = (&report.renamed_from, address(&report.session));
        context.output.text(&format!("{from} is called {to} now\n"))?;
    }
    Ok(CommandEnding::Done)
}
