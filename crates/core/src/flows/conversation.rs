//! Where conversations can be read. Nothing of them is read here: they may be large.

use std::path::PathBuf;

use crate::api::ConversationPart;
use crate::error::{Error, Result};
use crate::flows::archive;
use crate::flows::elsewhere::known_homes;
use crate::flows::view;
use crate::model::{Environment, Launch, Session, VendorId, VendorSessionId};
use crate::ports::{Kept, Place, Ports, SessionSummary, Vendor};

/// Returns where the conversation that a session is in can be read.
pub async fn of_session(ports: &Ports, summary: &SessionSummary) -> Result<ConversationPart> {
    let bound = summary.binding.as_ref().map(|binding| &binding.vendor_session);
    part(ports, summary, bound).await
}

/// Returns where a conversation can be read that a session has, or had.
pub async fn part(
    ports: &Ports,
    summary: &SessionSummary,
    id: Option<&VendorSessionId>,
) -> Result<ConversationPart> {
    let session = &summary.session;
    let vendor = ports.vendors.of(session)?;
    let launches = ports.store.launches(session.id).await?;
    let place = Place { config_dir: session.config_dir.clone(), cwd: session.cwd.clone() };
    let newest = summary.binding.as_ref().map(|binding| &binding.vendor_session);
    let own = id.and_then(|id| transcript(ports, vendor.as_ref(), (&place, id), &launches));
    let transcript = match (own, id) {
        (None, Some(id)) => archived(ports, session, id)?,
        (own, _) => own,
    };
    Ok(ConversationPart {
        session: Some(view::session(summary)),
        vendor: session.vendor.clone(),
        description: session.description.clone(),
        vendor_session_id: id.cloned(),
        transcript,
        config_dir: place.config_dir,
        cwd: place.cwd,
        spoke: session.spoke || id != newest,
        taken_over: None,
    })
}

/// Lays out what only the archive has of a conversation, and returns where it can be read.
fn archived(ports: &Ports, session: &Session, id: &VendorSessionId) -> Result<Option<PathBuf>> {
    let conversation = archive::filed(session, id);
    if !ports.archive.has(&conversation) {
        return Ok(None);
    }
    let folder = ports.folders.reading(session.id);
    ports.files.remove(&folder).map_err(|error| {
        Error::internal(format!("cannot delete `{}`", folder.display())).caused_by(error)
    })?;
    ports.archive.read_out(&conversation, &folder).map(Some)
}

/// Returns the session that has this conversation, or had it.
pub async fn owner(
    ports: &Ports,
    vendor: &VendorId,
    id: &VendorSessionId,
) -> Result<Option<SessionSummary>> {
    let sessions = ports.store.sessions().await?;
    for summary in sessions.into_iter().filter(|it| it.session.vendor == *vendor) {
        let bindings = ports.store.bindings(summary.session.id).await?;
        if bindings.iter().any(|binding| binding.vendor_session == *id) {
            return Ok(Some(summary));
        }
    }
    Ok(None)
}

/// Returns where a conversation can be read that no session has.
pub async fn of_nobody(
    ports: &Ports,
    environment: &Environment,
    (vendor, id): (&VendorId, &VendorSessionId),
) -> Result<ConversationPart> {
    let vendor = ports.vendors.get(vendor)?;
    let sessions = ports.store.sessions().await?;
    for config_dir in known_homes(&sessions, vendor.as_ref(), environment) {
        let kept = vendor.kept(ports.files.as_ref(), &config_dir).unwrap_or_default();
        if let Some(kept) = kept.into_iter().find(|kept| kept.id == *id) {
            return Ok(found(ports, vendor.as_ref(), config_dir, kept));
        }
    }
    Err(Error::not_found(format!("there is no conversation `{id}` of `{}`", vendor.id()))
        .hint(format!("run `segue adopt {}` to see which there are", vendor.id())))
}

fn found(ports: &Ports, vendor: &dyn Vendor, config_dir: PathBuf, kept: Kept) -> ConversationPart {
    // One whose beginning cannot be read may still be read from its end.
    let beginning = vendor.beginning(ports.files.as_ref(), &kept).ok().flatten();
    ConversationPart {
        session: None,
        vendor: vendor.id(),
        description: None,
        vendor_session_id: Some(kept.id),
        config_dir,
        cwd: beginning.map(|beginning| beginning.cwd).unwrap_or_default(),
        transcript: Some(kept.transcript),
        spoke: true,
        taken_over: None,
    }
}

/// Returns the transcript that is there: the vendor's own, else what a launch guards.
fn transcript(
    ports: &Ports,
    vendor: &dyn Vendor,
    (place, id): (&Place, &VendorSessionId),
    launches: &[Launch],
) -> Option<PathBuf> {
    if !vendor.keeps_transcripts() {
        return None;
    }
    let files = ports.files.as_ref();
    let own = vendor.extent(files, place, id).map(|_| vendor.transcript(files, place, id));
    let guarded = || {
        let name = vendor.restored_as(files, place, id);
        launches.iter().rev().find_map(|launch| ports.folders.guarded(launch.id, &name))
    };
    own.or_else(guarded)
}
