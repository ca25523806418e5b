//! Collects the facts that `rules::recovery` needs to decide about a session. Changes nothing.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::flows::{SessionState, archive, conversation, launch};
use crate::model::{How, Launch, LaunchId, Status, VendorId, VendorSessionId, WaitingFor};
use crate::ports::{
    Conversation, Live, Ports, SessionQuery, SessionSummary, TranscriptFiles, TranscriptStorage,
    Vendor, WriteMode,
};
use crate::rules::display::program_name;
use crate::rules::recovery::{
    FolderPresence, History, OpeningProcess, RecoveryFacts, ResumeCandidate, TranscriptLocation,
    TurnState, Unproven,
};

/// Whether the user named exactly this session, which counts as a decision, or selected many
/// sessions at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionMode {
    ByName,
    InBulk,
}

/// The facts about a session, and the data that are needed to carry out a decision.
#[derive(Clone, Debug)]
pub struct ObservedSession {
    pub facts: RecoveryFacts,
    /// The conversation of the proven id. `None` if its transcript is missing.
    pub conversation: Option<Conversation>,
}

/// Checks a session's processes, folder, bindings and transcript.
pub async fn look(
    ports: &Ports,
    state: &SessionState,
    selection: SelectionMode,
) -> Result<ObservedSession> {
    let vendor = ports.vendors.of(&state.session)?;
    let proven = state.vendor_session().cloned();
    let process = process(ports, state, vendor.as_ref(), proven.as_ref()).await?;
    let conversation = match &proven {
        Some(id) => conversation::read(ports, vendor.as_ref(), &state.place(), id)?,
        None => None,
    };
    let unproven = match &proven {
        Some(_) => Unproven::default(),
        None => unproven(ports, state, vendor.as_ref()).await?,
    };
    // Without transcripts it is unknown whether a conversation has content.
    let may_have_content = proven.is_some() && vendor.transcripts().is_none();
    // A symlink to another folder counts as missing: the vendor would not find the conversation
    // there.
    let folder = ports.machine.folder(&state.session.cwd);
    let folder = match folder.is_ok_and(|folder| folder.real_path == state.session.cwd) {
        true => FolderPresence::There,
        false if state.worktree.is_some() => FolderPresence::GoneWorktree,
        false => FolderPresence::Gone,
    };
    let facts = RecoveryFacts {
        process,
        folder,
        transcript: transcript(ports, state, vendor.as_ref(), conversation.as_ref()),
        has_content: state.session.has_content || conversation.is_some() || may_have_content,
        proven,
        unproven,
        vendor: vendor.capabilities().resume,
        turn: turn(state, conversation.as_ref()),
        history: history(state, selection),
    };
    Ok(ObservedSession { facts, conversation })
}

async fn process(
    ports: &Ports,
    state: &SessionState,
    vendor: &dyn Vendor,
    id: Option<&VendorSessionId>,
) -> Result<OpeningProcess> {
    if let Some(launch) = state.open()
        && let Some(held) = ports.holders.find(launch.id).await?
        && held.end.is_none()
    {
        return Ok(OpeningProcess::Ours);
    }
    let Some(id) = id else { return Ok(OpeningProcess::None) };
    let live = open_conversations(ports, state, vendor)?;
    Ok(foreign(ports, &state.launches, &live, id))
}

/// Lists the processes that report an open conversation in the session's place.
fn open_conversations(
    ports: &Ports,
    state: &SessionState,
    vendor: &dyn Vendor,
) -> Result<Vec<Live>> {
    match vendor.transcripts() {
        Some(transcripts) => transcripts.open_conversations(ports.files.as_ref(), &state.place()),
        None => Ok(Vec::new()),
    }
}

/// Returns a process that has conversation `id` open and does not belong to one of these launches.
pub(crate) fn foreign(
    ports: &Ports,
    launches: &[Launch],
    live: &[Live],
    id: &VendorSessionId,
) -> OpeningProcess {
    let mut with_id = live.iter().filter(|live| live.id == *id);
    let foreign = with_id.find(|live| is_foreign(ports, launches, live));
    foreign.map_or(OpeningProcess::None, |live| OpeningProcess::Foreign {
        pid: live.pid,
        command: program_name(&ports.machine.describe(live.pid).unwrap_or_default()),
    })
}

/// Returns whether a process that reports the conversation as open is alive and is not a leftover
/// of one of these launches.
fn is_foreign(ports: &Ports, launches: &[Launch], live: &Live) -> bool {
    let Some(process) = ports.machine.process(live.pid) else { return false };
    if live.started.is_some_and(|started| started != process.started) {
        return false;
    }
    let is_ours = |mark: LaunchId| launches.iter().any(|launch| launch.id == mark);
    !ports.machine.mark(live.pid).is_some_and(is_ours)
}

fn transcript(
    ports: &Ports,
    state: &SessionState,
    vendor: &dyn Vendor,
    conversation: Option<&Conversation>,
) -> TranscriptLocation {
    let Some(id) = state.vendor_session() else { return TranscriptLocation::Gone };
    let Some(transcripts) = vendor.transcripts() else {
        // Without transcripts this cannot be checked. The conversation counts as present if an
        // agent process that could have started it ever ran.
        let ran = state.launches.iter().any(|launch| launch.agent.is_some());
        return if ran { TranscriptLocation::There } else { TranscriptLocation::Gone };
    };
    let is_there = conversation.is_some();
    let guard = match transcripts.storage() {
        TranscriptStorage::Files(files) => guarded(ports, state, files, (id, is_there)),
        TranscriptStorage::Database(_) => None,
    };
    let is_there = is_there || launch::pending_import(ports, vendor, &state.session).is_some();
    match guard {
        Some(launch) => TranscriptLocation::Guarded(launch),
        None if is_there => TranscriptLocation::There,
        None if ports.archive.has(&archive::archive_key(&state.session, id)) => {
            TranscriptLocation::Archived
        }
        None => TranscriptLocation::Gone,
    }
}

/// Returns the newest launch whose guard has turns that the transcript lacks.
fn guarded(
    ports: &Ports,
    state: &SessionState,
    transcript_files: &dyn TranscriptFiles,
    (id, is_there): (&VendorSessionId, bool),
) -> Option<LaunchId> {
    let path = transcript_files.transcript(ports.files.as_ref(), &state.place(), id);
    let name = transcript_files.restored_as(ports.files.as_ref(), &state.place(), id);
    let guarding = |launch: &&Launch| ports.folders.has_guard(launch.id, &name);
    let newest = state.launches.iter().rev().find(guarding)?.id;
    let appends = transcript_files.write_mode() == WriteMode::Append;
    let lacks = || appends && ports.folders.lacks_beginning(newest, &name, &path);
    (!is_there || lacks()).then_some(newest)
}

/// Returns whether the last turn of a headless session was interrupted or is over. An interactive
/// session is started in both cases, so the difference does not matter.
pub(crate) fn turn(state: &SessionState, conversation: Option<&Conversation>) -> TurnState {
    if !state.session.headless {
        return TurnState::Interactive;
    }
    let is_interrupted = conversation.is_none_or(|conversation| conversation.turn_open);
    // If the end of the process was not observed, the transcript decides. A turn that is known to
    // have failed counts as interrupted, so that it is tried again.
    let has_failed = matches!(
        state.session.status,
        Status::Ended(How::TurnFailed | How::Failed(_) | How::Crashed(_))
    );
    if is_interrupted || has_failed { TurnState::Interrupted } else { TurnState::Over }
}

fn history(state: &SessionState, selection: SelectionMode) -> History {
    let gave_up = state.session.status == Status::Waiting(WaitingFor::Choice);
    if gave_up && selection == SelectionMode::InBulk {
        History::GaveUp
    } else {
        History::Unremarkable
    }
}

async fn unproven(ports: &Ports, state: &SessionState, vendor: &dyn Vendor) -> Result<Unproven> {
    let neighbours = neighbours(ports, state).await?;
    let bound = bound_conversations(ports, &neighbours).await?;
    let conversations = match vendor.transcripts() {
        Some(transcripts) => transcripts.conversations(ports.files.as_ref(), &state.place())?,
        None => Vec::new(),
    };
    let live = open_conversations(ports, state, vendor)?;
    let candidates = conversations
        .iter()
        .filter(|it| !bound.contains(&(state.session.vendor.clone(), it.id.clone())))
        .map(|it| candidate(ports, state, it, foreign(ports, &state.launches, &live, &it.id)))
        .collect();
    let is_only_session = neighbours.iter().all(|it| it.binding.is_some() || it.launches == 0);
    Ok(Unproven { is_only_session, candidates })
}

/// Returns the other sessions with the same vendor, config dir and folder.
async fn neighbours(ports: &Ports, state: &SessionState) -> Result<Vec<SessionSummary>> {
    let own = &state.session;
    let query = SessionQuery {
        vendor: Some(own.vendor.clone()),
        config_dir: Some(own.config_dir.clone()),
        cwd: Some(own.cwd.clone()),
        ..SessionQuery::default()
    };
    let mut sessions = ports.store.sessions(&query).await?;
    sessions.retain(|it| it.session.id != own.id);
    Ok(sessions)
}

/// Returns every conversation that these sessions are or were bound to. Two vendors can use the
/// same id.
pub(crate) async fn bound_conversations(
    ports: &Ports,
    sessions: &[SessionSummary],
) -> Result<BTreeSet<(VendorId, VendorSessionId)>> {
    let mut bound = BTreeSet::new();
    for SessionSummary { session, .. } in sessions {
        for binding in ports.store.bindings(session.id).await? {
            bound.insert((session.vendor.clone(), binding.vendor_session));
        }
    }
    Ok(bound)
}

fn candidate(
    ports: &Ports,
    state: &SessionState,
    conversation: &Conversation,
    process: OpeningProcess,
) -> ResumeCandidate {
    let began = conversation.began_at;
    let during = |launch: &Launch| {
        launch.created_at <= began && began <= launch.end.map_or(ports.clock.now(), |end| end.at)
    };
    let first_message = conversation.first_message.as_deref();
    let is_ours = |launch: &Launch| {
        let message = launch.message.as_deref();
        message.is_some_and(|message| {
            first_message == Some(&launch::command_line_text(ports, launch.id, message))
        })
    };
    let first_words: String = first_message.unwrap_or("(no message)").chars().take(60).collect();
    ResumeCandidate {
        id: conversation.id.clone(),
        began_during_launch: state.launches.iter().any(during),
        first_message_is_ours: state.launches.iter().any(is_ours),
        process,
        description: format!("{began:.0}: {first_words}"),
    }
}
