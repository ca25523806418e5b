//! Lists sessions. The daemon filters them, because a user may have thousands of sessions.

use std::collections::BTreeSet;

use crate::api::{ListRequest, SessionListQuery, TimeCursor, page_size, parse_cursor};
use crate::error::{Error, Result};
use crate::flows::open_elsewhere::OpenElsewhere;
use crate::flows::select::reachable;
use crate::model::{FleetName, IssueRef, Principal, SessionId, VendorId, VendorSessionId};
use crate::ports::{
    IssueFilter, Ports, SessionActivity, SessionPage, SessionQuery, SessionSummary, TaskQuery,
};
use crate::rules::listing::{self, Filter, Visibility};

/// The sessions that a list shows, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    pub sessions: Vec<SessionSummary>,
    /// How many sessions match, including those that are not shown because they ended long ago.
    pub count: usize,
}

/// Returns the sessions that the caller may reach and that match the request. `open_elsewhere` are
/// the sessions whose conversations are open in processes that Segue did not start.
pub async fn list(
    ports: &Ports,
    principal: &Principal,
    request: &ListRequest,
    open_elsewhere: &[OpenElsewhere],
) -> Result<Listed> {
    let filter = filter(ports, principal, request).await?;
    let now = ports.clock.now();
    let Listed { mut sessions, count } = candidates(ports, principal, &filter).await?;
    sessions.retain(|it| listing::visibility(&it.session, &filter, now) == Visibility::Shown);
    // A conversation that is open in another process is in use, however long ago its session ended.
    for OpenElsewhere { summary, .. } in open_elsewhere {
        let SessionSummary { session, .. } = summary;
        let is_wanted = listing::visibility(session, &filter, now) != Visibility::LeftOut
            && principal.allow_session(session.id, session.parent).is_ok();
        if is_wanted && sessions.iter().all(|it| it.session.id != session.id) {
            sessions.push(summary.clone());
        }
    }
    sessions.sort_by_key(|it| (it.session.created_at, it.session.id));
    Ok(Listed { sessions, count })
}

/// A page of sessions, oldest first.
#[derive(Clone, Debug, Default)]
pub struct SessionPageResult {
    pub sessions: Vec<SessionSummary>,
    /// The position behind the page. `None` if no further session matches.
    pub next: Option<TimeCursor>,
}

/// So many sessions are read at once if the store does not know all conditions.
const BATCH: u32 = 500;

/// At most this many tasks about an issue are considered, the newest ones.
const MAX_TASKS_OF_ISSUE: u32 = 500;

/// Returns a page of the sessions that the caller may reach and that match the query, of any age.
pub async fn page(
    ports: &Ports,
    principal: &Principal,
    query: &SessionListQuery,
) -> Result<SessionPageResult> {
    let size = page_size(query.limit)?;
    let conditions = conditions(ports, principal, query).await?;
    let cursor: Option<TimeCursor> = parse_cursor(query.cursor.as_deref())?;
    let mut after = cursor.map(|it| (it.at, SessionId::new(it.id)));
    let batch_size = if query.status.is_some() { BATCH } else { size + 1 };
    let mut sessions = Vec::new();
    loop {
        let page = Some(SessionPage { after, size: batch_size });
        let batch = ports.store.sessions(&SessionQuery { page, ..conditions.clone() }).await?;
        let is_last = batch.len() < batch_size as usize;
        after = batch.last().map(|it| (it.session.created_at, it.session.id));
        let has_status = |it: &SessionSummary| {
            query.status.is_none_or(|status| it.session.status.kind() == status)
        };
        sessions.extend(batch.into_iter().filter(has_status));
        if is_last || sessions.len() > size as usize {
            break;
        }
    }
    let has_more = sessions.len() > size as usize;
    sessions.truncate(size as usize);
    let position = |it: &SessionSummary| {
        let SessionSummary { session, .. } = it;
        TimeCursor { at: session.created_at, id: session.id.uuid() }
    };
    let next = sessions.last().filter(|_| has_more).map(position);
    Ok(SessionPageResult { sessions, next })
}

async fn conditions(
    ports: &Ports,
    principal: &Principal,
    query: &SessionListQuery,
) -> Result<SessionQuery> {
    let mut conditions = reachable(principal);
    conditions.fleet = query.fleet.as_deref().map(FleetName::parse).transpose()?;
    let vendor_session = |id: &String| vec![VendorSessionId::new(id.as_str())];
    conditions.vendor_sessions = query.vendor_id.as_ref().map(vendor_session);
    if let Some(issue) = &query.issue {
        let issue = IssueRef::parse(issue)?;
        let about = Some(IssueFilter { issue, repository: query.repository.clone() });
        let newest = Some(MAX_TASKS_OF_ISSUE);
        let tasks = ports.store.tasks(&TaskQuery { about, newest, ..TaskQuery::default() }).await?;
        let sessions: BTreeSet<SessionId> =
            tasks.into_iter().flat_map(|it| it.task.progress.sessions).collect();
        conditions.ids = Some(sessions.into_iter().collect());
    } else if query.repository.is_some() {
        return Err(Error::usage("`repository` needs `issue`"));
    }
    Ok(conditions)
}

/// Loads the sessions that a list may show. Sessions that ended long ago are only counted if `all`
/// is not set and the filter is simple enough for the store.
async fn candidates(ports: &Ports, principal: &Principal, filter: &Filter) -> Result<Listed> {
    let store = &ports.store;
    let mut query = reachable(principal);
    if filter.is_simple() {
        query.fleet = filter.fleets.first().cloned();
        query.vendor = filter.vendors.first().cloned();
    }
    if filter.is_simple() && !filter.all {
        let since = ports.clock.now() - listing::RECENT;
        let activity = Some(SessionActivity::UnsettledOrChangedSince(since));
        let count = store.count_sessions(&query).await? as usize;
        let sessions = store.sessions(&SessionQuery { activity, ..query }).await?;
        return Ok(Listed { sessions, count });
    }
    let now = ports.clock.now();
    let mut sessions = store.sessions(&query).await?;
    sessions.retain(|it| listing::visibility(&it.session, filter, now) != Visibility::LeftOut);
    let count = sessions.len();
    Ok(Listed { sessions, count })
}

async fn filter(ports: &Ports, principal: &Principal, request: &ListRequest) -> Result<Filter> {
    let ListRequest { all, fleets, vendors, statuses, folder } = request;
    let known = KnownNames::load(ports, principal, request).await?;
    let fleets = find_each(fleets, &known.fleets, "fleet", FleetName::parse)?;
    let vendors = find_each(vendors, &known.vendors, "vendor", |name| Ok(VendorId::new(name)))?;
    // Sessions may have worked in a folder that does not exist any more.
    let folder = folder.as_ref().map(|folder| {
        let real = ports.machine.folder(folder);
        real.map_or_else(|_| folder.clone(), |folder| folder.real_path)
    });
    Ok(Filter { all: *all, fleets, vendors, statuses: statuses.clone(), folder })
}

/// The names that a filter may contain. An agent knows only the names of its own sessions.
#[derive(Default)]
struct KnownNames {
    fleets: BTreeSet<String>,
    vendors: BTreeSet<String>,
}

impl KnownNames {
    async fn load(ports: &Ports, principal: &Principal, request: &ListRequest) -> Result<Self> {
        if request.fleets.is_empty() && request.vendors.is_empty() {
            return Ok(Self::default());
        }
        let Ports { store, vendors, .. } = ports;
        let built_in = vendors.all().iter().map(|it| it.id().to_string()).collect();
        let mut known = Self { fleets: BTreeSet::new(), vendors: built_in };
        if principal.parent().is_some() {
            for SessionSummary { session, .. } in store.sessions(&reachable(principal)).await? {
                known.fleets.insert(session.fleet.to_string());
                known.vendors.insert(session.vendor.to_string());
            }
        } else {
            let fleets = store.fleet_names().await?;
            known.fleets.extend(fleets.iter().map(FleetName::to_string));
            // A vendor that is defined in a project file is known by its sessions.
            let vendors = store.vendor_ids().await?;
            known.vendors.extend(vendors.iter().map(VendorId::to_string));
        }
        Ok(known)
    }
}

/// Finds each word among the known names. A unique prefix is enough.
fn find_each<T>(
    words: &[String],
    known: &BTreeSet<String>,
    what: &str,
    read: impl Fn(&str) -> Result<T>,
) -> Result<Vec<T>> {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    words.iter().map(|word| read(listing::find_value(what, word, &known)?)).collect()
}
