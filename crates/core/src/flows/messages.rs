//! Messages to an agent: recorded first, typed once, judged by the transcript.

use crate::error::{Error, Kind, Result};
use crate::failpoint;
use crate::flows::{SessionState, launch};
use crate::model::{
    EventKind, LaunchId, Message, MessageId, MessageState, RequestKey, RequestRecord, RequestStep,
    Status, Trace, VendorSessionId,
};
use crate::ports::{Change, Commit, Ports, Screen, TypeOrder, Typed, Vendor};
use crate::rules::delivery::{self, Launch, Patience, Seen, Transcript, Verdict};

/// A revision that no screen has: an order with it only asks whether the message was typed before.
const NO_REVISION: u64 = u64::MAX;

/// What came of trying to type the next message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Nothing is to be typed, or not now.
    Nothing,
    /// This message is on its way.
    Typed(MessageId),
    /// A message was typed, and nothing will ever show whether it arrived.
    Unconfirmed,
    /// Something was drawn or typed in the last moment: it is to be tried again when that is over.
    Disturbed,
    /// The holder did not say whether it types this message.
    Unanswered(MessageId, Error),
}

/// Takes a message in; it is durable when this returns, together with the step of the request that
/// it came with and with what else is recorded along. If the request queued a message before, that
/// message is returned.
pub async fn add(
    ports: &Ports,
    state: &mut SessionState,
    text: String,
    (request, along): (Option<RequestKey>, Commit),
) -> Result<MessageId> {
    let recorded = record(ports, state, text, (request, along)).await;
    let Some(request) = request else { return recorded };
    match recorded {
        Err(error) if error.kind == Kind::Conflict => {
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

async fn record(
    ports: &Ports,
    state: &mut SessionState,
    text: String,
    (request, along): (Option<RequestKey>, Commit),
) -> Result<MessageId> {
    let now = ports.clock.now();
    let (session, id) = (state.session.id, MessageId::new(ports.clock.new_id()));
    let event = state.event(ports, EventKind::MessageQueued, format!("message {id}"));
    let message = Message {
        id,
        session,
        text,
        state: MessageState::Queued,
        created_at: now,
        updated_at: now,
    };
    let step = RequestStep::Queued { session, message: id };
    let Commit { mut changes, mut events } = along;
    let record = |key| RequestRecord { key, step, at: now };
    changes.extend(request.map(|key| Change::RecordRequest(Box::new(record(key)))));
    changes.push(Change::AddMessage(Box::new(message)));
    events.push(event);
    failpoint::hit("message.add.before");
    state.commit(ports, Commit { changes, events }).await?;
    failpoint::hit("message.add.after");
    Ok(id)
}

/// Takes a message back that is not on its way yet; `along` is recorded in the same commit.
pub async fn cancel(
    ports: &Ports,
    state: &mut SessionState,
    id: MessageId,
    along: Vec<Change>,
) -> Result<()> {
    match state.outbox.iter().find(|message| message.id == id).map(|message| &message.state) {
        Some(MessageState::Queued) => {
            let event = (EventKind::MessageCancelled, format!("message {id}"));
            move_on_with(ports, state, (id, MessageState::Cancelled), event, along).await
        }
        Some(_) => Err(Error::conflict(format!("message `{id}` is on its way"))
            .hint("run `segue messages` to see what became of it")),
        None => Err(Error::conflict(format!("message `{id}` is settled already"))
            .hint("run `segue messages` to see what became of it")),
    }
}

/// Types the oldest message if the agent's input is ready for it.
pub async fn type_next(ports: &Ports, state: &mut SessionState) -> Result<Attempt> {
    let Some(launch) = state.open().map(|launch| launch.id) else { return Ok(Attempt::Nothing) };
    let Some(message) = state.outbox.first().filter(|it| it.state == MessageState::Queued) else {
        return Ok(Attempt::Nothing);
    };
    let (id, text) = (message.id, message.text.clone());
    let vendor = ports.vendors.of(&state.session)?;
    let Some(screen) = ports.holders.screen(launch).await? else { return Ok(Attempt::Nothing) };
    if !delivery::may_type(state.session.status, vendor.read_screen(&screen)) {
        return Ok(Attempt::Nothing);
    }
    let text = vendor.typing(&launch::said_later(ports, launch, id, &text)?).text;
    put_on_its_way(ports, state, vendor.as_ref(), (id, launch)).await?;
    let order = TypeOrder { message: id, text, revision: screen.revision };
    failpoint::hit("message.type.before");
    let typed = ports.holders.type_message(launch, &order).await;
    failpoint::hit("message.type.after");
    match typed {
        Ok(Typed::Changed) => {
            back_into_the_queue(ports, state, id, "somebody typed, or the screen changed").await?;
            Ok(Attempt::Disturbed)
        }
        Ok(Typed::Now | Typed::Before) => {
            let patience = delivery::patience_after_typing(vendor.keeps_transcripts());
            if patience == Patience::Over && settle(ports, state, patience).await? {
                return Ok(Attempt::Unconfirmed);
            }
            Ok(Attempt::Typed(id))
        }
        Err(error) => Ok(Attempt::Unanswered(id, error)),
    }
}

/// Presses Enter once more if the message that is on its way is still in the agent's input: a
/// program that is busy can miss a key.
pub async fn press_enter_again(ports: &Ports, state: &SessionState, id: MessageId) -> Result<()> {
    let Some(launch) = state.open().map(|launch| launch.id) else { return Ok(()) };
    let Some(message) = state.outbox.iter().find(|it| it.id == id) else { return Ok(()) };
    let vendor = ports.vendors.of(&state.session)?;
    let Some(screen) = ports.holders.screen(launch).await? else { return Ok(()) };
    let text = vendor.typing(&launch::said_later(ports, launch, id, &message.text)?).text;
    if delivery::is_left_in_input(vendor.read_screen(&screen), &screen, &text) {
        // If anything was drawn or typed meanwhile it is not pressed, and looked at again later.
        let _pressed = ports.holders.press(launch, b"\r", screen.revision).await?;
    }
    Ok(())
}

/// Finds out what became of the message that is on its way, and records it; tells whether anything
/// changed.
pub async fn settle(ports: &Ports, state: &mut SessionState, patience: Patience) -> Result<bool> {
    let on_its_way = state.outbox.iter().find_map(|message| match &message.state {
        MessageState::Typing(trace) => Some((message.id, message.text.clone(), trace.clone())),
        _ => None,
    });
    let Some((id, text, trace)) = on_its_way else { return Ok(false) };
    let vendor = ports.vendors.of(&state.session)?;
    let seen = Seen {
        transcript: look_for(ports, state, vendor.as_ref(), (id, &text, &trace)),
        launch: became_of(state, trace.launch),
        patience,
    };
    match delivery::judge(seen) {
        Verdict::Wait => return Ok(false),
        Verdict::Delivered => {
            let event = (EventKind::MessageDelivered, format!("message {id}: in the transcript"));
            move_on(ports, state, id, MessageState::Delivered, event).await?;
        }
        Verdict::Again => back_into_the_queue(ports, state, id, "it did not arrive").await?,
        Verdict::Uncertain => {
            let text = format!("message {id}: {}", why_uncertain(vendor.as_ref()));
            let event = (EventKind::MessageUncertain, text);
            move_on(ports, state, id, MessageState::Uncertain, event).await?;
        }
    }
    Ok(true)
}

/// Says why nobody can tell whether a message arrived.
pub fn why_uncertain(vendor: &dyn Vendor) -> String {
    if vendor.keeps_transcripts() {
        return "nothing shows whether it arrived".to_owned();
    }
    format!("it was typed; `{}` has no transcript that could confirm it", vendor.id())
}

/// Says what became of the launch that a message was given to.
fn became_of(state: &SessionState, launch: LaunchId) -> Launch {
    let is_last = state.launches.last().is_some_and(|last| last.id == launch);
    if state.open().is_some_and(|open| open.id == launch) {
        return Launch::Alive;
    }
    // Between turns a headless session is idle only after one that went well.
    let answered = state.session.headless && is_last && state.session.status == Status::Idle;
    if answered { Launch::Answered } else { Launch::Over }
}

/// Asks the holder whether a message that was to be typed before a crash was typed; one that was
/// not is in the queue again.
pub async fn take_up(ports: &Ports, state: &mut SessionState) -> Result<()> {
    let Some(open) = state.open().map(|launch| launch.id) else { return Ok(()) };
    let typing = |message: &&Message| matches!(&message.state, MessageState::Typing(trace) if trace.launch == open);
    let Some(id) = state.outbox.iter().find(typing).map(|message| message.id) else {
        return Ok(());
    };
    if state.session.headless {
        return Ok(());
    }
    let order = TypeOrder { message: id, text: String::new(), revision: NO_REVISION };
    match ports.holders.type_message(open, &order).await? {
        Typed::Changed => back_into_the_queue(ports, state, id, "it was not typed").await,
        Typed::Before | Typed::Now => {
            let keeps_transcripts = ports.vendors.of(&state.session)?.keeps_transcripts();
            let patience = delivery::patience_after_typing(keeps_transcripts);
            settle(ports, state, patience).await.map(drop)
        }
    }
}

/// Returns what is on the screen of the open launch.
pub async fn screen(ports: &Ports, state: &SessionState) -> Result<Option<Screen>> {
    match state.open() {
        Some(launch) if !state.session.headless => ports.holders.screen(launch.id).await,
        _ => Ok(None),
    }
}

/// Returns the change and the fact that put a message on its way to a launch.
pub(crate) fn departure(
    ports: &Ports,
    state: &SessionState,
    message: MessageId,
    trace: Trace,
) -> (Change, crate::model::NewEvent) {
    let event = state.event(ports, EventKind::MessageTyped, format!("message {message}"));
    let state = MessageState::Typing(trace);
    (Change::SetMessage { message, state, at: event.at }, event)
}

/// Returns where a message that is about to be said will be found.
pub(crate) fn trace(
    ports: &Ports,
    state: &SessionState,
    vendor: &dyn Vendor,
    (launch, conversation): (LaunchId, Option<&VendorSessionId>),
) -> Trace {
    let extent = |id| vendor.extent(ports.files.as_ref(), &state.place(), id);
    let offset = conversation.and_then(extent);
    Trace { launch, conversation: conversation.cloned(), offset: offset.unwrap_or(0) }
}

async fn put_on_its_way(
    ports: &Ports,
    state: &mut SessionState,
    vendor: &dyn Vendor,
    (id, launch): (MessageId, LaunchId),
) -> Result<()> {
    let trace = trace(ports, state, vendor, (launch, state.vendor_session()));
    let (change, event) = departure(ports, state, id, trace);
    failpoint::hit("message.typing.before");
    state.commit(ports, Commit { changes: vec![change], events: vec![event] }).await?;
    failpoint::hit("message.typing.after");
    Ok(())
}

async fn back_into_the_queue(
    ports: &Ports,
    state: &mut SessionState,
    id: MessageId,
    why: &str,
) -> Result<()> {
    let event = (EventKind::MessageQueued, format!("message {id}: {why}"));
    move_on(ports, state, id, MessageState::Queued, event).await
}

async fn move_on(
    ports: &Ports,
    state: &mut SessionState,
    message: MessageId,
    to: MessageState,
    event: (EventKind, String),
) -> Result<()> {
    move_on_with(ports, state, (message, to), event, Vec::new()).await
}

async fn move_on_with(
    ports: &Ports,
    state: &mut SessionState,
    (message, to): (MessageId, MessageState),
    (kind, text): (EventKind, String),
    along: Vec<Change>,
) -> Result<()> {
    let event = state.event(ports, kind, text);
    let mut changes = vec![Change::SetMessage { message, state: to, at: event.at }];
    changes.extend(along);
    failpoint::hit("message.settle.before");
    state.commit(ports, Commit { changes, events: vec![event] }).await?;
    failpoint::hit("message.settle.after");
    Ok(())
}

/// Looks for the message in what was said since it was put on its way.
fn look_for(
    ports: &Ports,
    state: &SessionState,
    vendor: &dyn Vendor,
    (id, text, trace): (MessageId, &str, &Trace),
) -> Transcript {
    let now = state.vendor_session();
    let Some(then) = trace.conversation.as_ref().or(now) else { return Transcript::CannotTell };
    let said = if state.session.headless {
        Ok(launch::said(ports, trace.launch, text))
    } else {
        launch::said_later(ports, trace.launch, id, text)
    };
    let Ok(said) = said else { return Transcript::CannotTell };
    // What goes by the command line is recorded as it is, or in the form of what is typed.
    let mut wanted = vec![vendor.typing(&said).recorded_as];
    wanted.extend(Some(said).filter(|_| state.session.headless));
    let found = look_in(ports, state, vendor, ((then, trace.offset), &wanted));
    // The agent may have gone to a conversation of which nobody knew until this was said in it.
    let next = now.filter(|now| *now != then && found != Transcript::HasIt);
    match next.map(|next| look_in(ports, state, vendor, ((next, 0), &wanted))) {
        Some(Transcript::HasIt) => Transcript::HasIt,
        _ => found,
    }
}

/// Looks for a message in all of its session's conversation, whenever it was said.
pub(crate) fn anywhere(
    ports: &Ports,
    state: &SessionState,
    message: &Message,
) -> Result<Transcript> {
    let vendor = ports.vendors.of(&state.session)?;
    let mut wanted = vec![message.text.clone(), vendor.typing(&message.text).recorded_as];
    // A long message was written to a file, of which the agent was told.
    wanted.extend(
        state.launches.iter().flat_map(|launch| launch::file_told_of(ports, launch.id, message.id)),
    );
    let look = |id| look_in(ports, state, vendor.as_ref(), ((id, 0), &wanted));
    let mut all = state.bindings.iter().map(|binding| look(&binding.vendor_session));
    if all.any(|found| found == Transcript::HasIt) {
        return Ok(Transcript::HasIt);
    }
    Ok(state.vendor_session().map_or(Transcript::CannotTell, look))
}

fn look_in(
    ports: &Ports,
    state: &SessionState,
    vendor: &dyn Vendor,
    ((conversation, offset), wanted): ((&VendorSessionId, u64), &[String]),
) -> Transcript {
    let files = ports.files.as_ref();
    let extent = vendor.extent(files, &state.place(), conversation);
    // One that is gone has nothing, which proves nothing: it may have been written to all the same.
    let is_gone = extent.is_none() && state.session.spoke;
    if is_gone || extent.unwrap_or(0) < offset {
        return Transcript::CannotTell;
    }
    match vendor.said_since(files, &state.place(), conversation, offset) {
        Ok(said) if said.iter().any(|it| is_one_of(it, wanted)) => Transcript::HasIt,
        Ok(_) => Transcript::HasItNot,
        Err(_) => Transcript::CannotTell,
    }
}

fn is_one_of(said: &str, wanted: &[String]) -> bool {
    wanted.iter().any(|it| it.trim() == said.trim())
}
