//! `segue mcp`: the MCP server on standard input and output.

use clap::Args;
use segue_core::{Error, Result};
use segue_server::client;
use tokio::signal::unix::{SignalKind, signal};

use crate::context::{CommandEnding, Context};

/// Serve the MCP protocol on standard input and output
#[derive(Debug, Args)]
#[command(after_help = "A client starts this command and sends it requests: an agent with \
    `mcp = true` in segue.toml, or any program that knows MCP servers. Inside an agent, it has the \
    rights of that agent's session. It ends when its standard input is closed.\n\n\
    Example:\n  segue run --mcp \"split the work, and start an agent for each part\"")]
pub(crate) struct McpArguments {}

pub(crate) async fn run(context: &Context) -> Result<CommandEnding> {
    let failed = |error| Error::internal("signals cannot be received").caused_by(error);
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    tokio::select! {
        served = client::serve_mcp(&context.local) => served?,
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(CommandEnding::Done)
}
