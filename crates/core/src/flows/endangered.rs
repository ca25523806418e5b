//! Protects transcripts of other conversations that the start of a vendor's program may delete.
//! They are guarded before the start and restored after it.

use std::path::Path;

use crate::error::Result;
use crate::flows::SessionState;
use crate::model::{EventPayload, LaunchId, RestoreSource};
use crate::ports::{Commit, Guarded, Ports};

/// Guards the transcripts that the start of this launch may delete. A transcript that cannot be
/// guarded does not prevent the start.
pub(crate) fn guard(ports: &Ports, state: &mut SessionState, launch: LaunchId) -> Result<()> {
    let vendor = ports.vendors.of(&state.session)?;
    let transcript_files = vendor.transcript_files();
    let endangered = transcript_files
        .map(|transcript_files| transcript_files.endangered(ports.files.as_ref(), &state.place()));
    let mut endangered = endangered.unwrap_or_default();
    endangered.retain(|path| {
        let guarded = ports.folders.guard(launch, path, path);
        matches!(guarded, Ok(Guarded::Linked | Guarded::Already))
    });
    state.endangered = endangered;
    Ok(())
}

/// Restores the transcripts that the start deleted, and keeps the text that their vendor processes
/// have appended since. A transcript that cannot be restored stays in its guard, and the launch
/// continues.
pub async fn restore_deleted(
    ports: &Ports,
    state: &mut SessionState,
    launch: LaunchId,
) -> Result<()> {
    let mut events = Vec::new();
    for path in &state.endangered {
        if is_lost(ports, launch, path) {
            let payload = EventPayload::TranscriptRestored {
                what: path.display().to_string(),
                from: RestoreSource::OwnGuard,
                error: restore(ports, launch, path).err().map(|error| error.to_string()),
            };
            events.push(state.event(ports, payload));
        }
    }
    if events.is_empty() {
        return Ok(());
    }
    state.commit(ports, Commit { changes: Vec::new(), events }).await
}

/// Restores deleted transcripts for the last time and removes the guards. Called after the start: a
/// later deletion of a transcript is intentional.
pub async fn restore_and_unguard(
    ports: &Ports,
    state: &mut SessionState,
    launch: LaunchId,
) -> Result<()> {
    restore_deleted(ports, state, launch).await?;
    for path in std::mem::take(&mut state.endangered) {
        if !is_lost(ports, launch, &path) {
            ports.folders.unguard(launch, &path)?;
        }
    }
    Ok(())
}

fn is_lost(ports: &Ports, launch: LaunchId, path: &Path) -> bool {
    let is_gone = matches!(ports.files.facts(path), Ok(None));
    is_gone || ports.folders.lacks_beginning(launch, path, path)
}

fn restore(ports: &Ports, launch: LaunchId, path: &Path) -> Result<()> {
    if ports.folders.lacks_beginning(launch, path, path) {
        ports.folders.rejoin(launch, path, path)
    } else {
        ports.folders.restore(launch, path)
    }
}
