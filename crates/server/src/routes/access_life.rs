//! Ends requests that last long when their token is not valid any more.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use segue_core::flows::tokens;
use segue_core::model::{EventKind, Principal, TokenId};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep_until};

use super::App;
use crate::event_feed::FedEvent;
use crate::supervisor::Supervisor;

/// The time for which a request may last.
#[derive(Debug)]
pub(crate) struct AccessLife {
    supervisor: Arc<Supervisor>,
    feed: broadcast::Receiver<Arc<FedEvent>>,
    /// `None` if the request needs no token.
    token: Option<TokenId>,
}

impl AccessLife {
    pub(crate) fn of(app: &App, supervisor: &Arc<Supervisor>, principal: &Principal) -> Self {
        let token = match principal {
            Principal::Token(token) => Some(token.id),
            Principal::User | Principal::Agent(_) => None,
        };
        Self { supervisor: Arc::clone(supervisor), feed: app.events.subscribe(), token }
    }

    /// Waits until the token is revoked or has expired.
    pub(crate) async fn ended(mut self) {
        let Some(token) = self.token else { return pending().await };
        // The end of a token moves when the token is used.
        while let Ok(left) = tokens::time_left(&self.supervisor.ports, token).await {
            self.wait_for_change(left).await;
        }
    }

    /// Waits until a token was revoked, or for a time.
    async fn wait_for_change(&mut self, left: Option<Duration>) {
        let deadline = left.and_then(|left| Instant::now().checked_add(left));
        loop {
            tokio::select! {
                fed = self.feed.recv() => match fed {
                    Ok(event) if event.kind != EventKind::TokenRevoked => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => return,
                    Err(RecvError::Closed) => return pending().await,
                },
                () = until(deadline) => return,
            }
        }
    }
}

/// Waits until a time. Without one, waits forever.
pub(super) async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}
