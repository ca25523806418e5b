//! The first line of defence: a hard link to the live transcript in the launch folder.

use crate::error::Result;
use crate::failpoint;
use crate::flows::SessionState;
use crate::model::EventKind;
use crate::ports::{Change, Commit, Guarded, Ports};

/// Guards the transcript of the conversation that the session is in, if there is one yet, and
/// remembers that something was said.
pub async fn keep(ports: &Ports, state: &mut SessionState) -> Result<()> {
    let Some(launch) = state.launches.last().map(|launch| launch.id) else { return Ok(()) };
    let Some(id) = state.vendor_session().cloned() else { return Ok(()) };
    let vendor = ports.vendors.of(&state.session)?;
    if !vendor.keeps_transcripts() {
        return Ok(());
    }
    // A vendor that was killed at its beginning leaves a file with nothing in it: no conversation.
    // One that cannot be read is guarded all the same.
    if !state.session.spoke
        && let Ok(None) = vendor.conversation(ports.files.as_ref(), &state.place(), &id)
    {
        return Ok(());
    }
    let transcript = vendor.transcript(ports.files.as_ref(), &state.place(), &id);
    let guarded = if vendor.has_own_files() {
        let name = vendor.restored_as(ports.files.as_ref(), &state.place(), &id);
        ports.folders.guard(launch, &name, &transcript)?
    } else {
        Guarded::Already
    };
    failpoint::hit("guard.link.after");
    if let Some(folder) = vendor.belongings(&state.place(), &id) {
        ports.folders.guard_belongings(launch, &folder)?;
    }
    if guarded == Guarded::NoTranscript || state.session.spoke {
        return Ok(());
    }
    let mut commit = Commit::default();
    commit.changes.push(Change::MarkSpoke { session: state.session.id });
    if guarded == Guarded::OtherFilesystem {
        let text = format!("{} is on another filesystem: no guard", transcript.display());
        commit.events.push(state.event(ports, EventKind::TranscriptUnguarded, text));
    }
    state.commit(ports, commit).await?;
    failpoint::hit("guard.spoke.after");
    // A store that is rebuilt from this record must know that there is something to lose.
    state.write_record(ports)
}
