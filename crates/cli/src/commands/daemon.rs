//! `segue daemon`

use clap::{Args, Subcommand};
use segue_core::api::Health;
use segue_core::{Kind, Result};
use segue_server::client::Client;
use serde::Serialize;

use crate::context::{Context, Ending};
use crate::render::time::since;

/// Look after the daemon, which is normally started for you
#[derive(Debug, Args)]
#[command(
    after_help = "Agents go on while the daemon is not there. Without a further word it says the \
    status, and ends with 7 when no daemon runs.\n\n\
    Examples:\n  segue daemon\n  segue daemon stop"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) action: Option<Action>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum Action {
    /// Start it, unless it runs
    Start,
    /// Stop it; agents go on
    Stop,
    /// Say whether it runs
    Status,
    /// Be the daemon, in the foreground
    Run,
}

/// What programs are told about the daemon.
#[derive(Serialize)]
struct Answer<'a> {
    running: bool,
    #[serde(flatten)]
    health: Option<&'a Health>,
}

/// Carries out every action but `run`, which needs a process of its own shape.
pub(crate) async fn run(arguments: &Arguments, context: &mut Context) -> Result<Ending> {
    match arguments.action.unwrap_or(Action::Status) {
        Action::Start | Action::Run => start(context).await,
        Action::Stop => stop(context).await,
        Action::Status => status(context).await,
    }
}

async fn start(context: &mut Context) -> Result<Ending> {
    let client = Client::connect(&context.local).await?;
    show(Some(client.health()), context)?;
    Ok(Ending::Done)
}

async fn stop(context: &mut Context) -> Result<Ending> {
    let running = Client::connect_running(&context.local).await?;
    if let Some(client) = &running {
        client.shut_down().await?;
    }
    if context.wants_json() {
        context.output.json(&Answer { running: false, health: None })?;
    } else {
        let text = if running.is_some() { "stopped\n" } else { "was not running\n" };
        context.output.text(text)?;
    }
    Ok(Ending::Done)
}

async fn status(context: &mut Context) -> Result<Ending> {
    let client = Client::connect_running(&context.local).await?;
    show(client.as_ref().map(Client::health), context)?;
    Ok(if client.is_some() { Ending::Done } else { Ending::Told(Kind::Unavailable) })
}

fn show(health: Option<&Health>, context: &mut Context) -> Result<()> {
    if context.wants_json() {
        return context.output.json(&Answer { running: health.is_some(), health });
    }
    let Some(health) = health else { return context.output.text("not running\n") };
    let age = since(health.started_at, context.surroundings().now);
    let Health { version, pid, .. } = health;
    context.output.text(&format!("running for {age}: process {pid}, version {version}\n"))
}
