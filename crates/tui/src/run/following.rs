//! Follows the events of the daemon, and waits for the next daemon if it ends.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use segue_core::model::{Event, EventPayload, SessionId};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::timeout;

use super::LoopEvent;
use crate::api::{DaemonApi, DaemonEvents};
use crate::update::UiMessage;

/// Starts to follow. Ends when the loop has ended.
pub(super) fn start(
    api: Arc<dyn DaemonApi>,
    events: Box<dyn DaemonEvents>,
    sender: UnboundedSender<LoopEvent>,
) {
    tokio::spawn(async move {
        let mut events = events;
        loop {
            report_bursts(events.as_mut(), &sender).await;
            if send(&sender, UiMessage::DaemonGone).is_err() {
                return;
            }
            events = match next_daemon(api.as_ref()).await {
                Ok(events) => events,
                Err(error) => {
                    // Without a receiver, the loop has ended.
                    let _ended = send(&sender, UiMessage::Done(Err(error)));
                    return;
                }
            };
            if send(&sender, UiMessage::DaemonBack).is_err() {
                return;
            }
        }
    });
}

/// Waits for a daemon. A daemon that ends at once is waited for again.
async fn next_daemon(api: &dyn DaemonApi) -> segue_core::Result<Box<dyn DaemonEvents>> {
    loop {
        api.daemon_runs().await?;
        if let Ok(events) = api.events().await {
            return Ok(events);
        }
    }
}

/// Reports events until the daemon ends. Events that arrive together are one report.
async fn report_bursts(events: &mut dyn DaemonEvents, sender: &UnboundedSender<LoopEvent>) {
    while let Some(Ok(event)) = events.next().await {
        let mut burst = EventBurst::default();
        burst.add(&event);
        while let Ok(next) = timeout(Duration::ZERO, events.next()).await {
            match next {
                Some(Ok(event)) => burst.add(&event),
                Some(Err(_)) | None => break,
            }
        }
        if send(sender, burst.message()).is_err() {
            return;
        }
    }
}

fn send(sender: &UnboundedSender<LoopEvent>, message: UiMessage) -> Result<(), ()> {
    sender.send(LoopEvent::Message(Box::new(message))).map_err(drop)
}

#[derive(Default)]
struct EventBurst {
    sessions: BTreeSet<SessionId>,
    is_about_work: bool,
}

impl EventBurst {
    fn add(&mut self, event: &Event) {
        self.sessions.extend(event.fact.session);
        self.is_about_work |= matches!(
            event.fact.payload,
            EventPayload::TaskChanged { .. }
                | EventPayload::PlanApplied { .. }
                | EventPayload::PlanChanged { .. }
                | EventPayload::PlanGateReached { .. }
                | EventPayload::PlanGateApproved { .. }
                | EventPayload::WorktreeMade(_)
                | EventPayload::WorktreeRemoved(_)
        );
    }

    fn message(self) -> UiMessage {
        UiMessage::Changed { sessions: self.sessions, is_about_work: self.is_about_work }
    }
}
