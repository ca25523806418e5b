//! Lists sessions. The daemon filters them, because a user may have thousands of sessions.

use std::collections::BTreeSet;

use jiff::Timestamp;

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
    /// The position behind the page. `None` if the request asks for no page, or if this is the
    /// last one.
    pub next: Option<TimeCursor>,
}

/// Returns the sessions that the caller may reach and that match the request. `open_elsewhere` are
/// the sessions whose conversations are open in processes that Segue did not start: they are in use,
/// however long ago their sessions ended.
pub async fn list(
    ports: &Ports,
    principal: &Principal,
    request: &ListRequest,
    open_elsewhere: &[OpenElsewhere],
) -> Result<Listed> {
    let filter = filter(ports, principal, request).await?;
    let mut query = reachable(principal);
    if filter.is_simple() {
        query.fleet = filter.fleets.first().cloned();
        query.vendor = filter.vendors.first().cloned();
    }
    let mut listed = if filter.is_simple() && !filter.all {
        recent(ports, principal, &filter, query, open_elsewhere).await?
    } else {
        of_any_age(ports, request, &filter, query, open_elsewhere).await?
    };
    listed.sessions.sort_by_key(|it| (it.session.created_at, it.session.id));
    Ok(listed)
}

/// Lists without loading the sessions that ended long ago: the store counts them.
async fn recent(
    ports: &Ports,
    principal: &Principal,
    filter: &Filter,
    query: SessionQuery,
    open_elsewhere: &[OpenElsewhere],
) -> Result<Listed> {
    let now = ports.clock.now();
    let activity = Some(SessionActivity::UnsettledOrChangedSince(now - listing::RECENT));
    let count = ports.store.count_sessions(&query).await? as usize;
    let mut sessions = ports.store.sessions(&SessionQuery { activity, ..query }).await?;
    sessions.retain(|it| listing::visibility(&it.session, filter, now) == Visibility::Shown);
    for OpenElsewhere { summary, .. } in open_elsewhere {
        let SessionSummary { session, .. } = summary;
        let is_wanted = listing::visibility(session, filter, now) != Visibility::LeftOut
            && principal.allow_session(session.id, session.parent).is_ok();
        if is_wanted && sessions.iter().all(|it| it.session.id != session.id) {
            sessions.push(summary.clone());
        }
    }
    Ok(Listed { sessions, count, next: None })
}

/// Loads the sessions of a page, or all, and checks each of them.
async fn of_any_age(
    ports: &Ports,
    request: &ListRequest,
    filter: &Filter,
    query: SessionQuery,
    open_elsewhere: &[OpenElsewhere],
) -> Result<Listed> {
    let now = ports.clock.now();
    let page = wanted_page(request)?;
    let loaded = ports.store.sessions(&SessionQuery { page, ..query }).await?;
    let is_full = page.is_some_and(|page| loaded.len() == page.size as usize);
    let mut listed =
        Listed { next: loaded.last().filter(|_| is_full).map(position), ..Listed::default() };
    for summary in loaded {
        let is_open_elsewhere =
            || open_elsewhere.iter().any(|it| it.summary.session.id == summary.session.id);
        let visibility = listing::visibility(&summary.session, filter, now);
        listed.count += usize::from(visibility != Visibility::LeftOut);
        match visibility {
            Visibility::Shown => listed.sessions.push(summary),
            Visibility::Counted if is_open_elsewhere() => listed.sessions.push(summary),
            Visibility::Counted | Visibility::LeftOut => {}
        }
    }
    Ok(listed)
}

/// Returns the page that a request asks for.
fn wanted_page(request: &ListRequest) -> Result<Option<SessionPage>> {
    let ListRequest { limit, cursor, .. } = request;
    if limit.is_none() && cursor.is_none() {
        return Ok(None);
    }
    Ok(Some(SessionPage { after: after(cursor.as_deref())?, size: page_size(*limit)? }))
}

/// Returns the last session of the previous page: its creation time and its id.
fn after(cursor: Option<&str>) -> Result<Option<(Timestamp, SessionId)>> {
    let cursor: Option<TimeCursor> = parse_cursor(cursor)?;
    Ok(cursor.map(|it| (it.at, SessionId::new(it.id))))
}

fn position(summary: &SessionSummary) -> TimeCursor {
    TimeCursor { at: summary.session.created_at, id: summary.session.id.uuid() }
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
    let mut after = after(query.cursor.as_deref())?;
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

async fn filter(ports: &Ports, principal: &Principal, request: &ListRequest) -> Result<Filter> {
    let ListRequest { all, fleets, vendors, statuses, folder, .. } = request;
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
