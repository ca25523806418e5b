//! `segue daemon`: starts the daemon, stops it, and shows its status.

use clap::{Args, Subcommand};
use jiff::Timestamp;
use segue_core::api::Health;
use segue_core::{Kind, Result};
use segue_server::resident::{self, DaemonEnd, Presence};
use serde::Serialize;

use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};
use crate::render::time::age;

/// Start, stop and show the daemon; commands start it by themselves
#[derive(Debug, Args)]
#[command(
    after_help = "Agents keep running without the daemon. Without a subcommand, it prints the \
    status; the exit status is 7 if no daemon runs or if it is stopping.\n\n\
    Examples:\n  segue daemon\n  segue daemon stop\n  segue daemon stop --force"
)]
pub(crate) struct DaemonArguments {
    #[command(subcommand)]
    pub(crate) action: Option<DaemonAction>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum DaemonAction {
    /// Start the daemon, unless it runs
    Start,
    /// Stop the daemon; agents keep running
    Stop(DaemonStopArguments),
    /// Print whether the daemon runs
    Status,
    /// Run the daemon in the foreground
    Run,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub(crate) struct DaemonStopArguments {
    /// Kill the daemon if it does not answer; agents keep running
    #[arg(long)]
    pub(crate) force: bool,
}

/// The status of the daemon as `--json` prints it.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct DaemonAnswer<'a> {
    /// Whether the daemon accepts requests.
    running: bool,
    /// Whether the daemon was asked to stop and its process still exists.
    stopping: bool,
    pid: Option<u32>,
    /// `None` unless the daemon accepts requests. The same holds for the following fields.
    version: Option<&'a str>,
    protocol: Option<u32>,
    started_at: Option<Timestamp>,
}

/// Runs every action except `run`. `main` handles `run` itself, because that process becomes the
/// daemon.
pub(crate) async fn run(
    arguments: &DaemonArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    match arguments.action.unwrap_or(DaemonAction::Status) {
        DaemonAction::Start | DaemonAction::Run => start(context).await,
        DaemonAction::Stop(DaemonStopArguments { force }) => stop(force, context).await,
        DaemonAction::Status => status(context).await,
    }
}

async fn start(context: &mut Context) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    show(&Presence::Running(client), context)?;
    Ok(CommandEnding::Done)
}

async fn stop(force: bool, context: &mut Context) -> Result<CommandEnding> {
    let work = AwaitedWork::new("waiting for the end of the daemon");
    let work =
        work.after_interrupt("the daemon is still stopping", "run `segue daemon status` to see");
    let ended = match force {
        false => with_progress(context, work, resident::stop(&context.local)).await?,
        true => with_progress(context, work, resident::kill(&context.local)).await?,
    };
    if context.wants_json() {
        context.output.json(&answer(&Presence::Absent))?;
    } else {
        context.output.text(match ended {
            DaemonEnd::WasNotRunning => "was not running\n",
            DaemonEnd::Stopped => "stopped\n",
            DaemonEnd::Killed => "killed; agents go on\n",
        })?;
    }
    Ok(CommandEnding::Done)
}

async fn status(context: &mut Context) -> Result<CommandEnding> {
    let presence = Presence::find(&context.local).await?;
    show(&presence, context)?;
    Ok(match presence {
        Presence::Running(_) => CommandEnding::Done,
        Presence::Stopping { .. } | Presence::Absent => CommandEnding::Reported(Kind::Unavailable),
    })
}

fn show(presence: &Presence, context: &mut Context) -> Result<()> {
    if context.wants_json() {
        return context.output.json(&answer(presence));
    }
    let text = match presence {
        Presence::Absent => "not running\n".to_owned(),
        Presence::Stopping { pid } => format!("stopping, pid {pid}\n"),
        Presence::Running(client) => {
            let Health { version, pid, started_at, .. } = client.health();
            let age = age(*started_at, context.display().now);
            format!("running for {age}: process {pid}, version {version}\n")
        }
    };
    context.output.text(&text)
}

fn answer(presence: &Presence) -> DaemonAnswer<'_> {
    let absent = DaemonAnswer {
        running: false,
        stopping: false,
        pid: None,
        version: None,
        protocol: None,
        started_at: None,
    };
    match presence {
        Presence::Absent => absent,
        Presence::Stopping { pid } => DaemonAnswer { stopping: true, pid: Some(*pid), ..absent },
        Presence::Running(client) => {
            let Health { version, pid, started_at, protocol, .. } = client.health();
            DaemonAnswer {
                running: true,
                stopping: false,
                pid: Some(*pid),
                version: Some(version),
                protocol: Some(*protocol),
                started_at: Some(*started_at),
            }
        }
    }
}
