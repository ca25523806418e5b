//! `segue token`: tokens for programs that use Segue over HTTP, logins of browsers, and links.

use std::collections::BTreeSet;

use clap::{Args, Subcommand, ValueEnum};
use jiff::SignedDuration;
use segue_core::api::{TokenCreateRequest, TokenRevokeRequest, TokenView};
use segue_core::model::TokenScope;
use segue_core::{Error, Result};

use super::duration;
use crate::context::{CommandEnding, Context};
use crate::progress;
use crate::render::style::TextTone;
use crate::render::table::{TableCell, TextTable};
use crate::render::time::age;

/// Create, list or revoke tokens for HTTP
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  segue token create --name dashboard --scope read\n  \
    segue token ls\n  segue token revoke dashboard")]
pub(crate) struct TokenArguments {
    #[command(subcommand)]
    action: TokenAction,
}

#[derive(Debug, Subcommand)]
enum TokenAction {
    Create(TokenCreateArguments),
    Ls(TokenLsArguments),
    Revoke(TokenRevokeArguments),
}

/// Create a token and print it once
#[derive(Debug, Args)]
#[command(after_help = "Segue stores only a digest of the token, so it cannot be shown again.\n\n\
    Scopes:\n  \
    read   list sessions and tasks, read conversations, events and usage\n  \
    send   send messages and answer questions\n  \
    work   start, resume, stop and hand over agents; tasks and worktrees\n  \
    admin  everything that you may do\n\n\
    Examples:\n  segue token create --name dashboard --scope read\n  \
    segue token create --name ci --scope read --scope work --expires 90d")]
struct TokenCreateArguments {
    /// A name for the token
    #[arg(long)]
    name: String,

    /// What the token allows; may be repeated
    #[arg(long = "scope", value_enum, value_name = "SCOPE", required = true)]
    scopes: Vec<ScopeArgument>,

    /// When the token expires, such as 12h or 90d; without it, never
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    expires: Option<SignedDuration>,
}

/// List the tokens, browsers that are logged in and links to sessions
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  segue token ls\n  segue token ls --json")]
struct TokenLsArguments {}

/// Revoke tokens: requests with them are refused from now on
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  segue token revoke ci")]
struct TokenRevokeArguments {
    /// The names of the tokens
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
}

/// The words for [`TokenScope`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ScopeArgument {
    Read,
    Send,
    Work,
    Admin,
}

impl From<ScopeArgument> for TokenScope {
    fn from(argument: ScopeArgument) -> Self {
        match argument {
            ScopeArgument::Read => Self::Read,
            ScopeArgument::Send => Self::Send,
            ScopeArgument::Work => Self::Work,
            ScopeArgument::Admin => Self::Admin,
        }
    }
}

pub(crate) async fn run(arguments: TokenArguments, context: &mut Context) -> Result<CommandEnding> {
    match arguments.action {
        TokenAction::Create(arguments) => create(arguments, context).await,
        TokenAction::Ls(_) => list(context).await,
        TokenAction::Revoke(arguments) => revoke(&arguments, context).await,
    }
}

async fn create(arguments: TokenCreateArguments, context: &mut Context) -> Result<CommandEnding> {
    let TokenCreateArguments { name, scopes, expires } = arguments;
    let too_long = |error| {
        Error::usage("`--expires` is too long").caused_by(error).hint("leave it out for never")
    };
    let now = context.display().now;
    let expires_at = expires.map(|age| now.checked_add(age)).transpose().map_err(too_long)?;
    let scopes: BTreeSet<TokenScope> = scopes.into_iter().map(TokenScope::from).collect();
    let client = progress::connect(context).await?;
    let request = TokenCreateRequest { name, scopes, expires_at };
    let created = client.create_token(&request).await?;
    if context.wants_json() {
        context.output.json(&created)?;
        return Ok(CommandEnding::Done);
    }
    context.output.text(&format!("{}\n", created.token.expose()))?;
    context.output.note("this is the only time that the token is shown");
    Ok(CommandEnding::Done)
}

async fn list(context: &mut Context) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let list = client.tokens().await?;
    if context.wants_json() {
        context.output.json(&list)?;
        return Ok(CommandEnding::Done);
    }
    let now = context.display().now;
    let mut table = TextTable::new(&["NAME", "KIND", "SCOPES", "CREATED", "USED", "EXPIRES"]);
    for token in &list.tokens {
        table.row(row(token, now));
    }
    context.output.table(&table)?;
    if list.tokens.is_empty() {
        context.output.note("there is no token");
        context.output.hint("run `segue token create --name NAME --scope read` to create one");
    }
    Ok(CommandEnding::Done)
}

fn row(token: &TokenView, now: jiff::Timestamp) -> [TableCell<'_>; 6] {
    let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.word()).collect();
    let ago = |time| format!("{} ago", age(time, now));
    let expires = match token.expires_at {
        None => "never".to_owned(),
        Some(end) if end <= now => "expired".to_owned(),
        Some(end) => format!("in {}", age(now, end)),
    };
    [
        TableCell::toned(&token.name, TextTone::Strong),
        TableCell::new(token.kind.word()),
        TableCell::new(scopes.join(" ")),
        TableCell::new(ago(token.created_at)),
        TableCell::new(token.last_used_at.map_or_else(|| "never".to_owned(), ago)),
        TableCell::new(expires),
    ]
}

async fn revoke(arguments: &TokenRevokeArguments, context: &mut Context) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    for name in &arguments.names {
        let revoked = client.revoke_token(&TokenRevokeRequest { name: name.clone() }).await?;
        if context.wants_json() {
            context.output.json(&revoked)?;
        } else {
            context.output.text(&format!("revoked `{name}`\n"))?;
        }
    }
    Ok(CommandEnding::Done)
}
