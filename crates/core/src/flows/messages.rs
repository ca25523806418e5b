//! Messages to an agent. A message is recorded first and typed once. The transcript then shows
//! whether it arrived.

mod adding;

use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::{SessionState, commands, launch};
use crate::model::{
    CommandEffect, EventPayload, LaunchId, Message, MessageId, MessageState, Role, Screen, Showing,
    Status, TypingRecord, VendorSessionId,
};
use crate::ports::{Change, Commit, Ports, Transcripts, TypeOrder, Typed, Vendor};
use crate::rules::delivery::{
    self, AgentWait, DeliveryFacts, LaunchState, TranscriptEvidence, Verdict,
};

pub use adding::{NewMessage, add, add_message};

/// A revision that no screen has. An order with this revision types nothing; it only asks whether
/// the message was typed before.
const NO_REVISION: u64 = u64::MAX;

/// The result of an attempt to type the next message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// There is no message to type, or the agent is not ready.
    Nothing,
    /// The holder types this message.
    Typed(MessageId),
    /// A message was typed, but its arrival can never be confirmed.
    Unconfirmed,
    /// The agent drew or a user typed just before. Try again when that has stopped.
    Disturbed,
    /// The holder did not answer whether it types this message.
    Unanswered(MessageId, Error),
}

/// Cancels a message that is still queued, and commits `same_commit` with it. Returns a conflict
/// error if the message is being typed or has a final state.
pub async fn cancel(
    ports: &Ports,
    state: &mut SessionState,
    id: MessageId,
    same_commit: Vec<Change>,
) -> Result<()> {
    match state.outbox.iter().find(|message| message.id == id).map(|message| &message.state) {
        Some(MessageState::Queued) => {
            let event = EventPayload::MessageCancelled { message: id };
            set_state_with(ports, state, (id, MessageState::Cancelled), event, same_commit).await
        }
        Some(_) => Err(Error::conflict(format!("message `{id}` is being typed"))
            .hint("run `segue messages` to see its state")),
        None => Err(Error::conflict(format!("message `{id}` is settled already"))
            .hint("run `segue messages` to see its state")),
    }
}

/// Types the oldest message if the agent's input is ready.
pub async fn type_next(ports: &Ports, state: &mut SessionState) -> Result<Attempt> {
    let Some(launch) = state.open().map(|launch| launch.id) else { return Ok(Attempt::Nothing) };
    let Some(message) = state.next_message() else { return Ok(Attempt::Nothing) };
    let message = message.clone();
    let id = message.id;
    let vendor = ports.vendors.of(&state.session)?;
    let screen = ready_screen(ports, state, vendor.as_ref(), launch).await?;
    let Some(screen) = screen else { return Ok(Attempt::Nothing) };
    let text = text_to_type(ports, vendor.as_ref(), launch, &message)?;
    record_typing(ports, state, vendor.as_ref(), (id, launch)).await?;
    let order = TypeOrder { message: id, text, revision: screen.revision };
    failpoint::hit("message.type.before");
    let typed = ports.holders.type_message(launch, &order).await;
    failpoint::hit("message.type.after");
    match typed {
        Ok(Typed::Changed) => {
            queue_again(ports, state, id, "a person typed, or the screen changed").await?;
            Ok(Attempt::Disturbed)
        }
        Ok(Typed::Now | Typed::Before) => {
            // A new turn begins. A short turn may end before a signal shows that the agent works.
            state.turn = None;
            let wait = delivery::wait_after_typing(vendor.transcripts().is_some());
            if wait == AgentWait::Over && check_typed(ports, state, wait).await? {
                return Ok(Attempt::Unconfirmed);
            }
            Ok(Attempt::Typed(id))
        }
        Err(error) => Ok(Attempt::Unanswered(id, error)),
    }
}

/// Returns whether the oldest message could be typed now.
pub async fn can_type(ports: &Ports, state: &SessionState) -> Result<bool> {
    let Some(launch) = state.open().map(|launch| launch.id) else { return Ok(false) };
    if state.next_message().is_none() {
        return Ok(false);
    }
    let vendor = ports.vendors.of(&state.session)?;
    Ok(ready_screen(ports, state, vendor.as_ref(), launch).await?.is_some())
}

/// Returns whether unsent text is in the agent's input.
pub async fn has_draft(ports: &Ports, state: &SessionState) -> Result<bool> {
    let Some(screen) = screen(ports, state).await? else { return Ok(false) };
    let vendor = ports.vendors.of(&state.session)?;
    Ok(vendor.interaction().read_screen(&screen) == Some(Showing::Draft))
}

/// Returns the screen of a launch whose input is ready for a message.
async fn ready_screen(
    ports: &Ports,
    state: &SessionState,
    vendor: &dyn Vendor,
    launch: LaunchId,
) -> Result<Option<Screen>> {
    let screen = ports.holders.screen(launch).await?;
    let is_ready = |screen: &Screen| {
        delivery::may_type(state.session.status, vendor.interaction().read_screen(screen))
    };
    Ok(screen.filter(is_ready))
}

/// Returns the text to type for a message.
fn text_to_type(
    ports: &Ports,
    vendor: &dyn Vendor,
    launch: LaunchId,
    message: &Message,
) -> Result<String> {
    if !message.is_command {
        let text = launch::typed_text(ports, launch, message.id, &message.text)?;
        return Ok(vendor.interaction().typing(&text).text);
    }
    let program = vendor.commands();
    let program = program.ok_or_else(|| Error::internal("the program has no commands"))?;
    Ok(program.typing(message.text.trim()))
}

/// Presses Enter again if a typed message is still in the agent's input: a busy program can miss a
/// key.
pub async fn press_enter_again(ports: &Ports, state: &SessionState, id: MessageId) -> Result<()> {
    let Some(launch) = state.open().map(|launch| launch.id) else { return Ok(()) };
    let Some(message) = state.outbox.iter().find(|it| it.id == id) else { return Ok(()) };
    let vendor = ports.vendors.of(&state.session)?;
    let Some(screen) = ports.holders.screen(launch).await? else { return Ok(()) };
    let text = text_to_type(ports, vendor.as_ref(), launch, message)?;
    if delivery::is_left_in_input(vendor.interaction().read_screen(&screen), &screen, &text) {
        // If the agent drew or a user typed meanwhile, the key is not pressed. A later call checks
        // again.
        let _pressed = ports.holders.press(launch, b"\r", screen.revision).await?;
    }
    Ok(())
}

/// Determines whether the message that was being typed has arrived, and records the result. Returns
/// whether the message's state changed.
pub async fn check_typed(ports: &Ports, state: &mut SessionState, wait: AgentWait) -> Result<bool> {
    let typing = state.outbox.iter().find_map(|message| match &message.state {
        MessageState::Typing(record) => Some((message.clone(), record.clone())),
        _ => None,
    });
    let Some((message, record)) = typing else { return Ok(false) };
    let id = message.id;
    let vendor = ports.vendors.of(&state.session)?;
    let facts = DeliveryFacts {
        transcript: find_after_typing(ports, state, vendor.as_ref(), (&message, &record)),
        launch: launch_state(state, record.launch),
        wait,
    };
    match delivery::decide(facts) {
        Verdict::Wait => return Ok(false),
        Verdict::Delivered => {
            let event = EventPayload::MessageDelivered { message: id };
            set_state(ports, state, id, MessageState::Delivered, event).await?;
        }
        Verdict::QueueAgain => queue_again(ports, state, id, "it did not arrive").await?,
        Verdict::Uncertain => {
            let reason = why_uncertain(vendor.as_ref());
            let event = EventPayload::MessageUncertain { message: id, reason };
            set_state(ports, state, id, MessageState::Uncertain, event).await?;
        }
    }
    Ok(true)
}

/// Returns why it is unknown whether a message arrived.
pub fn why_uncertain(vendor: &dyn Vendor) -> String {
    if vendor.transcripts().is_some() {
        return "nothing shows whether it arrived".to_owned();
    }
    format!("it was typed, but `{}` has no transcript that could confirm it", vendor.id())
}

/// Returns the state of the launch that a message was sent to.
fn launch_state(state: &SessionState, launch: LaunchId) -> LaunchState {
    let is_last = state.launches.last().is_some_and(|last| last.id == launch);
    if state.open().is_some_and(|open| open.id == launch) {
        return LaunchState::Alive;
    }
    // A headless session is idle between turns only if its last turn succeeded.
    let answered = state.session.headless && is_last && state.session.status == Status::Idle;
    if answered { LaunchState::Answered } else { LaunchState::Over }
}

/// Asks the holder whether it typed the message that is recorded as being typed. A new daemon calls
/// this, because the last one may have crashed in between. A message that was not typed is queued
/// again.
pub async fn resolve_interrupted_typing(ports: &Ports, state: &mut SessionState) -> Result<()> {
    let Some(open) = state.open().map(|launch| launch.id) else { return Ok(()) };
    let typing = |message: &&Message| matches!(&message.state, MessageState::Typing(record) if record.launch == open);
    let Some(id) = state.outbox.iter().find(typing).map(|message| message.id) else {
        return Ok(());
    };
    if state.session.headless {
        return Ok(());
    }
    let order = TypeOrder { message: id, text: String::new(), revision: NO_REVISION };
    match ports.holders.type_message(open, &order).await? {
        Typed::Changed => queue_again(ports, state, id, "it was not typed").await,
        Typed::Before | Typed::Now => {
            let vendor = ports.vendors.of(&state.session)?;
            let wait = delivery::wait_after_typing(vendor.transcripts().is_some());
            check_typed(ports, state, wait).await.map(drop)
        }
    }
}

/// Returns the screen of the open launch. `None` if no launch is open or the session is headless.
pub async fn screen(ports: &Ports, state: &SessionState) -> Result<Option<Screen>> {
    match state.open() {
        Some(launch) if !state.session.headless => ports.holders.screen(launch.id).await,
        _ => Ok(None),
    }
}

/// Returns the change and the event that record a message as being typed.
pub(crate) fn typing_change(
    ports: &Ports,
    state: &SessionState,
    message: MessageId,
    record: TypingRecord,
) -> (Change, crate::model::NewEvent) {
    let event = state.event(ports, EventPayload::MessageTyped { message });
    let state = MessageState::Typing(record);
    (Change::SetMessage { message, state, at: event.at }, event)
}

/// Returns where a message that is about to be sent will appear: the launch, the conversation and
/// the current length of its transcript.
pub(crate) fn typing_record(
    ports: &Ports,
    state: &SessionState,
    vendor: &dyn Vendor,
    (launch, conversation): (LaunchId, Option<&VendorSessionId>),
) -> TypingRecord {
    let length = |id| vendor.transcripts()?.length(ports.files.as_ref(), &state.place(), id);
    let offset = conversation.and_then(length);
    TypingRecord { launch, conversation: conversation.cloned(), offset: offset.unwrap_or(0) }
}

async fn record_typing(
    ports: &Ports,
    state: &mut SessionState,
    vendor: &dyn Vendor,
    (id, launch): (MessageId, LaunchId),
) -> Result<()> {
    let record = typing_record(ports, state, vendor, (launch, state.vendor_session()));
    let (change, event) = typing_change(ports, state, id, record);
    failpoint::hit("message.typing.before");
    state.commit(ports, Commit { changes: vec![change], events: vec![event] }).await?;
    failpoint::hit("message.typing.after");
    Ok(())
}

async fn queue_again(
    ports: &Ports,
    state: &mut SessionState,
    id: MessageId,
    why: &str,
) -> Result<()> {
    let event = EventPayload::MessageQueued { message: id, again: Some(why.to_owned()) };
    set_state(ports, state, id, MessageState::Queued, event).await
}

async fn set_state(
    ports: &Ports,
    state: &mut SessionState,
    message: MessageId,
    to: MessageState,
    event: EventPayload,
) -> Result<()> {
    set_state_with(ports, state, (message, to), event, Vec::new()).await
}

async fn set_state_with(
    ports: &Ports,
    state: &mut SessionState,
    (message, to): (MessageId, MessageState),
    event: EventPayload,
    same_commit: Vec<Change>,
) -> Result<()> {
    let event = state.event(ports, event);
    let mut changes = vec![Change::SetMessage { message, state: to, at: event.at }];
    changes.extend(same_commit);
    failpoint::hit("message.settle.before");
    state.commit(ports, Commit { changes, events: vec![event] }).await?;
    failpoint::hit("message.settle.after");
    Ok(())
}

/// Searches for a message in the part of the transcript that was recorded after the message was
/// sent.
fn find_after_typing(
    ports: &Ports,
    state: &SessionState,
    vendor: &dyn Vendor,
    (message, record): (&Message, &TypingRecord),
) -> TranscriptEvidence {
    let (id, text) = (message.id, message.text.as_str());
    let now = state.vendor_session();
    let Some(then) = record.conversation.as_ref().or(now) else {
        return TranscriptEvidence::Unknown;
    };
    if message.is_command {
        return find_command(ports, state, vendor, (then, record.offset, message));
    }
    let sent = if state.session.headless {
        Ok(launch::command_line_text(ports, record.launch, text))
    } else {
        launch::typed_text(ports, record.launch, id, text)
    };
    let Ok(sent) = sent else { return TranscriptEvidence::Unknown };
    // The transcript contains a message from the command line either unchanged or in the form of a
    // typed message.
    let mut wanted = vec![vendor.interaction().typing(&sent).recorded_as];
    wanted.extend(Some(sent).filter(|_| state.session.headless));
    let found = search_conversation(ports, state, vendor, ((then, record.offset), &wanted));
    // The agent may have switched to a new conversation that became known only when this message
    // was recorded in it.
    let next = now.filter(|now| *now != then && found != TranscriptEvidence::Contains);
    match next.map(|next| search_conversation(ports, state, vendor, ((next, 0), &wanted))) {
        Some(TranscriptEvidence::Contains) => TranscriptEvidence::Contains,
        _ => found,
    }
}

/// Searches for the effect of a command in the part of the transcript that was recorded after the
/// command was typed. The agent was idle with an empty input then, so that the first message of the
/// user is the prompt of the command: programs record their own text for it.
fn find_command(
    ports: &Ports,
    state: &SessionState,
    vendor: &dyn Vendor,
    (conversation, offset, message): (&VendorSessionId, u64, &Message),
) -> TranscriptEvidence {
    let is_current = state.vendor_session() == Some(conversation);
    let Some(transcripts) = vendor.transcripts() else { return TranscriptEvidence::Unknown };
    if !has_part_after(ports, state, transcripts, (conversation, offset)) {
        return TranscriptEvidence::Unknown;
    }
    let (files, place) = (ports.files.as_ref(), state.place());
    let found = match commands::effect(vendor, message) {
        CommandEffect::Prompt => transcripts
            .user_messages_since(files, &place, conversation, offset)
            .map(|messages| !messages.is_empty()),
        CommandEffect::Compaction => {
            let transcript = transcripts.transcript(files, &place, conversation);
            has_summary_since(ports, transcripts, &transcript, message.updated_at)
        }
    };
    match found {
        Ok(true) => TranscriptEvidence::Contains,
        // In another conversation, the command may have been recorded there.
        Ok(false) if is_current => TranscriptEvidence::Lacks,
        Ok(false) | Err(_) => TranscriptEvidence::Unknown,
    }
}

/// Returns whether the conversation was replaced by a summary after this time.
fn has_summary_since(
    ports: &Ports,
    transcripts: &dyn Transcripts,
    transcript: &Path,
    since: Timestamp,
) -> Result<bool> {
    let mut has_summary = false;
    transcripts.turns_back(ports.files.as_ref(), transcript, &mut |turn| {
        // Vendors write no fractions that are smaller than a millisecond.
        let is_older = turn.at.is_some_and(|at| at.as_millisecond() < since.as_millisecond());
        has_summary = !is_older && turn.role == Role::Summary;
        if is_older || has_summary { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(has_summary)
}

/// Returns whether the part of a transcript after this offset can be searched. A missing transcript
/// is no evidence: the message may have been recorded before the file was deleted.
fn has_part_after(
    ports: &Ports,
    state: &SessionState,
    transcripts: &dyn Transcripts,
    (conversation, offset): (&VendorSessionId, u64),
) -> bool {
    let length = transcripts.length(ports.files.as_ref(), &state.place(), conversation);
    let is_gone = length.is_none() && state.session.has_content;
    !is_gone && length.unwrap_or(0) >= offset
}

/// Searches for a message in all conversations of its session, from their beginnings.
pub(crate) fn find_in_all_conversations(
    ports: &Ports,
    state: &SessionState,
    message: &Message,
) -> Result<TranscriptEvidence> {
    if message.is_command {
        // Its text is not in the transcript. It is not typed a second time.
        return Ok(TranscriptEvidence::Unknown);
    }
    let vendor = ports.vendors.of(&state.session)?;
    let mut wanted =
        vec![message.text.clone(), vendor.interaction().typing(&message.text).recorded_as];
    // A long message was written to a file, and the agent got an instruction to read the file.
    wanted.extend(
        state
            .launches
            .iter()
            .flat_map(|launch| launch::file_instructions(ports, launch.id, message.id)),
    );
    let look = |id| search_conversation(ports, state, vendor.as_ref(), ((id, 0), &wanted));
    let mut all = state.bindings.iter().map(|binding| look(&binding.vendor_session));
    if all.any(|found| found == TranscriptEvidence::Contains) {
        return Ok(TranscriptEvidence::Contains);
    }
    Ok(state.vendor_session().map_or(TranscriptEvidence::Unknown, look))
}

fn search_conversation(
    ports: &Ports,
    state: &SessionState,
    vendor: &dyn Vendor,
    ((conversation, offset), wanted): ((&VendorSessionId, u64), &[String]),
) -> TranscriptEvidence {
    let Some(transcripts) = vendor.transcripts() else { return TranscriptEvidence::Unknown };
    let files = ports.files.as_ref();
    if !has_part_after(ports, state, transcripts, (conversation, offset)) {
        return TranscriptEvidence::Unknown;
    }
    match transcripts.user_messages_since(files, &state.place(), conversation, offset) {
        Ok(messages) if messages.iter().any(|it| is_one_of(it, wanted)) => {
            TranscriptEvidence::Contains
        }
        Ok(_) => TranscriptEvidence::Lacks,
        Err(_) => TranscriptEvidence::Unknown,
    }
}

fn is_one_of(message: &str, wanted: &[String]) -> bool {
    wanted.iter().any(|it| it.trim() == message.trim())
}
