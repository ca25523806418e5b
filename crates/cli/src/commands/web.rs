//! `segue web`: opens the web page.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};

use clap::Args;
use segue_core::api::{ListenerState, ServeReport, ServeRequest, WebLinkRequest};
use segue_core::model::{ListenSettings, SecretText, TokenScope, Transport};
use segue_core::{Error, Result};
use segue_server::client::Client;
use segue_server::wiring;
use serde::Serialize;

use super::token::ScopeArgument;
use crate::context::{CommandEnding, Context};
use crate::progress;

/// The port of the web page. If other programs have it, the next free one is used.
const PORT: u16 = 4747;

/// So many ports are tried.
const PORTS: u16 = 20;

/// Open the web page: prints a link with which one browser can log in, once
#[derive(Debug, Args)]
#[command(
    after_help = "The link is valid for one minute. The daemon listens on this machine from \
    now on; see `segue serve` for other machines and for switching it off. `segue token ls` lists \
    the browsers that are logged in, and `segue token revoke` logs them out.\n\n\
    Examples:\n  segue web\n  segue web --no-open --scope read\n  \
    segue web --listen 127.0.0.1:8080"
)]
pub(crate) struct WebArguments {
    /// The address and port, if the daemon does not listen yet
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,

    /// Print the link only
    #[arg(long)]
    no_open: bool,

    /// What the browser may do; may be repeated; without it, everything
    #[arg(long = "scope", value_enum, value_name = "SCOPE")]
    scopes: Vec<ScopeArgument>,
}

/// The link, as `--json` prints it.
#[derive(Debug, Serialize)]
struct PrintedLink<'a> {
    url: &'a SecretText,
    expires_at: jiff::Timestamp,
}

pub(crate) async fn run(arguments: WebArguments, context: &mut Context) -> Result<CommandEnding> {
    let WebArguments { listen, no_open, scopes } = arguments;
    let client = progress::connect(context).await?;
    let base = page_url(&client, listen).await?;
    let mut scopes: BTreeSet<TokenScope> = scopes.into_iter().map(TokenScope::from).collect();
    if scopes.is_empty() {
        scopes.insert(TokenScope::Admin);
    }
    let link = client.create_web_link(&WebLinkRequest { scopes }).await?;
    let url = SecretText::new(format!("{base}{}", link.url_path.expose()));
    if context.wants_json() {
        context.output.json(&PrintedLink { url: &url, expires_at: link.expires_at })?;
        return Ok(CommandEnding::Done);
    }
    context.output.text(&format!("{}\n", url.expose()))?;
    if no_open {
        return Ok(CommandEnding::Done);
    }
    match wiring::open_in_browser(&context.local, &url) {
        Ok(true) => {}
        Ok(false) => context.output.hint("open this link in a browser within a minute"),
        Err(error) => context.output.failure_on_stderr(&error),
    }
    Ok(CommandEnding::Done)
}

/// Returns the URL of the page. Makes the daemon listen on this machine if it does not listen.
pub(super) async fn page_url(client: &Client, listen: Option<SocketAddr>) -> Result<String> {
    let report = client.serve(&ServeRequest::Report).await?;
    let report = match (report.state, listen) {
        (_, Some(address)) if report.address != Some(address) => on(client, address).await?,
        (ListenerState::Listening, _) => report,
        (ListenerState::Off, _) => on_free_port(client).await?,
        (ListenerState::Failed, _) => return Err(cannot_listen(&report)),
    };
    report.url.ok_or_else(|| Error::internal("the daemon does not report where it listens"))
}

async fn on_free_port(client: &Client) -> Result<ServeReport> {
    let mut failure = None;
    for port in PORT..PORT + PORTS {
        match on(client, (Ipv4Addr::LOCALHOST, port).into()).await {
            Ok(report) => return Ok(report),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Err(failure.unwrap_or_else(|| Error::internal("no port was tried")))
}

async fn on(client: &Client, address: SocketAddr) -> Result<ServeReport> {
    let settings = ListenSettings { address, transport: Transport::Plain, hosts: Vec::new() };
    client.serve(&ServeRequest::On(settings)).await
}

fn cannot_listen(report: &ServeReport) -> Error {
    let address = report.address.map(|address| address.to_string()).unwrap_or_default();
    let error = Error::unavailable(format!("the daemon should listen on {address}, but cannot"));
    let error = report.error.iter().fold(error, Error::caused_by);
    error.hint("run `segue serve --listen ADDRESS` to listen elsewhere")
}
