//! The questions of a headless agent that wait for a reply.
//!
//! A process of the agent keeps its connection open while it waits. If the process or this holder
//! ends, the question is gone and nothing is granted.

use segue_core::{Error, Result};
use uuid::Uuid;

use super::Holder;
use super::connection::ClientId;
use crate::hold::wire::{Frame, WireAnswer, WireEvent, WireQuestion, WireRequest, kind};

/// At most this many questions are open at the same time.
const MAX_QUESTIONS: usize = 8;
/// The largest request. All open questions together fit into one frame, even if each byte takes six
/// bytes as JSON.
pub(in crate::hold) const MAX_REQUEST_BYTES: usize = 20 << 10;

/// The open questions of a headless agent, oldest first.
#[derive(Debug, Default)]
pub(super) struct OpenQuestions {
    all: Vec<(ClientId, WireQuestion)>,
}

impl OpenQuestions {
    /// Adds the question of a client. Fails if there are too many, or if it is too long.
    fn add(&mut self, client: ClientId, request: String) -> Result<()> {
        if request.len() > MAX_REQUEST_BYTES {
            return Err(Error::usage(format!(
                "the request has {} bytes, more than {MAX_REQUEST_BYTES}",
                request.len()
            )));
        }
        if self.all.len() >= MAX_QUESTIONS {
            return Err(Error::conflict(format!(
                "the agent asks {MAX_QUESTIONS} questions already, and no more at the same time"
            )));
        }
        // Unpredictable, so that an agent cannot prepare an answer of the user to a later question.
        let id = Uuid::new_v4().simple().to_string();
        let id = id.get(..8).unwrap_or(&id).to_owned();
        self.all.push((client, WireQuestion { id, request }));
        Ok(())
    }

    /// Removes a question. Returns the client that asks it.
    fn take(&mut self, question: &str) -> Option<ClientId> {
        let at = self.all.iter().position(|(_, it)| it.id == question)?;
        Some(self.all.remove(at).0)
    }

    /// Removes the questions of a client. Returns whether it had any.
    fn withdraw(&mut self, client: ClientId) -> bool {
        let before = self.all.len();
        self.all.retain(|(id, _)| *id != client);
        self.all.len() < before
    }

    fn event(&self) -> WireEvent {
        WireEvent::Questions(self.all.iter().map(|(_, question)| question.clone()).collect())
    }
}

impl Holder {
    /// Handles a frame of a process of the agent. It may only ask.
    pub(super) fn frame_of_agent(&mut self, id: ClientId, frame: &Frame) {
        let request = Some(frame).filter(|frame| frame.kind == kind::REQUEST);
        let request = request.and_then(|frame| serde_json::from_slice(&frame.payload).ok());
        let asked = match request {
            Some(WireRequest::Ask { request }) => {
                self.check_running().and_then(|()| self.questions.add(id, request))
            }
            _ => Err(super::serve::agent_may_not()),
        };
        match asked {
            Ok(()) => self.clients.announce(&self.questions.event()),
            Err(error) => {
                self.clients.answer(id, &WireAnswer::Failed(error));
                self.hang_up(id);
            }
        }
    }

    /// Replies to an open question. Returns whether it was still open.
    pub(super) fn reply_to(&mut self, question: &str, text: Option<String>) -> bool {
        let Some(client) = self.questions.take(question) else { return false };
        self.clients.answer(client, &WireAnswer::Asked(text));
        self.clients.announce(&self.questions.event());
        true
    }

    /// Removes the questions of a client whose connection was closed.
    pub(super) fn withdraw_questions(&mut self, client: ClientId) {
        if self.questions.withdraw(client) {
            self.clients.announce(&self.questions.event());
        }
    }

    /// Returns the event with the open questions for a new subscriber. `None` for an agent with a
    /// terminal, which asks there.
    pub(super) fn questions_event(&self) -> Option<WireEvent> {
        self.terminal.is_none().then(|| self.questions.event())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_is_open_until_it_is_replied_to_or_its_client_is_gone() {
        let mut open = OpenQuestions::default();
        open.add(1, "first".to_owned()).unwrap();
        open.add(2, "second".to_owned()).unwrap();
        open.add(2, "third".to_owned()).unwrap();
        let ids: Vec<String> = open.all.iter().map(|(_, it)| it.id.clone()).collect();
        assert_eq!(open.take("another"), None);
        assert_eq!(open.take(&ids[0]), Some(1));
        assert_eq!(open.take(&ids[0]), None);
        assert!(!open.withdraw(1));
        assert!(open.withdraw(2));
        assert_eq!(open.event(), WireEvent::Questions(Vec::new()));
    }

    #[test]
    fn long_requests_and_too_many_questions_are_refused() {
        let mut open = OpenQuestions::default();
        let error = open.add(1, "x".repeat(MAX_REQUEST_BYTES + 1)).unwrap_err();
        assert!(error.message.contains("20480"), "{error}");
        for client in 0..8 {
            open.add(client, "\u{1}".repeat(MAX_REQUEST_BYTES)).unwrap();
        }
        assert!(open.add(9, "x".to_owned()).unwrap_err().message.contains("8 questions"));
        let frame = crate::hold::wire::encode_message(kind::EVENT, &open.event());
        assert!(frame.len() < 1 << 20, "{}", frame.len());
    }
}
