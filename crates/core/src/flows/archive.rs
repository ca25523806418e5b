//! Copies conversations into the archive, and deletes copies when the archive is too large.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::error::Result;
use crate::model::{
    Archived, CopiedConversation, EventPayload, Launch, NewEvent, Session, SessionId, Status,
    VendorSessionId,
};
use crate::ports::{
    ArchiveOrder, Change, Commit, Content, DamagedCopy, Place, Ports, SessionQuery, SessionSummary,
    TranscriptStorage,
};
use crate::rules::archive::{CopyOwner, to_drop};

/// Returns the archive key of a session's conversation.
pub(crate) fn archive_key(session: &Session, id: &VendorSessionId) -> Archived {
    Archived { vendor: session.vendor.clone(), id: id.clone() }
}

/// Copies the new part of a session's conversation into the archive, unless archiving is off for
/// the session. Returns the number of bytes copied. Blocks while it reads and writes files.
pub fn copy(ports: &Ports, session: &Session, id: &VendorSessionId) -> Result<u64> {
    match order(ports, session, id)? {
        Some(order) => ports.archive.copy(&order),
        None => Ok(0),
    }
}

fn order(ports: &Ports, session: &Session, id: &VendorSessionId) -> Result<Option<ArchiveOrder>> {
    let (vendor, place) = (ports.vendors.of(session)?, Place::of(session));
    let transcripts = vendor.transcripts().filter(|_| session.archive);
    let Some(transcripts) = transcripts else { return Ok(None) };
    let (content, companion_folder, ancestors) = match transcripts.storage() {
        TranscriptStorage::Files(transcript_files) => {
            let files = ports.files.as_ref();
            let transcript = transcript_files.transcript(files, &place, id);
            let ancestors = transcript_files.ancestors(files, &transcript);
            (
                Content::Transcript(transcript),
                transcript_files.companion_folder(&place, id),
                ancestors,
            )
        }
        TranscriptStorage::Database(database) => match database.export(&place, id)? {
            Some(document) => (Content::Export(document), None, Vec::new()),
            None => return Ok(None),
        },
    };
    let (conversation, now) = (archive_key(session, id), ports.clock.now());
    Ok(Some(ArchiveOrder { conversation, content, companion_folder, ancestors, now, place }))
}

/// Maps the conversations of all sessions to their sessions.
pub async fn owners(ports: &Ports) -> Result<HashMap<Archived, Session>> {
    let mut owners = HashMap::new();
    for SessionSummary { session, .. } in ports.store.sessions(&SessionQuery::default()).await? {
        for binding in ports.store.bindings(session.id).await? {
            owners.insert(archive_key(&session, &binding.vendor_session), session.clone());
        }
    }
    Ok(owners)
}

/// The source for a new copy of a conversation.
#[derive(Clone, Debug)]
pub struct Renewal {
    order: ArchiveOrder,
    /// The name of the source for the user: `its transcript` or `its guard`.
    pub from: &'static str,
}

/// Finds the source for a new copy of a conversation: the vendor's own transcript, or else the
/// newest guard. `None` if neither exists, or if the conversation is not archived.
pub fn renewal(
    ports: &Ports,
    session: &Session,
    id: &VendorSessionId,
    launches: &[Launch],
) -> Result<Option<Renewal>> {
    let Some(order) = order(ports, session, id)? else { return Ok(None) };
    let Content::Transcript(transcript) = &order.content else {
        return Ok(Some(Renewal { order, from: "its transcript" }));
    };
    if ports.files.facts(transcript).is_ok_and(|facts| facts.is_some_and(|it| it.length > 0)) {
        return Ok(Some(Renewal { order, from: "its transcript" }));
    }
    let vendor = ports.vendors.of(session)?;
    let Some(transcript_files) = vendor.transcript_files() else { return Ok(None) };
    let name = transcript_files.restored_as(ports.files.as_ref(), &order.place, id);
    let guarded = |launch: &Launch| ports.folders.guarded(launch.id, &name);
    let guard = launches.iter().rev().find_map(guarded);
    Ok(guard.map(|guard| {
        let content = Content::Transcript(guard);
        Renewal { order: ArchiveOrder { content, ..order }, from: "its guard" }
    }))
}

/// Moves a damaged copy to another folder and makes a new copy. Returns the path of the damaged
/// copy.
pub fn renew(ports: &Ports, copy: &DamagedCopy, renewal: &Renewal) -> Result<PathBuf> {
    let aside = ports.archive.set_aside(copy)?;
    ports.archive.copy(&renewal.order)?;
    Ok(aside)
}

/// Returns whether a conversation was never copied, or was changed after it was copied. `false` if
/// it is not archived from a file.
pub fn is_outdated(ports: &Ports, session: &Session, id: &VendorSessionId) -> bool {
    let Ok(vendor) = ports.vendors.of(session) else { return false };
    let transcript_files = vendor.transcript_files().filter(|_| session.archive);
    let Some(transcript_files) = transcript_files else { return false };
    let transcript = transcript_files.transcript(ports.files.as_ref(), &Place::of(session), id);
    ports.archive.is_outdated(&archive_key(session, id), &transcript)
}

/// Deletes every copy of a session's conversations.
pub fn remove<'a>(
    ports: &Ports,
    session: &Session,
    ids: impl Iterator<Item = &'a VendorSessionId>,
) -> Result<()> {
    ids.into_iter().try_for_each(|id| ports.archive.remove(&archive_key(session, id)))
}

/// Deletes copies until the archive has at most `limit` bytes. Copies of live sessions are never
/// deleted, so the archive can stay larger. Records an event for each deleted copy and returns the
/// deleted copies.
pub async fn make_room(ports: &Ports, limit: u64) -> Result<Vec<CopiedConversation>> {
    if ports.archive.size()? <= limit {
        return Ok(Vec::new());
    }
    let sessions = sessions_of_copies(ports).await?;
    let owner = |it: &Archived| sessions.get(it).map_or(CopyOwner::None, |(owner, _)| *owner);
    let dropped = to_drop(ports.archive.copies()?, limit, owner);
    for copy in &dropped {
        ports.archive.remove(&copy.conversation)?;
        let session = sessions.get(&copy.conversation).map(|(_, session)| *session);
        ports.store.commit(dropped_event(ports, copy, session)).await?;
    }
    Ok(dropped)
}

/// Returns for each conversation the session that it belongs to. If several sessions have it, a
/// live session takes precedence.
pub(crate) async fn sessions_of_copies(
    ports: &Ports,
) -> Result<HashMap<Archived, (CopyOwner, SessionId)>> {
    let mut sessions = HashMap::new();
    for summary in ports.store.sessions(&SessionQuery::default()).await? {
        let owner = if is_live(&summary) { CopyOwner::Live } else { CopyOwner::Resting };
        for binding in ports.store.bindings(summary.session.id).await? {
            let archive_key = archive_key(&summary.session, &binding.vendor_session);
            let known = sessions.entry(archive_key).or_insert((owner, summary.session.id));
            if known.0 < owner {
                *known = (owner, summary.session.id);
            }
        }
    }
    Ok(sessions)
}

/// Returns whether a session is alive: it has an open launch, or has neither ended nor been lost.
pub(crate) fn is_live(summary: &SessionSummary) -> bool {
    summary.open.is_some() || !matches!(summary.session.status, Status::Ended(_) | Status::Lost)
}

fn dropped_event(ports: &Ports, copy: &CopiedConversation, session: Option<SessionId>) -> Commit {
    let Archived { vendor, id: conversation } = copy.conversation.clone();
    let payload = EventPayload::ArchiveDropped { vendor, conversation, bytes: copy.bytes };
    let event = NewEvent { at: ports.clock.now(), session, launch: None, payload };
    Commit { changes: Vec::<Change>::new(), events: vec![event] }
}
