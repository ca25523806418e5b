//! The statuses of the sessions that a command waits for, and the commands that run in their
//! worktrees. They are read again whenever something has changed.

use std::convert::Infallible;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::api::SessionView;
use segue_core::model::{Event, EventPayload, StatusKind};
use segue_core::ports::EventQuery;
use segue_server::client::Client;
use tokio::sync::watch;

use crate::context::Context;
use crate::render::sessions::{address, status};

/// The sessions whose status the progress line shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProgressSubject {
    Nothing,
    /// The sessions that have changed since the command began.
    Changed,
    /// Sessions by name, address, or at least four characters of the id; and fleets by name.
    Named(Vec<String>),
}

/// The running command of a worktree is searched in this many newest events.
const NEWEST_EVENTS: u32 = 100;

/// Sends the statuses of the sessions whenever a session has changed, until the connection to the
/// daemon is lost. Never returns.
pub(super) async fn follow(
    context: &Context,
    about: &ProgressSubject,
    states: watch::Sender<String>,
) -> Infallible {
    if *about != ProgressSubject::Nothing {
        // Ignores the error, because the command's own request reports what is wrong with the
        // daemon.
        let _lost = follow_until_lost(context, about, &states).await;
    }
    std::future::pending().await
}

async fn follow_until_lost(
    context: &Context,
    about: &ProgressSubject,
    states: &watch::Sender<String>,
) -> Result<()> {
    let began = context.display().now;
    // A connection that streams events cannot carry other requests.
    let (Some(asked), Some(followed)) = (
        Client::connect_running(&context.local).await?,
        Client::connect_running(&context.local).await?,
    ) else {
        return Ok(());
    };
    let mut events = followed.follow_from_now().await?;
    loop {
        let sessions = asked.sessions().await?.sessions;
        let mut texts = words(about, &sessions, began);
        if *about == ProgressSubject::Changed {
            let newest = EventQuery { limit: NEWEST_EVENTS, newest: true, ..EventQuery::default() };
            texts.extend(running_command(&asked.events(&newest).await?, began));
        }
        states.send_replace(texts.join(", "));
        match events.next_burst().await {
            Some(burst) => burst?,
            None => return Ok(()),
        }
    }
}

/// Returns the selected sessions with their statuses as text. The sessions that the command
/// probably waits for come first, because the line can be cut at its end.
fn words(about: &ProgressSubject, sessions: &[SessionView], began: Timestamp) -> Vec<String> {
    let mut meant: Vec<&SessionView> =
        sessions.iter().filter(|session| is_about(about, session, began)).collect();
    meant.sort_by_key(|session| rank(session.status.known()));
    meant.iter().map(|session| format!("{} {}", address(session), status(session))).collect()
}

/// Returns the command of a worktree that was started last, unless it has ended.
fn running_command(events: &[Event], began: Timestamp) -> Option<String> {
    let recent = events.iter().rev().map(|event| &event.fact).filter(|fact| fact.at >= began);
    let last = recent.map(|fact| &fact.payload).find_map(|payload| match payload {
        EventPayload::WorktreeCommand(command) => Some((payload, command)),
        _ => None,
    });
    last.filter(|(_, command)| command.ending.is_none()).map(|(payload, _)| payload.to_string())
}

fn is_about(about: &ProgressSubject, session: &SessionView, began: Timestamp) -> bool {
    match about {
        ProgressSubject::Nothing => false,
        ProgressSubject::Changed => session.updated_at >= began,
        ProgressSubject::Named(names) => names.iter().any(|name| {
            let id = session.id.to_string();
            *name == session.name.to_string()
                || *name == session.fleet.to_string()
                || *name == address(session)
                || (name.len() >= 4 && id.starts_with(name.as_str()))
        }),
    }
}

fn rank(status: Option<StatusKind>) -> u8 {
    match status {
        Some(StatusKind::Starting) => 0,
        Some(StatusKind::Waiting) => 1,
        Some(StatusKind::Working) => 2,
        Some(StatusKind::Idle | StatusKind::Interrupted | StatusKind::Ended | StatusKind::Lost)
        | None => 3,
    }
}
