//! Lists sessions. The daemon filters them, because a user with ten thousand sessions reads ten of
//! them.

use std::collections::BTreeSet;

use segue_core::Result;
use segue_core::api::{ListRequest, SessionList};
use segue_core::flows::open_elsewhere::{self, OpenElsewhere};
use segue_core::model::{FleetName, Principal, VendorId};
use segue_core::ports::{Ports, SessionActivity, SessionQuery, SessionSummary};
use segue_core::rules::listing::{self, Filter, Place};

use super::Supervisor;
use super::select::reachable;

/// Returns the sessions that the caller may reach and that match the request, oldest first.
pub(crate) async fn list(
    supervisor: &Supervisor,
    principal: &Principal,
    request: &ListRequest,
) -> Result<SessionList> {
    let filter = filter(supervisor, principal, request).await?;
    let now = supervisor.ports.clock.now();
    let Wanted { mut sessions, count } = wanted(supervisor, principal, &filter).await?;
    let places = open_elsewhere::places(&supervisor.ports).await?;
    let open_elsewhere = supervisor.open_elsewhere(places).await?;
    sessions.retain(|it| listing::place(&it.session, &filter, now) == Place::Shown);
    // A conversation that is open in another process is in use, however long ago its session ended.
    for OpenElsewhere { summary, .. } in &open_elsewhere {
        let SessionSummary { session, .. } = summary;
        let is_wanted = listing::place(session, &filter, now) != Place::LeftOut
            && principal.allow_session(session.id, session.parent).is_ok();
        if is_wanted && sessions.iter().all(|it| it.session.id != session.id) {
            sessions.push(summary.clone());
        }
    }
    sessions.sort_by_key(|it| (it.session.created_at, it.session.id));
    let sessions = supervisor.views(&sessions, &open_elsewhere).await?;
    let hidden = count.saturating_sub(sessions.len());
    Ok(SessionList { sessions, hidden })
}

/// Sessions that may be listed. `count` includes sessions that ended long ago and are not loaded.
struct Wanted {
    sessions: Vec<SessionSummary>,
    count: usize,
}

/// Loads the sessions that a list may show. Sessions that ended long ago are only counted if `all`
/// is not set and the filter is simple enough for the store.
async fn wanted(supervisor: &Supervisor, principal: &Principal, filter: &Filter) -> Result<Wanted> {
    let store = &supervisor.ports.store;
    let mut query = reachable(principal);
    if filter.is_simple() {
        query.fleet = filter.fleets.first().cloned();
        query.vendor = filter.vendors.first().cloned();
    }
    if filter.is_simple() && !filter.all {
        let since = supervisor.ports.clock.now() - listing::RECENT;
        let activity = Some(SessionActivity::UnsettledOrChangedSince(since));
        let count = store.count_sessions(&query).await? as usize;
        let sessions = store.sessions(&SessionQuery { activity, ..query }).await?;
        return Ok(Wanted { sessions, count });
    }
    let now = supervisor.ports.clock.now();
    let mut sessions = store.sessions(&query).await?;
    sessions.retain(|it| listing::place(&it.session, filter, now) != Place::LeftOut);
    let count = sessions.len();
    Ok(Wanted { sessions, count })
}

async fn filter(
    supervisor: &Supervisor,
    principal: &Principal,
    request: &ListRequest,
) -> Result<Filter> {
    let ListRequest { all, fleets, vendors, statuses, folder } = request;
    let known = Known::load(supervisor, principal, request).await?;
    let fleets = each(fleets, &known.fleets, "fleet", FleetName::parse)?;
    let vendors = each(vendors, &known.vendors, "vendor", |name| Ok(VendorId::new(name)))?;
    // Sessions may have worked in a folder that does not exist any more.
    let folder = folder.as_ref().map(|folder| {
        let real = supervisor.ports.machine.folder(folder);
        real.map_or_else(|_| folder.clone(), |folder| folder.real_path)
    });
    Ok(Filter { all: *all, fleets, vendors, statuses: statuses.clone(), folder })
}

/// The names that a filter may contain. An agent knows only the names of its own sessions.
#[derive(Default)]
struct Known {
    fleets: BTreeSet<String>,
    vendors: BTreeSet<String>,
}

impl Known {
    async fn load(
        supervisor: &Supervisor,
        principal: &Principal,
        request: &ListRequest,
    ) -> Result<Self> {
        if request.fleets.is_empty() && request.vendors.is_empty() {
            return Ok(Self::default());
        }
        let Ports { store, vendors, .. } = &supervisor.ports;
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
fn each<T>(
    words: &[String],
    known: &BTreeSet<String>,
    what: &str,
    read: impl Fn(&str) -> Result<T>,
) -> Result<Vec<T>> {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    words.iter().map(|word| read(listing::find_value(what, word, &known)?)).collect()
}
