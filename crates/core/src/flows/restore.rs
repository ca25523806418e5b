//! Brings a session back as `rules::recovery` decided.

mod explain;

use std::path::{Path, PathBuf};

use crate::api::Outcome;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::launch::{self, LaunchRequest};
use crate::flows::look::{self, ObservedSession};
use crate::flows::{SessionState, conversation, elsewhere, last_output, put_back};
use crate::model::{
    Binding, Environment, EventPayload, Evidence, Launch, LaunchMode, MessageId, Status,
    VendorSessionId,
};
use crate::ports::{Change, Commit, Guarded, Ports, TranscriptFiles};
use crate::rules::recovery::{self, Decision, FolderPresence, ResumeRefusal, TurnState};

use explain::refusal_error;

pub use explain::plan;

/// Message to an agent whose turn was interrupted. It is not sent in any other case.
const NUDGE: &str = "Your process ended in the middle of this turn and was started again. \
                     Look at what is already done, then go on.";

/// The note about a session whose folder was gone.
const WORKTREE_MADE: &str = "its worktree was made again";

/// The result of carrying out a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// No process had to be started.
    NothingStarted {
        outcome: Outcome,
        note: Option<String>,
    },
    /// A process was started. The outcome is confirmed when the process shows its conversation.
    Launched {
        outcome: Outcome,
        note: Option<String>,
    },
    Refused {
        error: Error,
    },
}

/// Carries out a decision, up to the start of a process. The process is not observed here.
pub async fn carry_out(
    ports: &Ports,
    state: &mut SessionState,
    observed: &ObservedSession,
    decision: Decision,
    environment: Environment,
) -> Result<Done> {
    let done = act(ports, state, observed, decision, environment).await?;
    Ok(match observed.facts.folder {
        FolderPresence::GoneWorktree => with_worktree_note(done),
        FolderPresence::There | FolderPresence::Gone => done,
    })
}

/// Adds to a started process that the folder of its worktree was made again.
pub fn with_worktree_note(done: Done) -> Done {
    match done {
        Done::Launched { outcome, note } => {
            let notes = [Some(WORKTREE_MADE.to_owned()), note].into_iter().flatten();
            Done::Launched { outcome, note: Some(notes.collect::<Vec<_>>().join("; ")) }
        }
        done => done,
    }
}

async fn act(
    ports: &Ports,
    state: &mut SessionState,
    observed: &ObservedSession,
    decision: Decision,
    environment: Environment,
) -> Result<Done> {
    match decision {
        Decision::Attach => Ok(nothing_started(Outcome::Running, None)),
        Decision::Rest { .. } => {
            set_idle(ports, state).await?;
            Ok(nothing_started(
                Outcome::Resumed,
                Some("headless and between turns: nothing to start"),
            ))
        }
        Decision::Resume { id } => {
            resume(ports, state, observed, (id, None), environment).await?;
            Ok(launched(Outcome::Resumed, None))
        }
        Decision::Restore { id, from } => {
            let import = put_back::restore(ports, state, &id, from).await?;
            let note = Some(put_back::note(from));
            let observed = with_conversation(ports, state, observed, &id)?;
            if is_between_turns(state, &observed, import.as_deref()) {
                set_idle(ports, state).await?;
                return Ok(nothing_started(Outcome::Restored, note));
            }
            resume(ports, state, &observed, (id, import), environment).await?;
            Ok(launched(Outcome::Restored, note))
        }
        Decision::Adopt { id } => {
            adopt(ports, state, &id).await?;
            let observed = with_conversation(ports, state, observed, &id)?;
            resume(ports, state, &observed, (id, None), environment).await?;
            Ok(launched(Outcome::Adopted, Some("the only conversation that can belong to it")))
        }
        Decision::StartAgain => {
            start_again(ports, state, environment).await?;
            Ok(launched(Outcome::Started, Some("its conversation was empty")))
        }
        Decision::Fresh => {
            start_new_conversation(ports, state, environment, Vec::new()).await?;
            Ok(launched(Outcome::Fresh, Some("its vendor cannot resume")))
        }
        Decision::Refuse(refusal) => {
            let error = refusal_error(state, &refusal);
            let error = match refusal {
                ResumeRefusal::GaveUp => {
                    let causes = last_output::why_not_running(ports, state);
                    causes.into_iter().fold(error, Error::caused_by)
                }
                ResumeRefusal::TranscriptGone { id } => {
                    set_status(ports, state, Status::Lost).await?;
                    elsewhere::add_hints(ports, state, (&id, &environment), error).await?
                }
                _ => error,
            };
            Ok(Done::Refused { error })
        }
    }
}

/// Starts the next turn of a headless session with its oldest queued message, if its conversation
/// can be continued.
pub async fn next_turn(
    ports: &Ports,
    state: &mut SessionState,
    observed: &ObservedSession,
    decision: Decision,
    environment: Environment,
) -> Result<Done> {
    let next = state.next_message();
    let Some((queued_message, text)) = next.map(|message| (message.id, message.text.clone()))
    else {
        return Ok(nothing_started(Outcome::Resumed, None));
    };
    let mut import = None;
    let (mode, id) = match decision {
        Decision::Rest { id } | Decision::Resume { id } => (LaunchMode::Resume, Some(id)),
        Decision::Restore { id, from } => {
            import = put_back::restore(ports, state, &id, from).await?;
            (LaunchMode::Resume, Some(id))
        }
        Decision::StartAgain | Decision::Fresh => {
            let vendor = ports.vendors.of(&state.session)?;
            (LaunchMode::Fresh, vendor.launching().preset_id(&state.session, ports.clock.new_id()))
        }
        other => return carry_out(ports, state, observed, other, environment).await,
    };
    if let Some(id) = id.as_ref().filter(|_| mode == LaunchMode::Resume) {
        repair_transcript(ports, state, id)?;
    }
    let request = LaunchRequest {
        message: Some(text),
        import,
        queued_message: Some(queued_message),
        ..LaunchRequest::new(mode, id, environment)
    };
    launch::start(ports, state, request).await?;
    Ok(launched(Outcome::Resumed, None))
}

/// Returns whether a headless session whose conversation was restored is between turns. A
/// conversation that the vendor's program has yet to import cannot be read. Then the last status of
/// the session decides.
fn is_between_turns(
    state: &SessionState,
    observed: &ObservedSession,
    import: Option<&Path>,
) -> bool {
    match import {
        Some(_) => state.session.headless && state.session.status == Status::Idle,
        None => look::turn(state, observed.conversation.as_ref()) == TurnState::Over,
    }
}

/// Sets the status of a headless session to idle if the end of its last turn was not observed.
async fn set_idle(ports: &Ports, state: &mut SessionState) -> Result<()> {
    set_status(ports, state, Status::Idle).await
}

/// Records whether the conversation of a session was found: sets the status to lost, or back to
/// interrupted.
pub async fn record_look(
    ports: &Ports,
    state: &mut SessionState,
    decision: &Decision,
) -> Result<()> {
    match recovery::status_after_look(state.session.status, decision) {
        Some(status) if state.open().is_none() => set_status(ports, state, status).await,
        _ => Ok(()),
    }
}

async fn set_status(ports: &Ports, state: &mut SessionState, status: Status) -> Result<()> {
    if state.session.status == status {
        return Ok(());
    }
    let (change, event) = state.status_change(ports, status);
    state.commit(ports, Commit { changes: vec![change], events: vec![event] }).await
}

fn nothing_started(outcome: Outcome, note: Option<&str>) -> Done {
    Done::NothingStarted { outcome, note: note.map(str::to_owned) }
}

fn launched(outcome: Outcome, note: Option<&str>) -> Done {
    Done::Launched { outcome, note: note.map(str::to_owned) }
}

async fn resume(
    ports: &Ports,
    state: &mut SessionState,
    observed: &ObservedSession,
    (id, import): (VendorSessionId, Option<PathBuf>),
    environment: Environment,
) -> Result<()> {
    repair_transcript(ports, state, &id)?;
    let message = message_for(state, observed);
    let queued_message =
        message.as_deref().and_then(|message| queued_message_with_text(state, message));
    let request =
        LaunchRequest { message, import, queued_message, ..LaunchRequest::resume(id, environment) };
    launch::start(ports, state, request).await?;
    Ok(())
}

/// Restores missing parts of a conversation, and ends an incomplete last line, so that the vendor's
/// next record starts on a new line.
fn repair_transcript(ports: &Ports, state: &SessionState, id: &VendorSessionId) -> Result<()> {
    let vendor = ports.vendors.of(&state.session)?;
    let Some(transcript_files) = vendor.transcript_files() else { return Ok(()) };
    put_back::ancestors(ports, state, transcript_files, id)?;
    let transcript = transcript_files.transcript(ports.files.as_ref(), &state.place(), id);
    ports.files.end_last_line(&transcript).map_err(|error| {
        Error::internal(format!("cannot end the last line of `{}`", transcript.display()))
            .caused_by(error)
    })?;
    failpoint::hit("resume.repair.after");
    rename_transcript(ports, state, transcript_files, (id, &transcript))
}

/// Renames a transcript to the path at which it would be restored. This is safe because its process
/// is gone. It is needed because the next process may delete a transcript with another name.
fn rename_transcript(
    ports: &Ports,
    state: &SessionState,
    transcript_files: &dyn TranscriptFiles,
    (id, transcript): (&VendorSessionId, &Path),
) -> Result<()> {
    let name = transcript_files.restored_as(ports.files.as_ref(), &state.place(), id);
    let Some(launch) = state.launches.last().filter(|_| name != *transcript) else { return Ok(()) };
    let guarded = ports.folders.guard(launch.id, &name, transcript)?;
    if !matches!(guarded, Guarded::Linked | Guarded::Already) {
        return Ok(());
    }
    failpoint::hit("resume.rename.before");
    ports.files.remove(transcript).map_err(|error| {
        Error::internal(format!("cannot rename `{}`", transcript.display())).caused_by(error)
    })?;
    failpoint::hit("resume.rename.after");
    ports.folders.restore(launch.id, &name)
}

/// Returns the id of the queued message that a headless agent gets again.
fn queued_message_with_text(state: &SessionState, text: &str) -> Option<MessageId> {
    let next = state.next_message()?;
    (state.session.headless && next.text == text).then_some(next.id)
}

/// Returns the message for a resumed agent. If its turn was interrupted, the message asks it to
/// continue. A headless agent that ended before its message was in the transcript gets that message
/// again.
fn message_for(state: &SessionState, observed: &ObservedSession) -> Option<String> {
    if observed.conversation.as_ref().is_some_and(|conversation| conversation.turn_open) {
        return Some(NUDGE.to_owned());
    }
    let last = state.launches.last().and_then(|launch| launch.message.clone());
    last.filter(|_| state.session.headless)
}

fn with_conversation(
    ports: &Ports,
    state: &SessionState,
    observed: &ObservedSession,
    id: &VendorSessionId,
) -> Result<ObservedSession> {
    let vendor = ports.vendors.of(&state.session)?;
    let conversation = conversation::read(ports, vendor.as_ref(), &state.place(), id)?;
    Ok(ObservedSession { facts: observed.facts.clone(), conversation })
}

async fn adopt(ports: &Ports, state: &mut SessionState, id: &VendorSessionId) -> Result<()> {
    let binding = Binding {
        session: state.session.id,
        launch: None,
        vendor_session: id.clone(),
        evidence: Evidence::Discovered,
        at: ports.clock.now(),
    };
    let (vendor_session, evidence) = (id.clone(), Evidence::Discovered);
    let events = vec![state.event(ports, EventPayload::Bound { vendor_session, evidence })];
    let changes =
        vec![Change::AddBinding(binding), Change::MarkHasContent { session: state.session.id }];
    state.commit(ports, Commit { changes, events }).await?;
    failpoint::hit("adopt.commit.after");
    Ok(())
}

/// Starts an empty conversation again, with the message and the id of the launch that began it. If
/// the agent had switched to this conversation from another one, no message is sent, because the
/// message belongs to the other conversation.
async fn start_again(
    ports: &Ports,
    state: &mut SessionState,
    environment: Environment,
) -> Result<()> {
    let first = state.launches.iter().rposition(|launch| launch.mode == LaunchMode::Fresh);
    let since = first.map_or(&[][..], |first| &state.launches[first..]);
    if was_in_another_conversation(state, since) {
        let vendor = ports.vendors.of(&state.session)?;
        let accepts_ids =
            vendor.launching().preset_id(&state.session, ports.clock.new_id()).is_some();
        let id = match state.vendor_session().filter(|_| accepts_ids).cloned() {
            Some(id) => unused_id(ports, state, id)?,
            None => None,
        };
        return start_fresh(ports, state, (id, None), environment, Vec::new()).await;
    }
    let message = since.first().and_then(|launch| launch.message.clone());
    let planned = since.first().and_then(|launch| launch.planned.clone());
    let id = match planned {
        Some(id) => unused_id(ports, state, id)?,
        None => None,
    };
    start_fresh(ports, state, (id, message), environment, Vec::new()).await
}

/// Returns this id, or a new one if the transcript's path is taken: vendors do not start a
/// conversation if a killed process left a file there.
fn unused_id(
    ports: &Ports,
    state: &SessionState,
    id: VendorSessionId,
) -> Result<Option<VendorSessionId>> {
    let vendor = ports.vendors.of(&state.session)?;
    // Without transcripts nothing shows whether the id is in use.
    let transcripts = vendor.transcripts();
    if transcripts.is_some_and(|it| it.is_free(ports.files.as_ref(), &state.place(), &id)) {
        return Ok(Some(id));
    }
    Ok(vendor.launching().preset_id(&state.session, ports.clock.new_id()))
}

/// Returns whether these launches were in another conversation before the one that is bound now.
fn was_in_another_conversation(state: &SessionState, launches: &[Launch]) -> bool {
    let is_of_launches = |it: &&Binding| launches.iter().any(|launch| it.launch == Some(launch.id));
    let is_other = |it: &Binding| Some(&it.vendor_session) != state.vendor_session();
    state.bindings.iter().filter(is_of_launches).any(is_other)
}

/// Starts a new conversation. The bindings of the old one are kept. `same_commit` is committed with
/// the launch.
pub async fn start_new_conversation(
    ports: &Ports,
    state: &mut SessionState,
    environment: Environment,
    same_commit: Vec<Change>,
) -> Result<()> {
    let vendor = ports.vendors.of(&state.session)?;
    let id = vendor.launching().preset_id(&state.session, ports.clock.new_id());
    start_fresh(ports, state, (id, None), environment, same_commit).await
}

async fn start_fresh(
    ports: &Ports,
    state: &mut SessionState,
    (id, message): (Option<VendorSessionId>, Option<String>),
    environment: Environment,
    same_commit: Vec<Change>,
) -> Result<()> {
    let queued_message =
        message.as_deref().and_then(|message| queued_message_with_text(state, message));
    let same_commit = Commit { changes: same_commit, events: Vec::new() };
    let request = LaunchRequest {
        message,
        queued_message,
        same_commit,
        ..LaunchRequest::fresh(id, environment)
    };
    launch::start(ports, state, request).await?;
    Ok(())
}
