//! `segue` without a command on a terminal: the terminal UI.

mod changes;
mod daemon_client;
mod reading;

use std::sync::Arc;

use jiff::tz::TimeZone;
use segue_core::Result;
use segue_tui::Surroundings;

use super::attach;
use crate::context::{CommandEnding, Context};
use crate::progress;
use crate::render::style::Colour;
use daemon_client::DaemonClient;

/// Returns whether the UI can be opened: on a terminal that can be drawn on, and not by an agent.
pub(crate) fn can_open(context: &Context) -> bool {
    let terminal = context.local.environment().get("TERM");
    attach::can_attach()
        && !context.wants_json()
        && terminal.is_some_and(|it| it != "dumb")
        && !context.local.is_inside_agent()
}

pub(crate) async fn run(context: &mut Context) -> Result<CommandEnding> {
    // A daemon that has to be started first is waited for on the user's own screen.
    drop(progress::connect(context).await?);
    let surroundings = Surroundings {
        home: context.display().home.map(ToOwned::to_owned),
        cwd: context.cwd().to_owned(),
        zone: TimeZone::try_system().unwrap_or(TimeZone::UTC),
        has_colours: context.output.colour() == Colour::On,
    };
    // A notice about a slow request would be printed into the screen.
    let local = context.local.clone().with_notice(|_| {});
    segue_tui::run(Arc::new(DaemonClient::new(local)), surroundings).await?;
    Ok(CommandEnding::Done)
}
