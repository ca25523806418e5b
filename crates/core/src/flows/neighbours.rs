//! Others' transcripts that a start may delete: guarded before it, put back after it.

use std::path::Path;

use crate::error::Result;
use crate::flows::SessionState;
use crate::model::{EventKind, LaunchId};
use crate::ports::{Commit, Guarded, Ports};

/// Guards what the start of this launch endangers. What cannot be guarded keeps nobody from starting.
pub(crate) fn guard(ports: &Ports, state: &mut SessionState, launch: LaunchId) -> Result<()> {
    let vendor = ports.vendors.of(&state.session)?;
    let mut endangered = vendor.endangered(ports.files.as_ref(), &state.place());
    endangered.retain(|path| {
        let guarded = ports.folders.guard(launch, path, path);
        matches!(guarded, Ok(Guarded::Linked | Guarded::Already))
    });
    state.endangered = endangered;
    Ok(())
}

/// Puts back what the start has deleted, with what its writer has said since. What cannot be put back
/// stays in its guard, and is no reason to end the launch.
pub async fn put_back(ports: &Ports, state: &mut SessionState, launch: LaunchId) -> Result<()> {
    let mut events = Vec::new();
    for path in &state.endangered {
        if is_lost(ports, launch, path) {
            let text = match restore(ports, launch, path) {
                Ok(()) => format!("{}, which the start had deleted", path.display()),
                Err(error) => format!("not {}: {error}", path.display()),
            };
            events.push(state.event(ports, EventKind::TranscriptRestored, text));
        }
    }
    if events.is_empty() {
        return Ok(());
    }
    state.commit(ports, Commit { changes: Vec::new(), events }).await
}

/// The start is over: from now on who deletes a transcript means it.
pub async fn leave(ports: &Ports, state: &mut SessionState, launch: LaunchId) -> Result<()> {
    put_back(ports, state, launch).await?;
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
