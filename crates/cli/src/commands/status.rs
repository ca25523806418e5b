//! `segue status`: prints the sessions of this folder and what to do next.

use clap::Args;
use segue_core::Result;

use super::overview;
use crate::context::{CommandEnding, Context};

/// Print the sessions of this folder, and what to do next
#[derive(Debug, Args)]
#[command(
    after_help = "`segue` without a command prints the same if its output is not a terminal. On a \
    terminal, it opens the screen.\n\nExamples:\n  segue status\n  segue status --json"
)]
pub(crate) struct StatusArguments {}

pub(crate) async fn run(context: &mut Context) -> Result<CommandEnding> {
    overview::run(context).await
}
