//! Taking in conversations that were begun by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::api::AdoptCandidate;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::SessionState;
use crate::flows::elsewhere::known_homes;
use crate::flows::look::claimed;
use crate::model::{Binding, Environment, EventKind, Evidence, Session, VendorId, VendorSessionId};
use crate::ports::{Change, Commit, Kept, Live, Place, Ports, Vendor};

/// How much of a first message is shown.
const SHOWN: usize = 80;

/// Which conversations are of interest.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub vendor: Option<VendorId>,
    pub id: Option<VendorSessionId>,
    /// Those that were begun in this folder.
    pub cwd: Option<PathBuf>,
    /// Those in which something happened since then.
    pub since: Option<Timestamp>,
    pub at_most: Option<usize>,
}

/// Lists conversations that no session has, the newest first. Only of those that are returned is
/// more read than name and time.
pub async fn candidates(
    ports: &Ports,
    environment: &Environment,
    wanted: &Wanted,
) -> Result<Vec<AdoptCandidate>> {
    let sessions = ports.store.sessions().await?;
    let known: BTreeSet<VendorSessionId> = claimed(ports, &sessions).await?.into_iter().collect();
    let mut kept = Vec::new();
    for vendor in vendors(ports, wanted.vendor.as_ref())? {
        for home in known_homes(&sessions, vendor.as_ref(), environment) {
            kept.extend(of_home(ports, &vendor, &home, wanted)?);
        }
    }
    kept.retain(|(_, _, kept)| !known.contains(&kept.id));
    kept.sort_by(|a, b| (b.2.modified, &b.2.id).cmp(&(a.2.modified, &a.2.id)));
    let read = kept.iter().filter_map(|(vendor, home, kept)| candidate(ports, vendor, home, kept));
    let read = read.filter(|it| wanted.cwd.as_ref().is_none_or(|cwd| it.cwd == *cwd));
    let mut candidates: Vec<_> = read.take(wanted.at_most.unwrap_or(usize::MAX)).collect();
    // Whoever takes all of them in is not shown any.
    if wanted.at_most.is_some() || wanted.cwd.is_some() {
        mark_open(ports, &mut candidates);
    }
    Ok(candidates)
}

/// Says of each candidate which process has it open.
fn mark_open(ports: &Ports, candidates: &mut [AdoptCandidate]) {
    let mut live = BTreeMap::new();
    for candidate in candidates {
        let place = Place { config_dir: candidate.config_dir.clone(), cwd: candidate.cwd.clone() };
        let key = (candidate.vendor.clone(), place.config_dir.clone(), place.cwd.clone());
        let live = live.entry(key).or_insert_with(|| open_in(ports, &candidate.vendor, &place));
        let own = live.iter().find(|live| live.id == candidate.vendor_session_id);
        candidate.open_in = own.map(|live| live.pid);
    }
}

/// Lists the processes that live and have a conversation of this place open.
pub fn open_in(ports: &Ports, vendor: &VendorId, place: &Place) -> Vec<Live> {
    // What cannot be told is asked again, with care, before anything is started.
    let vendor = ports.vendors.get(vendor).ok();
    let live = vendor.and_then(|vendor| vendor.live(ports.files.as_ref(), place).ok());
    let mut live = live.unwrap_or_default();
    live.retain(|live| {
        let process = ports.machine.process(live.pid);
        process.is_some_and(|it| live.started.is_none_or(|started| started == it.started))
    });
    live
}

fn vendors(ports: &Ports, wanted: Option<&VendorId>) -> Result<Vec<Arc<dyn Vendor>>> {
    match wanted {
        Some(id) => Ok(vec![ports.vendors.get(id)?]),
        None => Ok(ports.vendors.all()),
    }
}

type Found = (Arc<dyn Vendor>, PathBuf, Kept);

fn of_home(
    ports: &Ports,
    vendor: &Arc<dyn Vendor>,
    home: &Path,
    wanted: &Wanted,
) -> Result<Vec<Found>> {
    let mut kept = vendor.kept(ports.files.as_ref(), home).map_err(|error| {
        Error::vendor(format!("cannot list the conversations in `{}`", home.display()))
            .caused_by(error)
    })?;
    kept.retain(|it| wanted.since.is_none_or(|since| it.modified >= since));
    kept.retain(|it| wanted.id.as_ref().is_none_or(|id| it.id == *id));
    Ok(kept.into_iter().map(|kept| (Arc::clone(vendor), home.to_owned(), kept)).collect())
}

/// Reads how a conversation begins; what cannot be read or was never begun is no candidate.
fn candidate(
    ports: &Ports,
    vendor: &Arc<dyn Vendor>,
    home: &Path,
    kept: &Kept,
) -> Option<AdoptCandidate> {
    let beginning = vendor.beginning(ports.files.as_ref(), kept).ok().flatten()?;
    let begins = beginning.first_message.map(|text| text.chars().take(SHOWN).collect());
    Some(AdoptCandidate {
        vendor: vendor.id(),
        vendor_session_id: kept.id.clone(),
        config_dir: home.to_owned(),
        cwd: beginning.cwd,
        began_at: beginning.began_at,
        updated_at: kept.modified,
        begins,
        open_in: None,
    })
}

/// Makes a session of a conversation; `along` is recorded in the same commit. Nothing is started.
pub async fn take_in(
    ports: &Ports,
    session: Session,
    id: &VendorSessionId,
    along: Vec<Change>,
) -> Result<SessionState> {
    let mut state = SessionState::new(session);
    let binding = Binding {
        session: state.session.id,
        launch: None,
        vendor_session: id.clone(),
        evidence: Evidence::Adopted,
        at: ports.clock.now(),
    };
    let mut changes = vec![
        Change::CreateSession(Box::new(state.session.clone())),
        Change::AddBinding(binding),
        Change::MarkSpoke { session: state.session.id },
    ];
    changes.extend(along);
    let commit = Commit {
        changes,
        events: vec![
            state.event(ports, EventKind::SessionCreated, state.session.address()),
            state.event(ports, EventKind::Bound, format!("{id} ({})", Evidence::Adopted)),
        ],
    };
    failpoint::hit("adopt.session.before");
    state.commit(ports, commit).await?;
    failpoint::hit("adopt.session.after");
    Ok(state)
}
