//! `segue attach`: connects this terminal to the terminal of a session.

mod choice;

use std::io::{self, IsTerminal as _};

use clap::Args;
use segue_core::api::AttachPoint;
use segue_core::model::LaunchEnd;
use segue_core::rules::last_output::cause;
use segue_core::{Error, Kind, Result};
use segue_server::client::Client;
use segue_server::wiring::{self, AttachEnd};

use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress;
use crate::render::shell;

/// Open the live terminal of a session; Ctrl-\ d leaves it running
#[derive(Debug, Args)]
#[command(
    after_help = "Without a name, it opens the only session that asks a question, or else the \
    only session that runs. Sessions of this folder come first. If there are several, you choose \
    one.\n\n\
    Keys:\n  \
    Ctrl-\\ d        detach; the agent keeps running\n  \
    Ctrl-\\ [        scroll through the agent's output; PageUp and the wheel do it, too,\n                  \
    unless the agent uses them itself\n  \
    Ctrl-\\ m        use the mouse to select text; again: to scroll\n  \
    Ctrl-\\ ?        show all keys; any key closes them\n  \
    Ctrl-\\ Ctrl-\\   send Ctrl-\\ itself\n\n\
    While you scroll: arrows or j k, PageUp PageDown, Ctrl-U Ctrl-D, g G, / ? n N to search,\n\
    v to select lines, y to copy them, q to leave.\n\n\
    Examples:\n  segue attach\n  segue attach coder\n  segue attach shop/reviewer"
)]
pub(crate) struct AttachArguments {
    /// The session: `fleet/name`, a name, or at least four characters of an id
    #[arg(value_name = "SESSION", add = complete::terminals())]
    pub(crate) session: Option<String>,
}

pub(crate) async fn run(
    arguments: &AttachArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    if !can_attach() {
        let name = arguments.session.as_deref().map(|name| format!(" {}", shell::word(name)));
        let name = name.unwrap_or_default();
        return Err(Error::usage("`segue attach` needs a terminal")
            .caused_by("standard input or standard output is not a terminal")
            .hint(format!(
                "run `segue log{name} --follow` to see what happens without a terminal"
            )));
    }
    let client = progress::connect(context).await?;
    let session = match &arguments.session {
        Some(session) => session.clone(),
        None => choice::choose(&client, context).await?,
    };
    attach(&session, &client, context).await
}

/// Returns whether standard input and standard output are terminals, which attaching needs.
pub(crate) fn can_attach() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Connects this terminal to the session's terminal until the user detaches or the agent ends.
pub(crate) async fn attach(
    session: &str,
    client: &Client,
    context: &mut Context,
) -> Result<CommandEnding> {
    let point = client.attach_point(session, context.cwd()).await?;
    match wiring::attach(&context.local, &point).await? {
        AttachEnd::Detached => {
            context.output.note(&format!("detached from {}; it goes on", point.of.address));
            context.output.hint(&format!("run `segue attach {}` to come back", point.of.address));
            Ok(CommandEnding::Done)
        }
        AttachEnd::AgentEnded(end) => after_end(&point, &end, context),
        AttachEnd::HolderGone => {
            Err(Error::unavailable(format!("the terminal of `{}` is gone", point.of.address))
                .caused_by("the process that held it ended; the conversation is kept")
                .hint(format!("run `segue resume {}` to bring it back", point.of.address)))
        }
    }
}

fn after_end(point: &AttachPoint, end: &LaunchEnd, context: &Context) -> Result<CommandEnding> {
    let name = &point.of.address;
    if end.is_requested || end.exit.is_clean() {
        context.output.note(&format!("{name} ended; its conversation is kept"));
        context.output.hint(&format!("run `segue resume {name}` to go on with it"));
        return Ok(CommandEnding::Done);
    }
    let error = Error::new(Kind::Vendor, format!("the agent of `{name}` ended: {}", end.exit));
    let error = match wiring::last_output(point) {
        Some(output) => error.caused_by(cause(&output)),
        None => error,
    };
    Err(error.hint(format!("run `segue log {name}` to see what happened")).hint(format!(
        "run `segue resume {name}` to bring it back, unless Segue has restarted it already"
    )))
}
