//! Finds the files in which conversations can be read. The conversations are not read here because
//! they may be large.

use std::io;
use std::path::PathBuf;

use crate::api::ConversationPart;
use crate::error::{Error, Result};
use crate::flows::archive;
use crate::flows::elsewhere::known_config_dirs;
use crate::flows::view;
use crate::model::{Environment, Launch, Session, VendorId, VendorSessionId};
use crate::ports::{
    Conversation, Place, Ports, SessionQuery, SessionSummary, StoredConversation, Vendor,
};

/// Returns where the current conversation of a session can be read.
pub async fn of_session(ports: &Ports, summary: &SessionSummary) -> Result<ConversationPart> {
    let bound = summary.binding.as_ref().map(|binding| &binding.vendor_session);
    part(ports, summary, bound).await
}

/// Returns where the current or an earlier conversation of a session can be read.
pub async fn part(
    ports: &Ports,
    summary: &SessionSummary,
    id: Option<&VendorSessionId>,
) -> Result<ConversationPart> {
    let session = &summary.session;
    let vendor = ports.vendors.of(session)?;
    let launches = ports.store.launches(session.id).await?;
    let place = Place::of(session);
    let newest = summary.binding.as_ref().map(|binding| &binding.vendor_session);
    let found = id.and_then(|id| transcript(ports, vendor.as_ref(), (&place, id), &launches));
    let transcript = match (found, id) {
        (None, Some(id)) => unpack_archived(ports, session, id)?,
        (found, _) => found,
    };
    Ok(ConversationPart {
        session: Some(view::session(summary)),
        vendor: session.vendor.clone(),
        description: session.description.clone(),
        vendor_session_id: id.cloned(),
        transcript,
        config_dir: place.config_dir,
        cwd: place.cwd,
        has_content: session.has_content || id != newest,
        taken_over: None,
    })
}

/// Unpacks the archive's copy of a conversation for reading and returns the path of the transcript.
/// `None` if the archive has no copy.
fn unpack_archived(
    ports: &Ports,
    session: &Session,
    id: &VendorSessionId,
) -> Result<Option<PathBuf>> {
    let conversation = archive::archive_key(session, id);
    if !ports.archive.has(&conversation) {
        return Ok(None);
    }
    let folder = ports.folders.reading(session.id);
    ports.files.remove(&folder).map_err(|error| {
        Error::internal(format!("cannot delete `{}`", folder.display())).caused_by(error)
    })?;
    ports.archive.extract(&conversation, &folder).map(Some)
}

/// Returns the session that this conversation belongs or belonged to.
pub async fn owner(
    ports: &Ports,
    vendor: &VendorId,
    id: &VendorSessionId,
) -> Result<Option<SessionSummary>> {
    let sessions = ports.store.sessions(&SessionQuery::vendor_session(vendor, id)).await?;
    Ok(sessions.into_iter().next())
}

/// Reads the data that decisions about one conversation need. `None` if there is no conversation, or
/// if its vendor has no transcripts.
pub fn read(
    ports: &Ports,
    vendor: &dyn Vendor,
    place: &Place,
    id: &VendorSessionId,
) -> Result<Option<Conversation>> {
    match vendor.transcripts() {
        Some(transcripts) => transcripts.conversation(ports.files.as_ref(), place, id),
        None => Ok(None),
    }
}

/// Returns where a conversation that belongs to no session can be read. Searches all known config
/// folders of the vendor.
pub async fn without_session(
    ports: &Ports,
    environment: &Environment,
    (vendor, id): (&VendorId, &VendorSessionId),
) -> Result<ConversationPart> {
    let vendor = ports.vendors.get(vendor)?;
    for config_dir in known_config_dirs(ports, vendor.as_ref(), environment).await? {
        let stored = vendor.transcripts().map(|it| it.list(ports.files.as_ref(), &config_dir));
        let stored = stored.and_then(io::Result::ok).unwrap_or_default();
        if let Some(stored) = stored.into_iter().find(|stored| stored.id == *id) {
            return Ok(part_without_session(ports, vendor.as_ref(), config_dir, stored));
        }
    }
    Err(Error::not_found(format!("there is no conversation `{id}` of `{}`", vendor.id()))
        .hint(format!("run `segue adopt {}` to see which there are", vendor.id())))
}

fn part_without_session(
    ports: &Ports,
    vendor: &dyn Vendor,
    config_dir: PathBuf,
    stored: StoredConversation,
) -> ConversationPart {
    // If the beginning cannot be read, the end of the conversation may still be readable.
    let beginning = vendor.transcripts().map(|it| it.beginning(ports.files.as_ref(), &stored));
    let beginning = beginning.and_then(io::Result::ok).flatten();
    ConversationPart {
        session: None,
        vendor: vendor.id(),
        description: None,
        vendor_session_id: Some(stored.id),
        config_dir,
        cwd: beginning.map(|beginning| beginning.cwd).unwrap_or_default(),
        transcript: Some(stored.transcript),
        has_content: true,
        taken_over: None,
    }
}

/// Returns the path of the vendor's own transcript, or else of the newest guard. `None` if neither
/// exists.
fn transcript(
    ports: &Ports,
    vendor: &dyn Vendor,
    (place, id): (&Place, &VendorSessionId),
    launches: &[Launch],
) -> Option<PathBuf> {
    let (transcripts, files) = (vendor.transcripts()?, ports.files.as_ref());
    let of_vendor =
        transcripts.length(files, place, id).map(|_| transcripts.transcript(files, place, id));
    let guarded = || {
        let name = vendor.transcript_files()?.restored_as(files, place, id);
        launches.iter().rev().find_map(|launch| ports.folders.guarded(launch.id, &name))
    };
    of_vendor.or_else(guarded)
}
