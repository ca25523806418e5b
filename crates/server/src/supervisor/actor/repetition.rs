//! Notices that the work of the session repeats itself. The end of the transcript is read in the
//! background when it has changed; the actor records what was found.

use segue_core::Result;
use segue_core::flows::repetition;
use segue_core::ports::Commit;
use segue_core::rules::repetition::RepeatedCalls;

use super::{Actor, MessageAuthor, SessionObservation, send_if_alive};
use crate::blocking::blocking;
use crate::project;

/// The state of the reading for repeated tool calls.
#[derive(Debug, Default)]
pub(super) struct RepetitionWatch {
    is_reading: bool,
    /// The transcript may have grown since the current reading began.
    is_due_again: bool,
}

impl Actor {
    /// Reads the end of the transcript for repeated tool calls, after the current reading.
    pub(super) fn look_for_repetition(&mut self) {
        let Some(conversation) = self.state.vendor_session().cloned() else { return };
        if !repetition::expects_calls(self.state.session.status) {
            return;
        }
        if self.repetition_watch.is_reading {
            self.repetition_watch.is_due_again = true;
            return;
        }
        let limits = project::repetition_limits(self.supervisor.config_file());
        let Some(limit) = limits.tool_calls else { return };
        self.repetition_watch = RepetitionWatch { is_reading: true, is_due_again: false };
        let (inbox, ports) = (self.inbox.clone(), self.ports.clone());
        let session = self.state.session.clone();
        tokio::spawn(async move {
            let read = move || repetition::read_calls(&ports, &session, &conversation, limit);
            let found = blocking(read).await;
            send_if_alive(&inbox, SessionObservation::CallsRead { found });
        });
    }

    /// Records which tool calls repeat, and reads again if the transcript has grown.
    pub(super) async fn calls_read(&mut self, found: Result<Option<RepeatedCalls>>) -> Result<()> {
        self.repetition_watch.is_reading = false;
        let recorded = match found {
            Ok(found) => repetition::record_calls(&self.ports, &mut self.state, found).await,
            // A transcript that cannot be read now is read again after its next change.
            Err(error) => {
                let session = self.state.session.address();
                tracing::debug!(%session, %error, "the transcript cannot be read for repetitions");
                Ok(())
            }
        };
        if self.repetition_watch.is_due_again {
            self.look_for_repetition();
        }
        recorded
    }

    /// Records that the work no longer repeats itself if its turn is over.
    pub(super) async fn end_repetition_if_over(&mut self) {
        if let Err(error) = repetition::end_if_over(&self.ports, &mut self.state).await {
            let session = self.state.session.address();
            tracing::warn!(%session, %error, "the end of a repetition could not be recorded");
        }
    }

    /// Returns what is recorded together with a message: a person has acted, or messages go back and
    /// forth between two agents.
    pub(super) async fn with_repetition(
        &self,
        author: MessageAuthor,
        mut same_commit: Commit,
    ) -> Result<Commit> {
        let found = match author {
            MessageAuthor::Segue => Commit::default(),
            MessageAuthor::Person => repetition::seen_by_person(&self.ports, &self.state),
            MessageAuthor::Agent(sender) => {
                let limits = project::repetition_limits(self.supervisor.config_file());
                repetition::exchange(&self.ports, &self.state, sender, limits.messages).await?
            }
        };
        same_commit.changes.extend(found.changes);
        same_commit.events.extend(found.events);
        Ok(same_commit)
    }
}
