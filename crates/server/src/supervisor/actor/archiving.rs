//! Copies the session's conversations into the archive. The copies run in the background.

use std::time::Duration;

use segue_core::Result;
use segue_core::flows::archive;
use segue_core::model::VendorSessionId;
use segue_core::rules::archive::{ArchiveFacts, is_due};
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

use super::{Actor, SessionObservation, send_if_alive};
use crate::blocking::failed;

/// How long a start waits for a copy. The copy continues after that.
pub(super) const COPY_TIMEOUT: Duration = Duration::from_secs(5);

/// The state of the copies of this session's conversations.
#[derive(Debug, Default)]
pub(super) struct Archiving {
    /// The state of the session after the last message that the actor handled.
    seen: Option<ArchiveFacts>,
    /// Length of the transcript in bytes when its last change was reported.
    pub(super) length: u64,
    /// Length of the transcript in bytes when the last copy began.
    copied: u64,
    /// The copy that is being made. There is at most one.
    running: Option<JoinHandle<Result<u64>>>,
    /// How many copies were begun.
    round: u64,
    /// Conversations to copy after the current copy.
    waiting: Vec<VendorSessionId>,
    /// Notified when no copy is in progress or queued any more.
    awaiting: Vec<oneshot::Sender<()>>,
}

impl Archiving {
    fn has_copies(&self) -> bool {
        self.running.is_some() || !self.waiting.is_empty()
    }

    /// Returns whether no copy is in progress or queued, and no request waits for one.
    pub(super) fn is_idle(&self) -> bool {
        !self.has_copies() && self.awaiting.is_empty()
    }
}

impl Actor {
    /// Starts a copy if the session has changed enough since the last copy.
    pub(super) fn archive_if_due(&mut self) {
        if self.removed {
            return;
        }
        let current = self.state.vendor_session().cloned();
        let previous = self.archiving.seen.as_ref().and_then(|seen| seen.conversation.clone());
        if previous != current {
            self.archiving.length = 0;
        }
        let now = ArchiveFacts {
            conversation: current.clone(),
            status: self.state.session.status,
            is_open: self.state.open().is_some(),
            length: self.archiving.length,
        };
        let due = is_due(self.archiving.seen.as_ref(), &now, self.archiving.copied);
        self.archiving.seen = Some(now);
        if due {
            // The previous conversation was left for another one, so it is complete now.
            self.archiving
                .waiting
                .extend(previous.filter(|previous| current.as_ref() != Some(previous)));
            self.archive();
        }
    }

    /// Queues a copy of the current conversation, behind the copy in progress. The conversation has
    /// grown, so its usage is counted, too.
    pub(super) fn archive(&mut self) {
        self.count_usage();
        self.archiving.copied = self.archiving.length;
        let current = self.state.vendor_session().filter(|_| self.state.session.has_content);
        self.archiving.waiting.extend(current.cloned());
        self.archive_next();
    }

    fn archive_next(&mut self) {
        if self.archiving.running.is_some() || self.archiving.waiting.is_empty() {
            return;
        }
        let mut ids = std::mem::take(&mut self.archiving.waiting);
        ids.dedup();
        self.archiving.round += 1;
        let (inbox, round) = (self.inbox.clone(), self.archiving.round);
        let (ports, session) = (self.ports.clone(), self.state.session.clone());
        self.archiving.running = Some(tokio::task::spawn_blocking(move || {
            let copied_bytes = ids.iter().map(|id| archive::copy(&ports, &session, id)).sum();
            send_if_alive(&inbox, SessionObservation::Archived { round });
            copied_bytes
        }));
    }

    /// Handles a finished copy: starts the next one, and makes room if the archive is too large.
    pub(super) async fn archived(&mut self, round: u64) {
        if self.archiving.round != round {
            return;
        }
        // The copy has reported its end, so this does not wait.
        if let Some(running) = self.archiving.running.take() {
            self.handle_copied(running.await);
        }
        self.archive_next();
        if !self.archiving.has_copies() {
            for awaiting in self.archiving.awaiting.drain(..) {
                // The caller may have stopped waiting.
                let _gone = awaiting.send(());
            }
        }
    }

    /// Returns a wait for the end of all copies that are in progress or queued.
    pub(super) fn copies_made(&mut self) -> oneshot::Receiver<()> {
        let (made, wait) = oneshot::channel();
        match self.archiving.has_copies() {
            true => self.archiving.awaiting.push(made),
            false => drop(made.send(())),
        }
        wait
    }

    fn handle_copied(&self, copied_bytes: Result<Result<u64>, JoinError>) {
        match copied_bytes.map_err(failed).flatten() {
            Ok(0) => {}
            Ok(_) => self.supervisor.make_room_in_archive(),
            Err(error) => {
                let session = self.state.session.address();
                tracing::warn!(%session, %error, "the conversation could not be archived");
            }
        }
    }
}
