//! Types messages: pastes the text, waits until the agent has drawn it, and presses Enter.
//!
//! The order of the steps, and where each of them begins:
//!
//! | step | begins in |
//! |---|---|
//! | [`TypingStage::Pasting`]: the text is queued as input | [`Holder::type_message`] |
//! | [`TypingStage::Drawing`]: the agent has read the text | [`Holder::input_was_read`] |
//! | [`TypingStage::Sending`]: Enter is queued as input | [`Holder::continue_typing`], when due |
//! | [`TypingStage::Sent`]: the agent has read Enter | [`Holder::input_was_read`] |
//! | other input that arrived meanwhile is queued | [`Holder::continue_typing`], when due |
//!
//! The event loop (`serve.rs`) writes queued input to the agent, calls `input_was_read` after each
//! write, and calls `continue_typing` at the time that [`MessageTyping::due`] returns.

use std::collections::BTreeSet;
use std::time::Duration;

use segue_core::model::MessageId;
use segue_core::{Error, Result, failpoint};
use tokio::time::Instant;

use super::Holder;
use super::requests::headless;
use super::screen_changes::QUIET;
use super::serve::MAX_INPUT_BYTES;
use crate::hold::descriptors::read_now;
use crate::hold::terminal::{VirtualTerminal, keystrokes};
use crate::hold::wire::TypingOutcome;

/// The minimum time between the text and Enter. An agent that reads both at once takes Enter for
/// text.
const MIN_WAIT: Duration = Duration::from_millis(100);
/// The maximum time between the text and Enter, even if the agent draws nothing or never stops
/// drawing.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// The messages that were typed, and the one that is being typed.
#[derive(Debug, Default)]
pub(super) struct MessageTyping {
    /// Every message that this holder has begun to type. No message is typed twice.
    begun: BTreeSet<MessageId>,
    job: Option<Job>,
    /// When a user last pressed a key. The agent needs some time to draw it.
    last_key: Option<Instant>,
}

/// A message that is being typed.
#[derive(Debug)]
struct Job {
    stage: TypingStage,
    /// Other input that arrived meanwhile. It must not get into the message.
    held: Vec<u8>,
}

/// The progress of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TypingStage {
    /// The agent has not read all of the text yet.
    Pasting,
    /// The agent has read the text at `since`, and draws it.
    Drawing { since: Instant, drew: Option<Instant> },
    /// The agent has not read Enter yet.
    Sending,
    /// The agent has read Enter.
    Sent { since: Instant },
}

impl TypingStage {
    /// Returns when the next stage begins. `None` if that depends on the agent alone.
    fn due(self) -> Option<Instant> {
        match self {
            Self::Pasting | Self::Sending => None,
            Self::Drawing { since, drew: None } => Some(since + MAX_WAIT),
            Self::Drawing { since, drew: Some(drew) } => {
                Some((drew + QUIET).max(since + MIN_WAIT).min(since + MAX_WAIT))
            }
            Self::Sent { since } => Some(since + MIN_WAIT),
        }
    }

    /// Returns the stage after the agent has read all of its input.
    fn after_input(self, now: Instant) -> Self {
        match self {
            Self::Pasting => Self::Drawing { since: now, drew: None },
            Self::Sending => Self::Sent { since: now },
            Self::Drawing { .. } | Self::Sent { .. } => self,
        }
    }
}

impl MessageTyping {
    pub(super) fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// Returns when the next action is due. `None` if there is nothing to wait for.
    pub(super) fn due(&self) -> Option<Instant> {
        self.job.as_ref().and_then(|job| job.stage.due())
    }

    /// Records that the agent has drawn.
    pub(super) fn drew(&mut self, now: Instant) {
        if let Some(Job { stage: TypingStage::Drawing { drew, .. }, .. }) = &mut self.job {
            *drew = Some(now);
        }
    }

    /// Drops the message that is being typed, because the agent does not read it any more.
    pub(super) fn give_up(&mut self) {
        self.job = None;
    }

    /// Returns whether a user pressed a key that the agent may not have drawn yet.
    fn has_fresh_key(&self) -> bool {
        self.last_key.is_some_and(|key| key.elapsed() < QUIET)
    }
}

impl Holder {
    /// Starts to type a message, unless it was typed before or the screen has changed.
    pub(super) fn type_message(
        &mut self,
        message: MessageId,
        text: &str,
        revision: u64,
    ) -> Result<TypingOutcome> {
        if self.message_typing.begun.contains(&message) {
            return Ok(TypingOutcome::Before);
        }
        if !self.is_unchanged(revision)? {
            return Ok(TypingOutcome::Changed);
        }
        let takes_pastes = self.terminal.as_ref().is_some_and(VirtualTerminal::takes_pastes);
        let keys = keystrokes(text, takes_pastes)
            .ok_or_else(|| Error::usage("the message has no character that can be typed"))?;
        failpoint::hit("hold.type.before");
        self.message_typing.begun.insert(message);
        self.changes.count_change();
        if !self.type_in(&keys) {
            return Err(unread());
        }
        self.message_typing.job = Some(Job { stage: TypingStage::Pasting, held: Vec::new() });
        failpoint::hit("hold.type.after");
        Ok(TypingOutcome::Now)
    }

    /// Presses keys, unless the screen has changed. Returns whether the keys were pressed.
    pub(super) fn press(&mut self, keys: &[u8], revision: u64) -> Result<bool> {
        Ok(self.is_unchanged(revision)? && self.inject(keys).map(|()| true)?)
    }

    /// Queues bytes for the agent. The caller does not learn whether the agent has read them.
    pub(super) fn inject(&mut self, bytes: &[u8]) -> Result<()> {
        if self.terminal.is_none() {
            return Err(headless());
        }
        self.check_running()?;
        self.changes.count_change();
        if self.type_after_message(bytes) { Ok(()) } else { Err(unread()) }
    }

    /// Passes on input of an attached user. `has_keys` is false for reports of the user's terminal.
    pub(super) fn type_for_person(&mut self, bytes: &[u8], has_keys: bool) {
        if has_keys {
            self.changes.count_change();
            self.message_typing.last_key = Some(Instant::now());
        }
        self.type_after_message(bytes);
    }

    /// Continues with the message after the agent has read all of its input.
    pub(super) fn input_was_read(&mut self) {
        if !self.input.is_empty() {
            return;
        }
        if let Some(job) = &mut self.message_typing.job {
            job.stage = job.stage.after_input(Instant::now());
        }
        self.send_retry_notification();
    }

    /// Continues with the message if its next stage is due.
    pub(super) fn continue_typing(&mut self, now: Instant) {
        if self.message_typing.due().is_none_or(|due| due > now) {
            return;
        }
        match self.message_typing.job.take() {
            Some(Job { stage: TypingStage::Drawing { .. }, held }) => self.send_message(held),
            Some(Job { held, .. }) => {
                self.type_in(&held);
                self.send_retry_notification();
            }
            None => {}
        }
    }

    fn send_message(&mut self, held: Vec<u8>) {
        failpoint::hit("hold.enter.before");
        self.changes.count_change();
        if self.type_in(b"\r") {
            self.message_typing.job = Some(Job { stage: TypingStage::Sending, held });
        }
        failpoint::hit("hold.enter.after");
    }

    /// Queues input behind the message that is being typed. Returns whether there was room for it.
    fn type_after_message(&mut self, bytes: &[u8]) -> bool {
        let Some(job) = &mut self.message_typing.job else { return self.type_in(bytes) };
        let has_room = job.held.len() + bytes.len() <= MAX_INPUT_BYTES;
        if has_room {
            job.held.extend_from_slice(bytes);
        }
        has_room
    }

    /// Returns whether the screen still has this revision, and no input is queued for the agent.
    fn is_unchanged(&mut self, revision: u64) -> Result<bool> {
        if self.terminal.is_none() {
            return Err(headless());
        }
        self.process_pending_output();
        let is_unchanged = revision == self.changes.revision()
            && !self.message_typing.is_busy()
            && self.input.is_empty()
            && !self.message_typing.has_fresh_key()
            && !self.clients.views().any(|(view, _)| view.filter.is_pasting());
        if is_unchanged {
            self.check_running()?;
        } else {
            self.schedule_retry_notification();
        }
        Ok(is_unchanged)
    }

    /// Reads the agent's pending output, which may change the screen.
    fn process_pending_output(&mut self) {
        if let Some(stream) = &self.stream
            && let Ok(count @ 1..) = read_now(stream.output(), &mut self.batch)
        {
            self.process_output(count);
        }
    }
}

fn unread() -> Error {
    Error::conflict("the agent does not read its input")
        .hint("run `segue attach` to see what it does")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn enter_is_due_150_ms_after_the_agent_has_drawn() {
        let since = Instant::now();
        let due = |drew: Option<u64>| {
            let stage = TypingStage::Drawing { since, drew: drew.map(|after| since + MS(after)) };
            stage.due().map(|due| due - since)
        };
        assert_eq!(due(None), Some(MAX_WAIT), "an agent that draws nothing");
        assert_eq!(due(Some(1)), Some(MS(151)));
        assert_eq!(due(Some(800)), Some(MS(950)));
        assert_eq!(due(Some(2999)), Some(MAX_WAIT), "an agent that never stops drawing");
    }

    #[test]
    fn stages_that_wait_for_the_agent_have_no_due_time() {
        let now = Instant::now();
        assert_eq!(TypingStage::Pasting.due(), None);
        assert_eq!(TypingStage::Sending.due(), None);
        let drawing = TypingStage::Pasting.after_input(now);
        assert_eq!(drawing, TypingStage::Drawing { since: now, drew: None });
        assert_eq!(drawing.after_input(now + MS(5)), drawing);
        assert_eq!(TypingStage::Sending.after_input(now), TypingStage::Sent { since: now });
    }
}
