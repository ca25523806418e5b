//! `segue acp`: the ACP agent on standard input and output.

use clap::Args;
use segue_core::model::Permission;
use segue_core::{Error, Result};
use segue_server::client::{self, AcpSettings};
use tokio::signal::unix::{SignalKind, signal};

use super::run::PermissionArgument;
use crate::complete;
use crate::context::{CommandEnding, Context};

/// Serve an editor by the Agent Client Protocol on standard input and output
#[derive(Debug, Args)]
#[command(
    after_help = "An editor starts this command and talks to it. Each thread of the editor is a \
    session of Segue: it goes on if the editor ends, `segue attach` opens its terminal, and the \
    editor opens it again by its id `segue://session/ID`.\n\n\
    With --session, a new thread of the editor shows that session.\n\n\
    Examples:\n  segue acp\n  segue acp --vendor demo\n  segue acp --session shop/coder\n\n\
    Example for an editor's settings:\n  \
    {\"agent_servers\": {\"Segue\": {\"command\": \"segue\", \"args\": [\"acp\"]}}}"
)]
pub(crate) struct AcpArguments {
    /// Start new sessions with this agent of segue.toml
    #[arg(long, value_name = "AGENT", conflicts_with = "vendor", add = complete::agents())]
    pub(crate) agent: Option<String>,

    /// Start new sessions with this vendor
    #[arg(long, value_name = "VENDOR", add = complete::vendors())]
    pub(crate) vendor: Option<String>,

    /// Start new sessions with this model, as the vendor names it
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// What new agents may do without asking
    #[arg(long, value_name = "PERMISSION")]
    pub(crate) permission: Option<PermissionArgument>,

    /// Give the editor this session alone
    #[arg(
        long,
        value_name = "SESSION",
        conflicts_with_all = ["agent", "vendor", "model", "permission"],
        add = complete::sessions()
    )]
    pub(crate) session: Option<String>,
}

pub(crate) async fn run(arguments: AcpArguments, context: &Context) -> Result<CommandEnding> {
    let AcpArguments { agent, vendor, model, permission, session } = arguments;
    let permission = permission.map(Permission::from);
    let settings =
        AcpSettings { agent, vendor, model, permission, session, ..AcpSettings::default() };
    let failed = |error| Error::internal("signals cannot be received").caused_by(error);
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    tokio::select! {
        served = client::serve_acp(&context.local, settings) => served?,
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(CommandEnding::Done)
}
