//! Copying what is said into the archive, beside everything else that the actor does.

use std::time::Duration;

use segue_core::flows::archive;
use segue_core::model::VendorSessionId;
use segue_core::ports::{Change, Commit};
use segue_core::rules::archive::{Sight, is_due};
use segue_core::{Error, Result};
use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;

use super::{Actor, Message};

/// How long somebody waits for a copy; it goes on without them.
const PATIENCE: Duration = Duration::from_secs(5);

/// What an actor knows about the copies of its conversations.
#[derive(Debug, Default)]
pub(super) struct Archiving {
    /// What was seen after the last message.
    seen: Option<Sight>,
    /// How much the transcript has, as far as the kernel told.
    pub(super) length: u64,
    /// How much it had when it was copied last.
    copied: u64,
    /// One copy at a time is made.
    running: Option<JoinHandle<Result<u64>>>,
    /// How many were begun.
    round: u64,
    /// Conversations that something was said in since.
    waiting: Vec<VendorSessionId>,
}

impl Actor {
    /// Begins to copy if what has just happened is a reason to.
    pub(super) fn archive_if_due(&mut self) {
        if self.removed {
            return;
        }
        let current = self.state.vendor_session().cloned();
        let left = self.archiving.seen.as_ref().and_then(|seen| seen.conversation.clone());
        if left != current {
            self.archiving.length = 0;
        }
        let now = Sight {
            conversation: current.clone(),
            status: self.state.session.status,
            lives: self.state.open().is_some(),
            length: self.archiving.length,
        };
        let due = is_due(self.archiving.seen.as_ref(), &now, self.archiving.copied);
        self.archiving.seen = Some(now);
        if due {
            // The one that was left for another one has its end now.
            self.archiving.waiting.extend(left.filter(|left| current.as_ref() != Some(left)));
            self.archive();
        }
    }

    /// Has the conversation copied, after what is being copied now.
    pub(super) fn archive(&mut self) {
        self.archiving.copied = self.archiving.length;
        let current = self.state.vendor_session().filter(|_| self.state.session.spoke);
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
        let (own, round) = (self.own.clone(), self.archiving.round);
        let (ports, session) = (self.ports.clone(), self.state.session.clone());
        self.archiving.running = Some(tokio::task::spawn_blocking(move || {
            let kept = ids.iter().map(|id| archive::keep(&ports, &session, id)).sum();
            if let Some(inbox) = own.upgrade() {
                // The session may be gone by now.
                let _gone = inbox.send(Message::Archived { round });
            }
            kept
        }));
    }

    /// A copy was made: there may be another one to make, or too many of them.
    pub(super) async fn archived(&mut self, round: u64) {
        // Somebody may have waited for it already.
        if self.archiving.round == round {
            self.archive_settled().await;
        }
    }

    /// Waits until everything that was to be copied is.
    pub(super) async fn archive_settled(&mut self) {
        while let Some(running) = self.archiving.running.take() {
            let kept = running.await;
            self.note_kept(kept);
            self.archive_next();
        }
    }

    /// Copies the conversation, and returns when that is done, or takes long.
    pub(super) async fn archive_now(&mut self) {
        self.archive();
        while let Some(running) = &mut self.archiving.running {
            let Ok(kept) = timeout(PATIENCE, running).await else { return };
            self.archiving.running = None;
            self.note_kept(kept);
            self.archive_next();
        }
    }

    /// Remembers whether the session's conversations are to be copied from now on.
    pub(super) async fn set_archive(&mut self, archive: bool) -> Result<()> {
        if self.state.session.archive == archive {
            return Ok(());
        }
        let change = Change::SetArchive { session: self.id(), archive };
        let commit = Commit { changes: vec![change], events: Vec::new() };
        self.state.commit(&self.ports, commit).await?;
        self.archive();
        Ok(())
    }

    fn note_kept(&self, kept: Result<Result<u64>, JoinError>) {
        let failed = |error| Error::internal("a task failed").caused_by(error);
        match kept.map_err(failed).flatten() {
            Ok(0) => {}
            Ok(_) => self.supervisor.make_room_in_archive(),
            Err(error) => {
                let session = self.state.session.address();
                tracing::warn!(%session, %error, "what was said could not be archived");
            }
        }
    }
}
