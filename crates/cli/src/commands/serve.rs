//! `segue serve`: accept requests over a network.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use segue_core::Result;
use segue_core::api::{ListenerState, ServeReport, ServeRequest};
use segue_core::model::{ListenSettings, Transport};

use crate::context::{CommandEnding, Context};
use crate::progress;

/// Let programs use Segue over HTTP, with tokens
#[derive(Debug, Args)]
#[command(after_help = "The daemon listens from now on, also after a restart, until `--off`. \
    Every request needs a token: see `segue token create`. Without flags, it only reports where \
    the daemon listens.\n\n\
    Examples:\n  segue serve --listen 127.0.0.1:4747\n  \
    segue serve --listen 0.0.0.0:4747 --tls-cert chain.pem --tls-key key.pem \
    --host agents.example.org\n  \
    segue serve --listen 127.0.0.1:4747 --behind-proxy --host agents.example.org\n  \
    segue serve --off")]
pub(crate) struct ServeArguments {
    /// The address and port; another address than loopback needs TLS or a proxy
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,

    /// A certificate chain as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key", requires = "listen")]
    tls_cert: Option<PathBuf>,

    /// The private key of the certificate as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// A proxy in front of the daemon speaks TLS with the clients
    #[arg(long, conflicts_with = "tls_cert", requires = "listen")]
    behind_proxy: bool,

    /// A name by which clients reach this address; may be repeated
    #[arg(long = "host", value_name = "NAME", requires = "listen")]
    hosts: Vec<String>,

    /// Stop listening
    #[arg(long, conflicts_with = "listen")]
    off: bool,
}

pub(crate) async fn run(arguments: ServeArguments, context: &mut Context) -> Result<CommandEnding> {
    let request = request(arguments, context.local.cwd());
    let client = progress::connect(context).await?;
    let report = client.serve(&request).await?;
    if context.wants_json() {
        context.output.json(&report)?;
        return Ok(CommandEnding::Done);
    }
    context.output.text(&format!("{}\n", sentence(&report)))?;
    match report.state {
        ListenerState::Off => {
            context.output.hint("run `segue serve --listen 127.0.0.1:4747` to switch it on");
        }
        ListenerState::Listening => {
            context.output.hint("run `segue token create --name NAME --scope read` for a token");
        }
        ListenerState::Failed => {
            context.output.hint("run `segue serve --listen ADDRESS` to try again, or `--off`");
        }
    }
    Ok(CommandEnding::Done)
}

/// Returns the request. The daemon has another working folder, so the paths are made absolute.
fn request(arguments: ServeArguments, cwd: &Path) -> ServeRequest {
    let ServeArguments { listen, tls_cert, tls_key, behind_proxy, hosts, off } = arguments;
    let Some(address) = listen else {
        return if off { ServeRequest::Off } else { ServeRequest::Report };
    };
    let transport = match (tls_cert, tls_key) {
        (Some(certificate), Some(key)) => {
            Transport::Tls { certificate: cwd.join(certificate), key: cwd.join(key) }
        }
        _ if behind_proxy => Transport::Proxy,
        _ => Transport::Plain,
    };
    let hosts = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
    ServeRequest::On(ListenSettings { address, transport, hosts })
}

fn sentence(report: &ServeReport) -> String {
    let address = report.address.map(|address| address.to_string()).unwrap_or_default();
    let scheme = match report.transport {
        Some(Transport::Tls { .. }) => "https",
        _ => "http",
    };
    match report.state {
        ListenerState::Off => "the daemon does not listen".to_owned(),
        ListenerState::Listening => format!("the daemon listens on {scheme}://{address}"),
        ListenerState::Failed => {
            let error = report.error.as_deref().unwrap_or_default();
            format!("the daemon should listen on {address}, but cannot: {error}")
        }
    }
}
