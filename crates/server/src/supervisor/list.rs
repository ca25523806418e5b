//! The list of sessions, filtered here: a person with ten thousand sessions reads ten of them.

use std::collections::BTreeSet;

use segue_core::api::{ListRequest, SessionList, SessionView};
use segue_core::flows::open_elsewhere;
use segue_core::model::{FleetName, Status, VendorId};
use segue_core::ports::SessionSummary;
use segue_core::rules::address;
use segue_core::rules::listing::{self, Filter, Place};
use segue_core::rules::scope::Scope;
use segue_core::{Error, Result};

use super::Supervisor;
use super::select::visible;

/// Returns the sessions that the caller may reach and wants to see, the oldest first.
pub(crate) async fn list(
    supervisor: &Supervisor,
    scope: &Scope,
    request: &ListRequest,
) -> Result<SessionList> {
    let sessions = visible(supervisor, scope).await?;
    let filter = filter(supervisor, &sessions, request)?;
    let now = supervisor.ports.clock.now();
    let place = |it: &SessionSummary| listing::place(&it.session, &filter, now);
    let placed = sessions.into_iter().map(|it| (place(&it), it));
    let (places, wanted): (Vec<Place>, Vec<SessionSummary>) =
        placed.filter(|(place, _)| *place != Place::LeftOut).unzip();
    let count = wanted.len();
    // A conversation that is open in a terminal elsewhere is alive, however long ago it ended here.
    let is_shown = |(view, place): &(SessionView, Place)| {
        *place == Place::Shown || open_elsewhere::is_described(view)
    };
    let views = supervisor.views(wanted).await?.into_iter().zip(places);
    let sessions: Vec<SessionView> = views.filter(is_shown).map(|(view, _)| view).collect();
    let hidden = count - sessions.len();
    Ok(SessionList { sessions, hidden })
}

fn filter(
    supervisor: &Supervisor,
    sessions: &[SessionSummary],
    request: &ListRequest,
) -> Result<Filter> {
    let ListRequest { all, fleets, vendors, statuses, folder } = request;
    let known: BTreeSet<&str> = sessions.iter().map(|it| it.session.fleet.as_str()).collect();
    let fleets = each(fleets, &known, "fleet", FleetName::parse)?;
    let ids: Vec<VendorId> = supervisor.ports.vendors.all().iter().map(|it| it.id()).collect();
    // A vendor of a project file is known by its sessions.
    let known: BTreeSet<&str> =
        sessions.iter().map(|it| &it.session.vendor).chain(&ids).map(VendorId::as_str).collect();
    let vendors = each(vendors, &known, "vendor", |name| Ok(VendorId::new(name)))?;
    let words = BTreeSet::from(Status::WORDS);
    let statuses = each(statuses, &words, "status", |word| Ok(word.to_owned()))?;
    // A folder that is gone may still be where sessions worked.
    let folder = folder.as_ref().map(|folder| {
        let real = supervisor.ports.machine.folder(folder);
        real.map_or_else(|_| folder.clone(), |folder| folder.real_path)
    });
    Ok(Filter { all: *all, fleets, vendors, statuses, folder })
}

/// Finds each word among the known ones; its beginning is enough.
fn each<T>(
    words: &[String],
    known: &BTreeSet<&str>,
    what: &str,
    read: impl Fn(&str) -> Result<T>,
) -> Result<Vec<T>> {
    let known: Vec<&str> = known.iter().copied().collect();
    let find = |word: &String| {
        let found = address::find_name(&known, word);
        read(found.map_err(|unclear| unclear.explain(word, unknown(word, what, &known)))?)
    };
    words.iter().map(find).collect()
}

fn unknown(word: &str, what: &str, known: &[&str]) -> Error {
    let error = Error::not_found(format!("there is no {what} `{word}`"));
    match known {
        [] => error,
        known => error.hint(format!("use one of: {}", known.join(", "))),
    }
}
