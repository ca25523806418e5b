//! Guards a transcript against deletion with a hard link in the launch folder.

use std::path::Path;

use crate::error::Result;
use crate::failpoint;
use crate::flows::SessionState;
use crate::model::{EventPayload, LaunchId, VendorSessionId};
use crate::ports::{Change, Commit, Guarded, Ports, TranscriptFiles, TranscriptStorage};

/// Guards the transcript of the session's current conversation if it exists, and records that the
/// conversation has content.
pub async fn guard_current(ports: &Ports, state: &mut SessionState) -> Result<()> {
    let Some(launch) = state.launches.last().map(|launch| launch.id) else { return Ok(()) };
    let Some(id) = state.vendor_session().cloned() else { return Ok(()) };
    let vendor = ports.vendors.of(&state.session)?;
    let Some(transcripts) = vendor.transcripts() else { return Ok(()) };
    // A vendor process that was killed right after its start leaves a transcript without content.
    // That is no conversation. A transcript that cannot be read is still guarded.
    if !state.session.has_content
        && let Ok(None) = transcripts.conversation(ports.files.as_ref(), &state.place(), &id)
    {
        return Ok(());
    }
    let transcript = transcripts.transcript(ports.files.as_ref(), &state.place(), &id);
    let guarded = match transcripts.storage() {
        TranscriptStorage::Files(transcript_files) => {
            link(ports, state, transcript_files, (launch, &id, &transcript))?
        }
        TranscriptStorage::Database(_) => Guarded::Already,
    };
    if guarded == Guarded::NoTranscript || state.session.has_content {
        return Ok(());
    }
    let mut commit = Commit::default();
    commit.changes.push(Change::MarkHasContent { session: state.session.id });
    if guarded == Guarded::OtherFilesystem {
        let path = transcript.display().to_string();
        commit.events.push(state.event(ports, EventPayload::TranscriptUnguarded { path }));
    }
    state.commit(ports, commit).await?;
    failpoint::hit("guard.content.after");
    // If the store is rebuilt from this record, it must know that a missing transcript is a loss.
    state.write_record(ports)
}

/// Guards a transcript and the files that accompany it.
fn link(
    ports: &Ports,
    state: &SessionState,
    transcript_files: &dyn TranscriptFiles,
    (launch, id, transcript): (LaunchId, &VendorSessionId, &Path),
) -> Result<Guarded> {
    let name = transcript_files.restored_as(ports.files.as_ref(), &state.place(), id);
    let guarded = ports.folders.guard(launch, &name, transcript)?;
    failpoint::hit("guard.link.after");
    if let Some(folder) = transcript_files.companion_folder(&state.place(), id) {
        ports.folders.guard_companions(launch, &folder)?;
    }
    Ok(guarded)
}
