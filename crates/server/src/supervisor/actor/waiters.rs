//! Answers the requests that wait for a message or a status of a session.

use segue_core::api::{SendReport, Until, WaitReport, WaitTarget};
use segue_core::flows::last_output;
use segue_core::model::{LaunchMode, MessageId, Status};

use super::{Actor, Reply, send_reply};

/// A request that waits.
#[derive(Debug)]
pub(crate) enum Waiter {
    Message {
        message: MessageId,
        until: Until,
        /// The wait goes on while the agent asks the question with this id.
        known_question: Option<String>,
        reply: Reply<SendReport>,
    },
    Status {
        target: WaitTarget,
        reply: Reply<WaitReport>,
    },
}

impl Waiter {
    /// Waits for a message. A question of the agent ends the wait.
    pub(crate) fn message(message: MessageId, until: Until, reply: Reply<SendReport>) -> Self {
        Self::Message { message, until, known_question: None, reply }
    }

    fn is_gone(&self) -> bool {
        match self {
            Self::Message { reply, .. } => reply.is_closed(),
            Self::Status { reply, .. } => reply.is_closed(),
        }
    }
}

impl Actor {
    /// Answers the requests whose condition is true now.
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

    /// Answers a request, or returns it if it has to wait longer.
    async fn answer_waiter(&self, waiter: Waiter) -> Option<Waiter> {
        match waiter {
            Waiter::Message { message, until, known_question, reply } => {
                match self.report_if_done(message, until, known_question.as_deref()).await {
                    Ok(None) => {
                        return Some(Waiter::Message { message, until, known_question, reply });
                    }
                    Ok(Some(report)) => send_reply(reply, Ok(report)),
                    Err(error) => send_reply(reply, Err(error)),
                }
            }
            Waiter::Status { target, reply } => {
                let reached = self.has_reached(target);
                // Without a person the agent does not become idle, so the wait for `idle` ends.
                let is_hopeless = target == WaitTarget::Idle && self.needs_person();
                if !reached && !is_hopeless {
                    return Some(Waiter::Status { target, reply });
                }
                let runs = self.state.open().is_some();
                let why = match runs {
                    true => Vec::new(),
                    false => last_output::why_not_running(&self.ports, &self.state),
                };
                send_reply(reply, Ok(WaitReport { session: self.view(), reached, why }));
            }
        }
        None
    }

    /// Returns whether the agent continues only after a person answers or starts it again.
    fn needs_person(&self) -> bool {
        match self.state.session.status {
            status @ Status::Waiting(_) if !status.expects_process() => self.starts.is_empty(),
            Status::Interrupted | Status::Lost => {
                self.starts.is_empty() && self.restart_after.is_none()
            }
            _ => self.drawn_question().is_some(),
        }
    }

    /// Returns whether an agent that reports to be idle has really finished its turn. Some agents
    /// report idle before they begin a turn for a message, or before their last answer is in the
    /// transcript.
    fn is_at_rest(&self) -> bool {
        match self.conversation() {
            Ok(Some(conversation)) => !conversation.turn_open,
            // Without a transcript, only the report of the agent is known.
            Ok(None) if self.is_unreadable() => true,
            Ok(None) => self.state.open().is_none_or(|launch| {
                launch.mode == LaunchMode::Resume
                    || launch.message.is_none()
                    || self.state.has_moved_on(launch.id)
            }),
            // A transcript that cannot be read does not block the request.
            Err(_) => true,
        }
    }

    /// Returns whether the session has a conversation that Segue cannot read.
    fn is_unreadable(&self) -> bool {
        let vendor = self.ports.vendors.of(&self.state.session);
        let has_none = vendor.is_ok_and(|vendor| vendor.transcripts().is_none());
        has_none && self.state.vendor_session().is_some()
    }

    /// Returns whether the session has reached the target. To be idle, it must also have no message
    /// left to deliver.
    fn has_reached(&self, target: WaitTarget) -> bool {
        let idle = self.state.session.status == Status::Idle
            && self.state.outbox.iter().all(|it| self.state.is_held(it))
            && self.is_at_rest();
        // A session that is about to start has not ended.
        let rests = self.starts.is_empty();
        let (waiting, ended) = match self.state.session.status {
            status @ Status::Waiting(_) if status.expects_process() => {
                (self.drawn_question().is_some(), false)
            }
            Status::Waiting(_) => (rests, rests),
            Status::Interrupted | Status::Ended(_) | Status::Lost => {
                (false, rests && self.restart_after.is_none())
            }
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
