//! What becomes of the sessions that a command is about, read again whenever one has changed.

use std::convert::Infallible;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::api::SessionView;
use segue_server::client::Client;
use tokio::sync::watch;

use crate::context::Context;
use crate::render::sessions::{address, status};

/// Which sessions a command is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum About {
    Nothing,
    /// Those that have changed since the command began.
    Changed,
    /// Sessions by name, address or id, and fleets.
    Named(Vec<String>),
}

/// Sends the states of the sessions whenever they have changed, as long as the daemon can be asked.
pub(super) async fn follow(
    context: &Context,
    about: &About,
    states: watch::Sender<String>,
) -> Infallible {
    if *about != About::Nothing {
        // The command itself reports what is wrong with the daemon.
        let _lost = follow_until_lost(context, about, &states).await;
    }
    std::future::pending().await
}

async fn follow_until_lost(
    context: &Context,
    about: &About,
    states: &watch::Sender<String>,
) -> Result<()> {
    let began = context.surroundings().now;
    // A connection that follows can be asked nothing else.
    let (Some(asked), Some(followed)) = (
        Client::connect_running(&context.local).await?,
        Client::connect_running(&context.local).await?,
    ) else {
        return Ok(());
    };
    let mut events = followed.follow_from_now().await?;
    loop {
        let sessions = asked.sessions().await?.sessions;
        states.send_replace(words(about, &sessions, began));
        match events.next_burst().await {
            Some(burst) => burst?,
            None => return Ok(()),
        }
    }
}

/// Returns the states of the sessions that are meant, those first that hold the command up.
fn words(about: &About, sessions: &[SessionView], began: Timestamp) -> String {
    let mut meant: Vec<&SessionView> =
        sessions.iter().filter(|session| is_meant(about, session, began)).collect();
    meant.sort_by_key(|session| rank(&session.status));
    let words: Vec<String> =
        meant.iter().map(|session| format!("{} {}", address(session), status(session))).collect();
    words.join(", ")
}

fn is_meant(about: &About, session: &SessionView, began: Timestamp) -> bool {
    match about {
        About::Nothing => false,
        About::Changed => session.updated_at >= began,
        About::Named(names) => names.iter().any(|name| {
            let id = session.id.to_string();
            *name == session.name.to_string()
                || *name == session.fleet.to_string()
                || *name == address(session)
                || (name.len() >= 4 && id.starts_with(name.as_str()))
        }),
    }
}

fn rank(status: &str) -> u8 {
    match status {
        "starting" => 0,
        "waiting" => 1,
        "working" => 2,
        _ => 3,
    }
}
