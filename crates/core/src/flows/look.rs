//! Looking at everything that a decision about a session needs. Nothing here changes anything.

use crate::error::Result;
use crate::flows::{SessionState, archive, launch};
use crate::model::{How, Launch, LaunchId, Status, VendorSessionId, WaitingFor};
use crate::ports::{Conversation, Live, Ports, SessionSummary, Vendor};
use crate::rules::display::program_name;
use crate::rules::recovery::{
    Candidate, History, Place, Process, Resumes, Seen, Transcript, Turn, Unproven,
};

/// Whether a person asked for this very session, which is a choice, or for many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    ByName,
    InBulk,
}

/// What was seen, and what is needed to act on it.
#[derive(Clone, Debug)]
pub struct Sight {
    pub seen: Seen,
    /// The conversation of the proven id, where its transcript is there.
    pub conversation: Option<Conversation>,
}

/// Looks at a session's processes, folder, ledger and transcript.
pub async fn look(ports: &Ports, state: &SessionState, asked: Asked) -> Result<Sight> {
    let vendor = ports.vendors.of(&state.session)?;
    let proven = state.vendor_session().cloned();
    let process = process(ports, state, vendor.as_ref(), proven.as_ref()).await?;
    let conversation = match &proven {
        Some(id) => vendor.conversation(ports.files.as_ref(), &state.place(), id)?,
        None => None,
    };
    let unproven = match proven {
        Some(_) => Unproven::default(),
        None => unproven(ports, state, vendor.as_ref()).await?,
    };
    // A link to another folder is not the place in which the vendor would look.
    let there = ports.machine.folder(&state.session.cwd);
    let there = there.is_ok_and(|folder| folder.real_path == state.session.cwd);
    let seen = Seen {
        process,
        folder: if there { Place::There } else { Place::Gone },
        transcript: transcript(ports, state, vendor.as_ref(), conversation.as_ref()),
        spoke: state.session.spoke || conversation.is_some(),
        proven,
        unproven,
        vendor: if vendor.capabilities().resume { Resumes::Yes } else { Resumes::No },
        turn: turn(state, conversation.as_ref()),
        history: history(state, asked),
    };
    Ok(Sight { seen, conversation })
}

async fn process(
    ports: &Ports,
    state: &SessionState,
    vendor: &dyn Vendor,
    id: Option<&VendorSessionId>,
) -> Result<Process> {
    if let Some(launch) = state.open()
        && let Some(held) = ports.holders.find(launch.id).await?
        && held.end.is_none()
    {
        return Ok(Process::Ours);
    }
    let Some(id) = id else { return Ok(Process::None) };
    let live = vendor.live(ports.files.as_ref(), &state.place())?;
    Ok(foreign(ports, &state.launches, &live, id))
}

/// Returns somebody else's process that has the conversation of a session with these launches open.
pub(crate) fn foreign(
    ports: &Ports,
    launches: &[Launch],
    live: &[Live],
    id: &VendorSessionId,
) -> Process {
    let mut claims = live.iter().filter(|live| live.id == *id);
    let foreign = claims.find(|live| is_foreign(ports, launches, live));
    foreign.map_or(Process::None, |live| Process::Foreign {
        pid: live.pid,
        command: program_name(&ports.machine.describe(live.pid).unwrap_or_default()),
    })
}

/// Tells whether a process that claims the conversation lives and is not a leftover of ours.
fn is_foreign(ports: &Ports, launches: &[Launch], live: &Live) -> bool {
    let Some(process) = ports.machine.process(live.pid) else { return false };
    if live.started.is_some_and(|started| started != process.started) {
        return false;
    }
    let ours = |mark: LaunchId| launches.iter().any(|launch| launch.id == mark);
    !ports.machine.mark(live.pid).is_some_and(ours)
}

fn transcript(
    ports: &Ports,
    state: &SessionState,
    vendor: &dyn Vendor,
    conversation: Option<&Conversation>,
) -> Transcript {
    let Some(id) = state.vendor_session() else { return Transcript::Gone };
    if !vendor.keeps_transcripts() {
        // Nobody can look: it is there if anything ran that can have begun it.
        let ran = state.launches.iter().any(|launch| launch.agent.is_some());
        return if ran { Transcript::There } else { Transcript::Gone };
    }
    let archived = || ports.archive.has(&archive::filed(&state.session, id));
    if !vendor.has_own_files() {
        let is_there = conversation.is_some()
            || launch::pending_import(ports, vendor, &state.session).is_some();
        return if is_there {
            Transcript::There
        } else if archived() {
            Transcript::Archived
        } else {
            Transcript::Gone
        };
    }
    let path = vendor.transcript(ports.files.as_ref(), &state.place(), id);
    let name = vendor.restored_as(ports.files.as_ref(), &state.place(), id);
    let guarding = |launch: &&Launch| ports.folders.has_guard(launch.id, &name);
    let newest = state.launches.iter().rev().find(guarding).map(|launch| launch.id);
    let lacks =
        |launch| vendor.only_appends() && ports.folders.lacks_beginning(launch, &name, &path);
    match newest {
        Some(launch) if conversation.is_none() || lacks(launch) => Transcript::Guarded(launch),
        _ if conversation.is_some() => Transcript::There,
        _ if archived() => Transcript::Archived,
        _ => Transcript::Gone,
    }
}

/// Tells where a headless session is between its turns.
pub(crate) fn turn(state: &SessionState, conversation: Option<&Conversation>) -> Turn {
    if !state.session.headless {
        return Turn::Interactive;
    }
    let cut = conversation.is_none_or(|conversation| conversation.turn_open);
    // Where nobody saw the process end the transcript decides; a turn that is known to have failed
    // is to be tried again.
    let failed = matches!(
        state.session.status,
        Status::Ended(How::TurnFailed | How::Failed(_) | How::Crashed(_))
    );
    if cut || failed { Turn::Cut } else { Turn::Over }
}

fn history(state: &SessionState, asked: Asked) -> History {
    let gave_up = state.session.status == Status::Waiting(WaitingFor::Choice);
    if gave_up && asked == Asked::InBulk { History::GaveUp } else { History::Unremarkable }
}

async fn unproven(ports: &Ports, state: &SessionState, vendor: &dyn Vendor) -> Result<Unproven> {
    let neighbours = neighbours(ports, state).await?;
    let claimed = claimed(ports, &neighbours).await?;
    let conversations = vendor.conversations(ports.files.as_ref(), &state.place())?;
    let live = vendor.live(ports.files.as_ref(), &state.place())?;
    let candidates = conversations
        .iter()
        .filter(|it| !claimed.contains(&it.id))
        .map(|it| candidate(ports, state, it, foreign(ports, &state.launches, &live, &it.id)))
        .collect();
    let only_one = neighbours.iter().all(|it| it.binding.is_some() || it.launches == 0);
    Ok(Unproven { only_one, candidates })
}

/// Returns the other sessions of the same vendor, config dir and folder.
async fn neighbours(ports: &Ports, state: &SessionState) -> Result<Vec<SessionSummary>> {
    let own = &state.session;
    let mut sessions = ports.store.sessions().await?;
    sessions.retain(|SessionSummary { session, .. }| {
        session.id != own.id
            && session.vendor == own.vendor
            && session.config_dir == own.config_dir
            && session.cwd == own.cwd
    });
    Ok(sessions)
}

/// Returns every id that these sessions have or had.
pub(crate) async fn claimed(
    ports: &Ports,
    sessions: &[SessionSummary],
) -> Result<Vec<VendorSessionId>> {
    let mut ids = Vec::new();
    for summary in sessions {
        let bindings = ports.store.bindings(summary.session.id).await?;
        ids.extend(bindings.into_iter().map(|binding| binding.vendor_session));
    }
    Ok(ids)
}

fn candidate(
    ports: &Ports,
    state: &SessionState,
    conversation: &Conversation,
    process: Process,
) -> Candidate {
    let began = conversation.began_at;
    let during = |launch: &Launch| {
        launch.created_at <= began && began <= launch.end.map_or(ports.clock.now(), |end| end.at)
    };
    let said = conversation.first_message.as_deref();
    let ours = |launch: &Launch| {
        let message = launch.message.as_deref();
        message.is_some_and(|message| said == Some(&launch::said(ports, launch.id, message)))
    };
    let first_words: String = said.unwrap_or("(nothing said)").chars().take(60).collect();
    Candidate {
        id: conversation.id.clone(),
        began_during_launch: state.launches.iter().any(during),
        first_message_is_ours: state.launches.iter().any(ours),
        process,
        description: format!("{began:.0}: {first_words}"),
    }
}
