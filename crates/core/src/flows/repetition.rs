//! Notices work that repeats itself without a person, and records it.

use crate::error::Result;
use crate::failpoint;
use crate::flows::SessionState;
use crate::model::{
    EventPayload, ExchangedMessage, How, MessageSender, Repetition, RepetitionKind, Role, Session,
    SessionId, Status, VendorSessionId,
};
use crate::ports::{Change, Commit, Place, Ports};
use crate::rules::repetition::{CallScan, RepeatedCalls, WorkScan, exchanges};

/// For each message of an exchange, at most this many messages are read: several messages in the same
/// direction count once.
const READ_FACTOR: usize = 4;

/// At most this many entries of a turn are read to find out whether an agent has worked.
const MAX_READ_ENTRIES: usize = 200;

/// Reads the end of a session's transcript, only as far as its tool calls repeat. Returns the tool
/// calls that are repeated at least `limit` times. Blocks.
pub fn read_calls(
    ports: &Ports,
    session: &Session,
    conversation: &VendorSessionId,
    limit: usize,
) -> Result<Option<RepeatedCalls>> {
    let vendor = ports.vendors.of(session)?;
    let Some(transcripts) = vendor.transcripts() else { return Ok(None) };
    let files = ports.files.as_ref();
    let transcript = transcripts.transcript(files, &Place::of(session), conversation);
    let mut scan = CallScan::new(limit);
    transcripts.turns_back(files, &transcript, &mut |mut turn| {
        if turn.role == Role::ToolResult {
            turn.text = transcripts.repeatable_part(&turn.text).to_owned();
        }
        scan.read(&turn)
    })?;
    Ok(scan.finish())
}

/// Records which tool calls repeat now.
pub async fn record_calls(
    ports: &Ports,
    state: &mut SessionState,
    found: Option<RepeatedCalls>,
) -> Result<()> {
    let known = state.session.repetition.as_ref();
    let is_other = known.is_some_and(|it| it.kind == RepetitionKind::Messages);
    let is_same = known.map(|it| &it.what) == found.as_ref().map(|it| &it.what);
    if is_other || is_same || !expects_calls(state.session.status) {
        return Ok(());
    }
    let Some(found) = found else { return set(ports, state, None, false).await };
    let repetition = Repetition {
        kind: RepetitionKind::ToolCalls,
        what: found.what,
        times: u32::try_from(found.times).unwrap_or(u32::MAX),
        since: ports.clock.now(),
        other: None,
        is_known: false,
    };
    set(ports, state, Some(repetition), false).await
}

/// Returns whether a turn runs, in which tool calls can repeat.
pub fn expects_calls(status: Status) -> bool {
    matches!(status, Status::Working | Status::Starting | Status::Waiting(_))
        && status.expects_process()
}

/// Records that the work no longer repeats itself, because the turn is over or a person has ended the
/// agent.
pub async fn end_if_over(ports: &Ports, state: &mut SessionState) -> Result<()> {
    let status = state.session.status;
    let is_over = |repetition: &Repetition| match repetition.kind {
        RepetitionKind::ToolCalls => !expects_calls(status),
        RepetitionKind::Messages => matches!(status, Status::Ended(How::Stopped | How::Quit)),
    };
    match state.session.repetition.as_ref().is_some_and(is_over) {
        true => set(ports, state, None, false).await,
        false => Ok(()),
    }
}

/// Returns the commit that records that a person has acted on a session: messages that are held go on,
/// and repeated tool calls need no person any more.
pub fn seen_by_person(ports: &Ports, state: &SessionState) -> Commit {
    let known = state.session.repetition.clone().filter(|it| !it.is_known);
    let Some(known) = known else { return Commit::default() };
    let next = match known.kind {
        RepetitionKind::ToolCalls => Some(Repetition { is_known: true, ..known }),
        RepetitionKind::Messages => None,
    };
    change(ports, state, next, true)
}

/// Returns the commit that records that messages go back and forth between the session and the sender
/// of a new message. Empty if they do not, or if it is recorded already.
pub async fn exchange(
    ports: &Ports,
    state: &SessionState,
    sender: MessageSender,
    limit: Option<usize>,
) -> Result<Commit> {
    let (own, other) = (state.session.id, sender.session);
    let known = state.session.repetition.as_ref();
    let is_known = known.is_some_and(|it| it.kind == RepetitionKind::Messages);
    let Some(limit) = limit.filter(|_| other != own && !is_known) else {
        return Ok(Commit::default());
    };
    let read = u32::try_from(limit.saturating_mul(READ_FACTOR)).unwrap_or(u32::MAX);
    let mut messages = vec![ExchangedMessage { to: own, sender: Some(sender) }];
    messages.extend(ports.store.exchanged_messages((own, other), read).await?);
    let times = exchanges(&messages);
    if times < limit {
        return Ok(Commit::default());
    }
    let address = ports.store.session(other).await?.map_or(other.to_string(), |it| it.address());
    let repetition = Repetition {
        kind: RepetitionKind::Messages,
        what: format!("messages went back and forth with `{address}`"),
        times: u32::try_from(times).unwrap_or(u32::MAX),
        since: ports.clock.now(),
        other: Some(other),
        is_known: false,
    };
    Ok(change(ports, state, Some(repetition), false))
}

/// Returns the sender of a message that an agent sends now. Reads the end of the transcript of the
/// agent. If it cannot be read, the agent counts as one that has worked.
pub async fn sender(ports: &Ports, session: &Session) -> MessageSender {
    let bindings = ports.store.bindings(session.id).await.unwrap_or_default();
    let conversation = bindings.last().map(|binding| &binding.vendor_session);
    let has_worked = conversation.is_none_or(|id| has_worked(ports, session, id).unwrap_or(true));
    MessageSender { session: session.id, has_worked }
}

/// Returns the sender of a report that a session has made, if the session exists.
pub async fn sender_of(ports: &Ports, session: Option<SessionId>) -> Option<MessageSender> {
    let session = ports.store.session(session?).await.ok()??;
    Some(sender(ports, &session).await)
}

fn has_worked(ports: &Ports, session: &Session, conversation: &VendorSessionId) -> Option<bool> {
    let vendor = ports.vendors.of(session).ok()?;
    let transcripts = vendor.transcripts()?;
    let files = ports.files.as_ref();
    let transcript = transcripts.transcript(files, &Place::of(session), conversation);
    let (mut scan, mut left) = (WorkScan::default(), MAX_READ_ENTRIES);
    let read = transcripts.turns_back(files, &transcript, &mut |turn| {
        left -= 1;
        if left == 0 { std::ops::ControlFlow::Break(()) } else { scan.read(&turn) }
    });
    read.ok().map(|()| scan.has_worked())
}

async fn set(
    ports: &Ports,
    state: &mut SessionState,
    repetition: Option<Repetition>,
    by_person: bool,
) -> Result<()> {
    let commit = change(ports, state, repetition, by_person);
    failpoint::hit("repetition.commit.before");
    state.commit(ports, commit).await?;
    failpoint::hit("repetition.commit.after");
    Ok(())
}

fn change(
    ports: &Ports,
    state: &SessionState,
    repetition: Option<Repetition>,
    by_person: bool,
) -> Commit {
    let payload = match (&repetition, &state.session.repetition) {
        (Some(new), _) if !new.is_known => Some(EventPayload::RepetitionFound {
            kind: new.kind,
            what: new.what.clone(),
            times: new.times,
        }),
        // A person has been told already that it goes on.
        (None, Some(old)) if old.is_known => None,
        (_, Some(old)) => Some(EventPayload::RepetitionOver { kind: old.kind, by_person }),
        (_, None) => None,
    };
    let session = state.session.id;
    let change = Change::SetRepetition { session, repetition: repetition.map(Box::new) };
    let events = payload.map(|payload| state.event(ports, payload)).into_iter().collect();
    Commit { changes: vec![change], events }
}
