//! Adopts conversations that a user started without Segue.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::api::{AdoptCandidate, AdoptReport, AdoptRequest, SessionView};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::create::{SessionBeginning, SessionDraft, create};
use crate::flows::elsewhere::known_config_dirs;
use crate::flows::look::bound_conversations;
use crate::flows::requests::step;
use crate::flows::{SessionState, naming, projects, view};
use crate::model::{
    Binding, Environment, EventPayload, Evidence, RequestKey, RequestStep, Session, SessionName,
    SessionSettings, VendorId, VendorSessionId,
};
use crate::ports::{Change, Commit, Live, Place, Ports, SessionQuery, StoredConversation, Vendor};
use crate::rules::{self, words};

/// At most this many characters of a first message are shown.
const SHOWN_CHARS: usize = 80;
/// At most this many candidates are listed.
const MAX_LISTED: usize = 50;

/// Filters for conversations that can be adopted.
#[derive(Clone, Debug, Default)]
pub struct AdoptFilter {
    pub vendor: Option<VendorId>,
    pub id: Option<VendorSessionId>,
    /// Only conversations that were started in this folder.
    pub cwd: Option<PathBuf>,
    /// Only conversations that changed at or after this timestamp.
    pub since: Option<Timestamp>,
    pub at_most: Option<usize>,
}

/// What a request to adopt conversations does.
#[derive(Clone, Debug)]
pub enum AdoptPlan {
    /// The request only lists the conversations.
    Listed(AdoptReport),
    /// These conversations are adopted. The report contains those that an earlier attempt of the
    /// same request adopted.
    Adopt(Vec<AdoptCandidate>, AdoptReport),
}

/// Decides which conversations a request adopts.
pub async fn plan(
    ports: &Ports,
    key: Option<RequestKey>,
    request: &AdoptRequest,
) -> Result<AdoptPlan> {
    let adopts = request.id.is_some() || request.all;
    let vendor = request.vendor.as_deref().map(|word| ports.vendors.named(word)).transpose()?;
    let filter = AdoptFilter {
        vendor: vendor.map(|vendor| vendor.id()),
        id: request.id.clone().map(VendorSessionId::new),
        cwd: None,
        since: request.since,
        at_most: (!adopts).then_some(MAX_LISTED),
    };
    filter.id.as_ref().map_or(Ok(()), words::check_id)?;
    let candidates = candidates(ports, &request.caller.environment, &filter).await?;
    if !adopts {
        return Ok(AdoptPlan::Listed(AdoptReport { candidates, ..AdoptReport::default() }));
    }
    let adopted = adopted_before(ports, key).await?;
    if candidates.is_empty() && adopted.is_empty() && request.id.is_some() {
        return Err(not_adoptable(ports, &filter).await?);
    }
    Ok(AdoptPlan::Adopt(candidates, AdoptReport { adopted, ..AdoptReport::default() }))
}

/// Returns the sessions that an earlier attempt of the same request created.
async fn adopted_before(ports: &Ports, key: Option<RequestKey>) -> Result<Vec<SessionView>> {
    let Some(key) = key else { return Ok(Vec::new()) };
    let mut adopted = Vec::new();
    for step in ports.store.request(key).await? {
        if let RequestStep::Adopted { session, .. } = step
            && let Ok(state) = SessionState::load(ports, session).await
        {
            adopted.push(view::session(&view::summary(&state)));
        }
    }
    Ok(adopted)
}

/// Returns the error for a conversation that cannot be adopted: it belongs to a session already, or
/// it does not exist.
async fn not_adoptable(ports: &Ports, filter: &AdoptFilter) -> Result<Error> {
    let id = filter.id.as_ref().map(ToString::to_string).unwrap_or_default();
    let query = SessionQuery {
        vendor: filter.vendor.clone(),
        vendor_sessions: Some(filter.id.iter().cloned().collect()),
        ..SessionQuery::default()
    };
    let sessions = ports.store.sessions(&query).await?;
    Ok(match sessions.first() {
        Some(summary) => {
            let name = summary.session.address();
            Error::conflict(format!("the conversation `{id}` belongs to `{name}` already"))
                .hint(format!("run `segue resume {name}` to go on with it"))
        }
        None => Error::not_found(format!("there is no conversation `{id}`"))
            .hint("run `segue adopt` to see which conversations there are"),
    })
}

/// Creates the session for a conversation.
pub async fn adopt(
    ports: &Ports,
    candidate: &AdoptCandidate,
    (name, key): (Option<&str>, Option<RequestKey>),
) -> Result<SessionState> {
    let session = draft(ports, candidate, name).await?;
    let conversation = candidate.vendor_session_id.clone();
    let same_commit = step(ports, key, RequestStep::Adopted { session: session.id, conversation });
    record(ports, session, &candidate.vendor_session_id, same_commit).await
}

/// Records the session of a [`draft`] and its fleet.
pub async fn record(
    ports: &Ports,
    drafted: Session,
    id: &VendorSessionId,
    same_commit: Vec<Change>,
) -> Result<SessionState> {
    let project = ports.projects.around(&drafted.cwd)?;
    projects::ensure_fleet(ports, project.as_ref()).await?;
    create_bound_session(ports, drafted, id, same_commit).await
}

/// Returns the session to create for a conversation. Records nothing, so its fleet may be missing.
pub async fn draft(
    ports: &Ports,
    candidate: &AdoptCandidate,
    name: Option<&str>,
) -> Result<Session> {
    let folder = ports.machine.folder(&candidate.cwd)?;
    if folder.real_path != candidate.cwd {
        let error = Error::conflict(format!("`{}` is a symlink now", candidate.cwd.display()));
        let target = folder.real_path.display();
        return Err(error.caused_by(format!("it leads to another folder, `{target}`")));
    }
    let project = ports.projects.around(&candidate.cwd)?;
    let fleet = projects::fleet(project.as_ref())?.name;
    let name = match name {
        Some(name) => SessionName::parse(name)?,
        None => {
            let suggestions = rules::naming::suggestions(ports.clock.random_id());
            naming::first_free(ports, &fleet, suggestions).await?
        }
    };
    let draft = SessionDraft {
        fleet,
        name,
        vendor: candidate.vendor.clone(),
        cwd: candidate.cwd.clone(),
        config_dir: candidate.config_dir.clone(),
        agent: None,
        settings: SessionSettings::default(),
        headless: false,
        parent: None,
        beginning: SessionBeginning::Adoption,
    };
    Ok(create(ports, draft))
}

/// Lists conversations that belong to no session, newest first. Reads names and timestamps of all
/// conversations, and the beginnings of as few as needed to fill the result.
pub async fn candidates(
    ports: &Ports,
    environment: &Environment,
    filter: &AdoptFilter,
) -> Result<Vec<AdoptCandidate>> {
    let mut stored = Vec::new();
    for vendor in vendors(ports, filter.vendor.as_ref())? {
        for config_dir in known_config_dirs(ports, vendor.as_ref(), environment).await? {
            stored.extend(conversations_below(ports, &vendor, &config_dir, filter)?);
        }
    }
    let known = known(ports, &stored).await?;
    stored.retain(|(vendor, _, stored)| !known.contains(&(vendor.id(), stored.id.clone())));
    stored.sort_by(|a, b| (b.2.modified, &b.2.id).cmp(&(a.2.modified, &a.2.id)));
    let read = stored
        .iter()
        .filter_map(|(vendor, config_dir, stored)| candidate(ports, vendor, config_dir, stored));
    let read = read.filter(|it| filter.cwd.as_ref().is_none_or(|cwd| it.cwd == *cwd));
    let mut candidates: Vec<_> = read.take(filter.at_most.unwrap_or(usize::MAX)).collect();
    // A request without these filters adopts all conversations and shows no list, so it does not
    // matter which of them are open.
    if filter.at_most.is_some() || filter.cwd.is_some() || filter.id.is_some() {
        mark_open(ports, &mut candidates);
    }
    Ok(candidates)
}

/// Returns those found conversations that belong or belonged to a session.
async fn known(
    ports: &Ports,
    found: &[FoundConversation],
) -> Result<BTreeSet<(VendorId, VendorSessionId)>> {
    let ids = found.iter().map(|(_, _, stored)| stored.id.clone()).collect();
    let query = SessionQuery { vendor_sessions: Some(ids), ..SessionQuery::default() };
    let sessions = ports.store.sessions(&query).await?;
    bound_conversations(ports, &sessions).await
}

/// Sets for each candidate the PID of the process that has it open.
fn mark_open(ports: &Ports, candidates: &mut [AdoptCandidate]) {
    let mut live = BTreeMap::new();
    for candidate in candidates {
        let place = Place { config_dir: candidate.config_dir.clone(), cwd: candidate.cwd.clone() };
        let key = (candidate.vendor.clone(), place.config_dir.clone(), place.cwd.clone());
        let live = live.entry(key).or_insert_with(|| open_in(ports, &candidate.vendor, &place));
        let process = live.iter().find(|live| live.id == candidate.vendor_session_id);
        candidate.open_in = process.map(|live| live.pid);
    }
}

/// Lists the live processes that have a conversation of this place open. Returns an empty list if
/// the vendor's files cannot be read.
pub fn open_in(ports: &Ports, vendor: &VendorId, place: &Place) -> Vec<Live> {
    // Errors are ignored here. `look` does the same check again before any process is started, and
    // reports its errors.
    let vendor = ports.vendors.get(vendor).ok();
    let live = vendor
        .and_then(|it| it.transcripts()?.open_conversations(ports.files.as_ref(), place).ok());
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

type FoundConversation = (Arc<dyn Vendor>, PathBuf, StoredConversation);

fn conversations_below(
    ports: &Ports,
    vendor: &Arc<dyn Vendor>,
    config_dir: &Path,
    filter: &AdoptFilter,
) -> Result<Vec<FoundConversation>> {
    let Some(transcripts) = vendor.transcripts() else { return Ok(Vec::new()) };
    let mut stored = transcripts.list(ports.files.as_ref(), config_dir).map_err(|error| {
        Error::vendor(format!("cannot list the conversations in `{}`", config_dir.display()))
            .caused_by(error)
    })?;
    stored.retain(|it| filter.since.is_none_or(|since| it.modified >= since));
    stored.retain(|it| filter.id.as_ref().is_none_or(|id| it.id == *id));
    Ok(stored
        .into_iter()
        .map(|stored| (Arc::clone(vendor), config_dir.to_owned(), stored))
        .collect())
}

/// Reads the beginning of a conversation. `None` if it cannot be read or if the conversation is
/// empty.
fn candidate(
    ports: &Ports,
    vendor: &Arc<dyn Vendor>,
    config_dir: &Path,
    stored: &StoredConversation,
) -> Option<AdoptCandidate> {
    let transcripts = vendor.transcripts()?;
    let beginning = transcripts.beginning(ports.files.as_ref(), stored).ok().flatten()?;
    let begins = beginning.first_message.as_deref().map(first_words);
    Some(AdoptCandidate {
        vendor: vendor.id(),
        vendor_session_id: stored.id.clone(),
        config_dir: config_dir.to_owned(),
        cwd: beginning.cwd,
        began_at: beginning.began_at,
        updated_at: stored.modified,
        begins,
        open_in: None,
    })
}

/// Returns the beginning of a first message, for display.
pub(super) fn first_words(message: &str) -> String {
    message.chars().take(SHOWN_CHARS).collect()
}

/// Creates a session that is bound to a conversation, and commits `same_commit` with it. Starts no
/// process.
pub async fn create_bound_session(
    ports: &Ports,
    session: Session,
    id: &VendorSessionId,
    same_commit: Vec<Change>,
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
        Change::MarkHasContent { session: state.session.id },
    ];
    changes.extend(same_commit);
    let (vendor_session, evidence) = (id.clone(), Evidence::Adopted);
    let commit = Commit {
        changes,
        events: vec![
            state.event(ports, EventPayload::SessionCreated { address: state.session.address() }),
            state.event(ports, EventPayload::Bound { vendor_session, evidence }),
        ],
    };
    failpoint::hit("adopt.session.before");
    state.commit(ports, commit).await?;
    failpoint::hit("adopt.session.after");
    Ok(state)
}
