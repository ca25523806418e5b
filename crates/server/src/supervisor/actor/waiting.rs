//! Whoever waits for something of a session, and when they are answered.

use segue_core::api::{SendReport, Until, WaitReport, WaitTarget};
use segue_core::flows::last_words;
use segue_core::model::{LaunchMode, MessageId, Status};

use super::{Actor, Reply, answer};

/// Somebody who waits.
#[derive(Debug)]
pub(crate) enum Waiter {
    Message { message: MessageId, until: Until, reply: Reply<SendReport> },
    Status { target: WaitTarget, reply: Reply<WaitReport> },
}

impl Waiter {
    fn is_gone(&self) -> bool {
        match self {
            Self::Message { reply, .. } => reply.is_closed(),
            Self::Status { reply, .. } => reply.is_closed(),
        }
    }
}

impl Actor {
    /// Answers everybody who has waited for what is true now.
    pub(super) async fn answer_waiters(&mut self) {
        if self.waiters.is_empty() {
            return;
        }
        for waiter in std::mem::take(&mut self.waiters) {
            if waiter.is_gone() {
                continue;
            }
            if let Some(waiter) = self.answer_waiter(waiter).await {
                self.waiters.push(waiter);
            }
        }
    }

    /// Answers a waiter, or returns it.
    async fn answer_waiter(&self, waiter: Waiter) -> Option<Waiter> {
        match waiter {
            Waiter::Message { message, until, reply } => {
                match self.answer_for(message, until).await {
                    Ok(None) => return Some(Waiter::Message { message, until, reply }),
                    Ok(Some(report)) => answer(reply, Ok(report)),
                    Err(error) => answer(reply, Err(error)),
                }
            }
            Waiter::Status { target, reply } => {
                let reached = self.has_reached(target);
                // Whoever waits for the agent to be idle would wait for a person.
                let is_over = target == WaitTarget::Idle && self.needs_person();
                if !reached && !is_over {
                    return Some(Waiter::Status { target, reply });
                }
                let runs = self.state.open().is_some();
                let why = match runs {
                    true => Vec::new(),
                    false => last_words::why_not_running(&self.ports, &self.state),
                };
                answer(reply, Ok(WaitReport { session: self.view(), reached, why }));
            }
        }
        None
    }

    /// Tells whether the agent goes on only after a person has answered, or has it started again.
    fn needs_person(&self) -> bool {
        match self.state.session.status {
            status @ Status::Waiting(_) if !status.expects_process() => true,
            _ => self.drawn_question().is_some(),
        }
    }

    /// Tells whether an agent that says it is idle has nothing left to do. Some say so before they
    /// take a message up, or before their last words are in the transcript.
    fn is_at_rest(&self) -> bool {
        match self.conversation() {
            Ok(Some(conversation)) => !conversation.turn_open,
            Ok(None) => self.state.open().is_none_or(|launch| {
                launch.mode == LaunchMode::Resume
                    || launch.message.is_none()
                    || self.state.has_moved_on(launch.id)
            }),
            // What cannot be read does not keep anybody waiting.
            Err(_) => true,
        }
    }

    /// Tells whether the session is where somebody waits for it to be, with nothing left to be said
    /// to it.
    fn has_reached(&self, target: WaitTarget) -> bool {
        let idle = self.state.session.status == Status::Idle
            && self.state.outbox.is_empty()
            && self.is_at_rest();
        let (waiting, ended) = match self.state.session.status {
            status @ Status::Waiting(_) if status.expects_process() => {
                (self.drawn_question().is_some(), false)
            }
            Status::Waiting(_) => (true, true),
            Status::Ended(_) | Status::Lost => (false, self.keeper.is_none()),
            Status::Starting | Status::Working | Status::Idle => (false, false),
        };
        match target {
            WaitTarget::Idle => idle,
            WaitTarget::Waiting => waiting,
            WaitTarget::Ended => ended,
            WaitTarget::Rest => idle || waiting || ended,
        }
    }
}
