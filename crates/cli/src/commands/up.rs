//! `segue up`: starts the agents of the project file, or brings them back.

use clap::Args;
use segue_core::Result;
use segue_core::api::UpRequest;

use super::{outcomes, resume, trust};
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};

/// Start the agents of segue.toml, or bring them back
#[derive(Debug, Args)]
#[command(after_help = "Each agent resumes its conversation, or starts if it has none. Agents \
    that run are left alone. Agents that were stopped on purpose are left alone unless they are \
    named or --stopped is given. The exit status is 8 if a conversation is not back.\n\n\
    Examples:\n  segue up\n  segue up coder reviewer\n  segue up --stopped\n  \
    segue up --fleet night")]
pub(crate) struct UpArguments {
    /// Only these agents of the project file
    #[arg(value_name = "AGENT", add = complete::agents())]
    pub(crate) agents: Vec<String>,

    /// The fleet of the sessions [default: the fleet of the project file]
    #[arg(long, visible_alias = "session", value_name = "NAME", add = complete::fleets())]
    pub(crate) fleet: Option<String>,

    /// Start this agent with a new conversation
    #[arg(long, value_name = "AGENT", add = complete::agents())]
    pub(crate) fresh: Vec<String>,

    /// Also agents that were stopped on purpose: with `segue stop`, or by leaving the agent
    #[arg(long)]
    pub(crate) stopped: bool,

    /// The same as `segue resume NAME`
    #[arg(long, value_name = "NAME", conflicts_with_all = ["agents", "fleet"])]
    pub(crate) resume: Option<String>,
}

pub(crate) async fn run(arguments: UpArguments, context: &mut Context) -> Result<CommandEnding> {
    let UpArguments { agents, fleet, fresh, stopped, resume } = arguments;
    if let Some(name) = resume {
        return resume::run(resume::arguments_for(name, fresh, stopped), context).await;
    }
    let of_fleet = fleet.as_ref().map(|fleet| format!(" --fleet {fleet}")).unwrap_or_default();
    let request = UpRequest { caller: context.caller(), agents, fleet, fresh, stopped };
    let client = progress::connect(context).await?;
    let work = AwaitedWork::new("starting agents")
        .showing_changed()
        .after_interrupt("the start of the agents continues", "run `segue ls` to see them");
    let attempt = async || with_progress(context, work.clone(), client.up(&request)).await;
    let report = trust::ask_and_retry(&client, context, context.cwd(), attempt).await?;
    outcomes::show(&report, &format!("up{of_fleet}"), context)
}
