//! `segue scale`: changes how many agents of one kind run.

use clap::Args;
use segue_core::Result;
use segue_core::api::{RestoreReport, ScaleReport, ScaleRequest};

use super::{outcomes, trust};
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};

/// Change how many agents of one kind run, without editing segue.toml
#[derive(Debug, Args)]
#[command(
    after_help = "Missing agents are brought back or started. If too many run, those with the \
    highest numbers are stopped, and their conversations stay. `segue up` and `segue resume` use \
    the recorded number from then on.\n\n\
    Examples:\n  segue scale coder 3\n  segue scale coder 0 --json"
)]
pub(crate) struct ScaleArguments {
    /// The name of the agent in the project file
    #[arg(value_name = "AGENT", add = complete::agents())]
    pub(crate) agent: String,

    /// The number of agents; 0 stops all of them
    #[arg(value_name = "N")]
    pub(crate) count: u32,

    /// The fleet of the sessions [default: the fleet of the project file]
    #[arg(long, visible_alias = "session", value_name = "NAME", add = complete::fleets())]
    pub(crate) fleet: Option<String>,
}

pub(crate) async fn run(arguments: ScaleArguments, context: &mut Context) -> Result<CommandEnding> {
    let ScaleArguments { agent, count, fleet } = arguments;
    let request = ScaleRequest { caller: context.caller(), agent, count, fleet };
    let client = progress::connect(context).await?;
    let work = AwaitedWork::new("starting and stopping agents").showing_changed().after_interrupt(
        "the daemon continues to start and stop agents",
        "run `segue ls` to see them",
    );
    let attempt = async || with_progress(context, work.clone(), client.scale(&request)).await;
    let report = trust::ask_and_retry(&client, context, context.cwd(), attempt).await?;
    if context.wants_json() {
        context.output.json(&report)?;
        return Ok(outcomes::ending(report.complete));
    }
    let ScaleReport { agents, stopped, left_alone, complete } = report;
    for session in &stopped {
        context.output.note(&format!("stopped {}", session.of.address));
    }
    if agents.is_empty() && left_alone.is_empty() {
        context.output.note(&format!("no agent `{}` runs or is left to start", request.agent));
        return Ok(CommandEnding::Done);
    }
    let (surplus, failed) = (Vec::new(), Vec::new());
    outcomes::show(&RestoreReport { agents, left_alone, surplus, complete, failed }, "up", context)
}
