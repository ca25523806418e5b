//! `segue share`: a link that shows one session to other people.

use clap::Args;
use jiff::SignedDuration;
use segue_core::api::ShareCreateRequest;
use segue_core::model::SecretText;
use segue_core::{Error, Result};
use serde::Serialize;

use super::{duration, web};
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress;

/// Print a link that shows one session to other people, read-only
#[derive(Debug, Args)]
#[command(
    after_help = "Everybody who has the link can read the session's conversation and events \
    and watch its terminal, until the link expires or is revoked. They can do nothing else. They \
    must be able to reach the address of `segue serve`.\n\n\
    Examples:\n  segue share coder\n  segue share shop/coder --expires 2h\n  \
    segue token revoke share-1a2b3c4d"
)]
pub(crate) struct ShareArguments {
    /// The session
    #[arg(value_name = "SESSION", add = complete::sessions())]
    session: String,

    /// When the link expires, such as 2h or 7d; at most 30d
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "1d")]
    expires: SignedDuration,
}

/// The link, as `--json` prints it.
#[derive(Debug, Serialize)]
struct PrintedShare<'a> {
    url: &'a SecretText,
    name: &'a str,
    expires_at: Option<jiff::Timestamp>,
}

pub(crate) async fn run(arguments: ShareArguments, context: &mut Context) -> Result<CommandEnding> {
    let ShareArguments { session, expires } = arguments;
    let too_long = |_| Error::usage("`--expires` is too long").hint("use at most `30d`");
    let expires_in_seconds = u32::try_from(expires.as_secs()).map_err(too_long)?;
    let client = progress::connect(context).await?;
    // The daemon does not know the folder of this command.
    let found = client.session(&session, context.cwd()).await?;
    let base = web::page_url(&client, None).await?;
    let request = ShareCreateRequest { session: found.id.to_string(), expires_in_seconds };
    let share = client.create_share(&request).await?;
    let url = SecretText::new(format!("{base}{}", share.url_path.expose()));
    let name = share.view.name.as_str();
    if context.wants_json() {
        let expires_at = share.view.expires_at;
        context.output.json(&PrintedShare { url: &url, name, expires_at })?;
        return Ok(CommandEnding::Done);
    }
    context.output.text(&format!("{}\n", url.expose()))?;
    context.output.hint(&format!("run `segue token revoke {name}` to revoke the link"));
    Ok(CommandEnding::Done)
}
