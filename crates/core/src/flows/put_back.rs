//! Restores a missing conversation from a guard or from the archive.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::SessionState;
use crate::flows::archive::archive_key;
use crate::model::{EventPayload, LaunchId, RestoreSource, VendorSessionId};
use crate::ports::{Commit, Ports, RestoreOrder, TranscriptFiles, WriteMode};
use crate::rules::recovery::CopyLocation;

/// Restores the transcript and the files that accompany it. For a vendor without transcript files,
/// returns the path of a document that the vendor's program must import.
pub(super) async fn restore(
    ports: &Ports,
    state: &mut SessionState,
    id: &VendorSessionId,
    from: CopyLocation,
) -> Result<Option<PathBuf>> {
    let (what, import) = match from {
        CopyLocation::Guard(launch) => (from_guard(ports, state, id, launch)?, None),
        CopyLocation::Archive => from_archive(ports, state, id)?,
    };
    let from = match from {
        CopyLocation::Guard(launch) => RestoreSource::Guard(launch),
        CopyLocation::Archive => RestoreSource::Archive,
    };
    let payload = EventPayload::TranscriptRestored { what, from, error: None };
    let events = vec![state.event(ports, payload)];
    state.commit(ports, Commit { changes: Vec::new(), events }).await?;
    Ok(import)
}

/// Returns a note for the user about the source of a restored transcript.
pub(super) fn note(from: CopyLocation) -> &'static str {
    match from {
        CopyLocation::Guard(_) => "the transcript was missing; it was restored from its guard",
        CopyLocation::Archive => "the transcript was missing; it was restored from the archive",
    }
}

/// Returns the path of the restored transcript.
fn from_guard(
    ports: &Ports,
    state: &SessionState,
    id: &VendorSessionId,
    launch: LaunchId,
) -> Result<String> {
    let vendor = ports.vendors.of(&state.session)?;
    let transcript_files = vendor.transcript_files().ok_or_else(|| {
        Error::internal(format!("`{}` has no transcript files, but a guard", vendor.id()))
    })?;
    let transcript = transcript_files.transcript(ports.files.as_ref(), &state.place(), id);
    let name = transcript_files.restored_as(ports.files.as_ref(), &state.place(), id);
    let appends = transcript_files.write_mode() == WriteMode::Append;
    failpoint::hit("restore.link.before");
    if appends && ports.folders.lacks_beginning(launch, &name, &transcript) {
        ports.folders.rejoin(launch, &name, &transcript)?;
    } else {
        ports.folders.restore(launch, &name)?;
    }
    failpoint::hit("restore.link.after");
    if let Some(folder) = transcript_files.companion_folder(&state.place(), id) {
        ports.folders.restore_companions(launch, &folder)?;
    }
    Ok(name.display().to_string())
}

/// Returns what was restored, and the document that the vendor's program must import.
fn from_archive(
    ports: &Ports,
    state: &SessionState,
    id: &VendorSessionId,
) -> Result<(String, Option<PathBuf>)> {
    let vendor = ports.vendors.of(&state.session)?;
    let conversation = archive_key(&state.session, id);
    let Some(transcript_files) = vendor.transcript_files() else {
        let missing = || Error::internal(format!("`{}` has no launch", state.session.address()));
        let launch = state.launches.last().ok_or_else(missing)?;
        let folder = ports.folders.folder(launch.id);
        let document = ports.archive.extract(&conversation, &folder)?;
        return Ok((format!("conversation {id}"), Some(document)));
    };
    let name = transcript_files.restored_as(ports.files.as_ref(), &state.place(), id);
    ports.archive.restore(&RestoreOrder {
        conversation,
        transcript: Some(name.clone()),
        companion_folder: transcript_files.companion_folder(&state.place(), id),
        config_dir: state.session.config_dir.clone(),
    })?;
    Ok((name.display().to_string(), None))
}

/// Restores missing transcripts of earlier conversations that this conversation continues. They
/// have no guards, so that only the archive has copies of them.
pub(super) fn ancestors(
    ports: &Ports,
    state: &SessionState,
    transcript_files: &dyn TranscriptFiles,
    id: &VendorSessionId,
) -> Result<()> {
    let conversation = archive_key(&state.session, id);
    let archived = ports.archive.ancestors(&conversation);
    if archived.is_empty() {
        return Ok(());
    }
    let files = ports.files.as_ref();
    let present =
        transcript_files.ancestors(files, &transcript_files.transcript(files, &state.place(), id));
    let is_present = |archived: &PathBuf| {
        let same = |path: &&PathBuf| path.file_name() == archived.file_name();
        let exists = |path: &Path| matches!(files.facts(path), Ok(Some(_)));
        present.iter().filter(same).any(|path| exists(path))
    };
    if archived.iter().all(is_present) {
        return Ok(());
    }
    let config_dir = state.session.config_dir.clone();
    let (transcript, companion_folder) = (None, None);
    ports.archive.restore(&RestoreOrder { conversation, transcript, companion_folder, config_dir })
}
