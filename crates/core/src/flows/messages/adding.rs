//! Queues messages.

use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::SessionState;
use crate::model::{
    EventPayload, Message, MessageId, MessageSender, MessageState, RequestKey, RequestRecord,
    RequestStep,
};
use crate::ports::{Change, Commit, Conflict, Ports};

/// Queues a message. When this returns, the message is on disk, together with the step of its
/// request and with `same_commit`. If the request queued a message before, the id of that message is
/// returned.
pub async fn add(
    ports: &Ports,
    state: &mut SessionState,
    text: String,
    (request, same_commit): (Option<RequestKey>, Commit),
) -> Result<MessageId> {
    let message = NewMessage::new(ports, text);
    add_message(ports, state, message, (request, same_commit)).await
}

/// A message that is to be queued.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// Chosen by the caller, so that its other changes can refer to the message.
    pub id: MessageId,
    pub text: String,
    /// As [`Message::is_command`].
    pub is_command: bool,
    pub sender: Option<MessageSender>,
}

impl NewMessage {
    /// A message of a person or of Segue itself, with a new id.
    pub fn new(ports: &Ports, text: String) -> Self {
        Self { id: MessageId::new(ports.clock.new_id()), text, is_command: false, sender: None }
    }
}

/// Queues a message like [`add`], with an id and a sender.
pub async fn add_message(
    ports: &Ports,
    state: &mut SessionState,
    message: NewMessage,
    (request, same_commit): (Option<RequestKey>, Commit),
) -> Result<MessageId> {
    let recorded = record(ports, state, message, (request, same_commit)).await;
    let Some(request) = request else { return recorded };
    match recorded {
        Err(error) if is_repeated(&error) => {
            let queued = |step: RequestStep| match step {
                RequestStep::Queued { message, .. } => Some(message),
                _ => None,
            };
            let steps = ports.store.request(request).await?;
            steps.into_iter().find_map(queued).ok_or(error)
        }
        result => result,
    }
}

fn is_repeated(error: &Error) -> bool {
    matches!(error.conflict.as_deref(), Some(Conflict::RequestRepeated { .. }))
}

async fn record(
    ports: &Ports,
    state: &mut SessionState,
    NewMessage { id, text, is_command, sender }: NewMessage,
    (request, same_commit): (Option<RequestKey>, Commit),
) -> Result<MessageId> {
    let now = ports.clock.now();
    let session = state.session.id;
    let event = state.event(ports, EventPayload::MessageQueued { message: id, again: None });
    let message = Message {
        id,
        session,
        text,
        is_command,
        state: MessageState::Queued,
        sender,
        created_at: now,
        updated_at: now,
    };
    let step = RequestStep::Queued { session, message: id };
    let Commit { mut changes, mut events } = same_commit;
    let record = |key| RequestRecord { key, step, at: now };
    changes.extend(request.map(|key| Change::RecordRequest(Box::new(record(key)))));
    changes.push(Change::AddMessage(Box::new(message)));
    events.push(event);
    failpoint::hit("message.add.before");
    state.commit(ports, Commit { changes, events }).await?;
    failpoint::hit("message.add.after");
    Ok(id)
}
