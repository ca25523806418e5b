//! Copying conversations into the archive, and making room in it.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::error::Result;
use crate::model::{EventKind, Launch, NewEvent, Session, SessionId, Status, VendorSessionId};
use crate::ports::{
    ArchiveOrder, Archived, Change, Commit, Content, DamagedCopy, Holding, Place, Ports,
    SessionSummary,
};
use crate::rules::archive::{Claim, to_drop};

/// Returns under what a session's conversation is filed.
pub(crate) fn filed(session: &Session, id: &VendorSessionId) -> Archived {
    Archived { vendor: session.vendor.clone(), id: id.clone() }
}

/// Copies what is new in a conversation of a session, if it is to be archived; returns how many
/// bytes that were. It reads and writes files for as long as that takes.
pub fn keep(ports: &Ports, session: &Session, id: &VendorSessionId) -> Result<u64> {
    match order(ports, session, id)? {
        Some(order) => ports.archive.keep(&order),
        None => Ok(0),
    }
}

fn order(ports: &Ports, session: &Session, id: &VendorSessionId) -> Result<Option<ArchiveOrder>> {
    let vendor = ports.vendors.of(session)?;
    if !session.archive || !vendor.keeps_transcripts() {
        return Ok(None);
    }
    let place = place(session);
    let mut order = ArchiveOrder {
        conversation: filed(session, id),
        content: Content::Export(Vec::new()),
        belongings: vendor.belongings(&place, id),
        ancestors: Vec::new(),
        now: ports.clock.now(),
        place,
    };
    if vendor.has_own_files() {
        let transcript = vendor.transcript(ports.files.as_ref(), &order.place, id);
        order.ancestors = vendor.ancestors(ports.files.as_ref(), &transcript);
        order.content = Content::Transcript(transcript);
        return Ok(Some(order));
    }
    let document = vendor.export(&order.place, id)?;
    Ok(document.map(|document| ArchiveOrder { content: Content::Export(document), ..order }))
}

/// Returns the conversations of all sessions, with the session that each belongs to.
pub async fn owners(ports: &Ports) -> Result<HashMap<Archived, Session>> {
    let mut owners = HashMap::new();
    for SessionSummary { session, .. } in ports.store.sessions().await? {
        for binding in ports.store.bindings(session.id).await? {
            owners.insert(filed(&session, &binding.vendor_session), session.clone());
        }
    }
    Ok(owners)
}

/// From where a new copy of a conversation can be made.
#[derive(Clone, Debug)]
pub struct Renewal {
    order: ArchiveOrder,
    /// For a person: `its transcript`, or `its guard`.
    pub from: &'static str,
}

/// Finds what a new copy of a conversation can be made from: the vendor's own transcript, else what
/// a launch guards. `None` if nothing else has it, or it is not to be archived.
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
    let name = vendor.restored_as(ports.files.as_ref(), &order.place, id);
    let guarded = |launch: &Launch| ports.folders.guarded(launch.id, &name);
    let guard = launches.iter().rev().find_map(guarded);
    Ok(guard.map(|guard| {
        let content = Content::Transcript(guard);
        Renewal { order: ArchiveOrder { content, ..order }, from: "its guard" }
    }))
}

/// Sets a damaged copy aside and makes a new one; returns where the damaged one is then.
pub fn renew(ports: &Ports, copy: &DamagedCopy, renewal: &Renewal) -> Result<PathBuf> {
    let aside = ports.archive.set_aside(copy)?;
    ports.archive.keep(&renewal.order)?;
    Ok(aside)
}

/// Tells whether a conversation was changed since it was copied.
pub fn is_behind(ports: &Ports, session: &Session, id: &VendorSessionId) -> bool {
    let Ok(vendor) = ports.vendors.of(session) else { return false };
    if !session.archive || !vendor.keeps_transcripts() || !vendor.has_own_files() {
        return false;
    }
    let transcript = vendor.transcript(ports.files.as_ref(), &place(session), id);
    ports.archive.lacks(&filed(session, id), &transcript)
}

/// Deletes every copy of a session's conversations.
pub fn remove<'a>(
    ports: &Ports,
    session: &Session,
    ids: impl Iterator<Item = &'a VendorSessionId>,
) -> Result<()> {
    ids.into_iter().try_for_each(|id| ports.archive.remove(&filed(session, id)))
}

/// Drops what has to go so that the archive is no larger than this, and says so.
pub async fn make_room(ports: &Ports, limit: u64) -> Result<Vec<Holding>> {
    if ports.archive.size()? <= limit {
        return Ok(Vec::new());
    }
    let claims = claims(ports).await?;
    let claim = |it: &Archived| claims.get(it).map_or(Claim::Nobodys, |(claim, _)| *claim);
    let dropped = to_drop(ports.archive.holdings()?, limit, claim);
    for holding in &dropped {
        ports.archive.remove(&holding.conversation)?;
        let session = claims.get(&holding.conversation).map(|(_, session)| *session);
        ports.store.commit(told(ports, holding, session)).await?;
    }
    Ok(dropped)
}

/// Returns whose every conversation is; what several sessions have is the liveliest one's.
async fn claims(ports: &Ports) -> Result<HashMap<Archived, (Claim, SessionId)>> {
    let mut claims = HashMap::new();
    for summary in ports.store.sessions().await? {
        let claim = if goes_on(&summary) { Claim::Live } else { Claim::Resting };
        for binding in ports.store.bindings(summary.session.id).await? {
            let filed = filed(&summary.session, &binding.vendor_session);
            let known = claims.entry(filed).or_insert((claim, summary.session.id));
            if known.0 < claim {
                *known = (claim, summary.session.id);
            }
        }
    }
    Ok(claims)
}

fn goes_on(summary: &SessionSummary) -> bool {
    summary.open.is_some() || !matches!(summary.session.status, Status::Ended(_) | Status::Lost)
}

fn told(ports: &Ports, holding: &Holding, session: Option<SessionId>) -> Commit {
    let Archived { vendor, id } = &holding.conversation;
    let text = format!("{vendor}'s {id}, {} bytes: the archive was full", holding.bytes);
    let (at, kind) = (ports.clock.now(), EventKind::ArchiveDropped);
    let event = NewEvent { at, session, launch: None, kind, text };
    Commit { changes: Vec::<Change>::new(), events: vec![event] }
}

fn place(session: &Session) -> Place {
    Place { config_dir: session.config_dir.clone(), cwd: session.cwd.clone() }
}
