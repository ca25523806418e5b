//! `segue reset`: lets an agent begin anew with an issue.

use clap::Args;
use segue_core::Result;
use segue_core::api::{DroppedParts, ResetRequest};

use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};

/// Let an agent begin anew with an issue: drop its conversation and its worktree
#[derive(Debug, Args)]
#[command(
    after_help = "The tasks about the issue are cancelled. Everything in the worktree is stored \
    in a salvage, and its branch stays. The conversation stays in `segue ls --all`. The next task \
    about the issue begins a new one.\n\n\
    Examples:\n  segue reset --agent coder --repo . --issue 17\n  \
    segue reset --agent coder --repo team/app --issue 17 --interrupt"
)]
pub(crate) struct ResetArguments {
    /// The name of the agent in the project file
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: String,

    /// The repository: a folder, a URL, or the end of a URL
    #[arg(long, value_name = "REPO")]
    pub(crate) repo: String,

    /// The number of the issue
    #[arg(long, value_name = "NUMBER")]
    pub(crate) issue: String,

    /// Only the agent of this fleet
    #[arg(long, value_name = "FLEET")]
    pub(crate) fleet: Option<String>,

    /// End a turn that runs
    #[arg(long)]
    pub(crate) interrupt: bool,
}

pub(crate) async fn run(arguments: ResetArguments, context: &mut Context) -> Result<CommandEnding> {
    let ResetArguments { agent, repo, issue, fleet, interrupt } = arguments;
    let cwd = Some(context.cwd().to_owned());
    let request = ResetRequest { agent, repo, issue, fleet, interrupt, cwd };
    let client = progress::connect(context).await?;
    let work = AwaitedWork::new("dropping the conversation")
        .showing_changed()
        .after_interrupt("the daemon continues", "run the command again to see what is left");
    let report = with_progress(context, work, client.reset(&request)).await?;
    if context.wants_json() {
        context.output.json(&report)?;
    } else {
        context.output.text(&format!("{}\n", sentence(report.dropped)))?;
    }
    Ok(CommandEnding::Done)
}

fn sentence(DroppedParts { worktree, session }: DroppedParts) -> &'static str {
    match (session, worktree) {
        (true, true) => "dropped the conversation and the worktree",
        (true, false) => "dropped the conversation; it had no worktree",
        (false, true) => "dropped the worktree; there was no conversation",
        (false, false) => "there was nothing to drop",
    }
}
