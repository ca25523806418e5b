//! The sessions that the names in a request may mean, and how the names are resolved.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use jiff::Timestamp;

use super::{Chosen, MAX_LISTED, Selected, ended_by_itself, fleets_here, reachable};
use crate::api::{self, FailedTarget};
use crate::error::{Error, Kind, Result};
use crate::flows::look::SelectionMode;
use crate::model::{FleetName, Principal, SessionId, SessionName, VendorSessionId};
use crate::ports::{Ports, SessionQuery, SessionSummary};
use crate::rules::address::{
    self, AddressMatch, AddressReading, AddressTargets, Addressable, Precision, ResolvedAddress,
};
use crate::rules::words;

/// What an address means.
pub(super) enum Meant<'a> {
    Session(&'a SessionSummary),
    Fleet(Vec<&'a SessionSummary>),
}

/// Whether the name of a fleet includes its sessions that ended by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finished {
    Included,
    LeftOut,
}

/// The sessions that a caller's words may mean, and the rules to read these words.
pub(super) struct SelectableSessions<'a> {
    principal: &'a Principal,
    sessions: Vec<SessionSummary>,
    /// The fleets that belong to the caller's folder. The project's own fleet comes first.
    here: Vec<FleetName>,
    precision: Precision,
}

impl<'a> SelectableSessions<'a> {
    /// Loads the sessions that these names may mean. If every name is complete, few sessions are
    /// loaded. Otherwise all sessions that the caller may reach are loaded.
    pub(super) async fn of_names(
        ports: &Ports,
        principal: &'a Principal,
        (cwd, precision): (&Path, Precision),
        names: &[String],
    ) -> Result<Self> {
        let here = fleets_here(ports, cwd).await?;
        let sessions = match named_exactly(ports, principal, names).await? {
            Some(sessions) => sessions,
            None => ports.store.sessions(&reachable(principal)).await?,
        };
        Ok(Self { principal, sessions, here, precision })
    }

    pub(super) fn named(&self, names: &[String], finished: Finished) -> Result<Chosen> {
        let mut chosen = Chosen::default();
        let mut known: HashSet<SessionId> = HashSet::new();
        for name in names {
            match self.find(name) {
                Ok(Meant::Session(summary)) if known.insert(summary.session.id) => {
                    let summary = summary.clone();
                    chosen.sessions.push(Selected { summary, selection: SelectionMode::ByName });
                }
                Ok(Meant::Session(_)) => {}
                Ok(Meant::Fleet(members)) => {
                    let wanted = |it: &&&SessionSummary| {
                        finished == Finished::Included || !ended_by_itself(it)
                    };
                    let new = members.iter().filter(wanted);
                    let new = new.filter(|it| known.insert(it.session.id));
                    let new = new.map(|it| Selected {
                        summary: (*it).clone(),
                        selection: SelectionMode::InBulk,
                    });
                    chosen.sessions.extend(new);
                }
                // If an agent names a session that it may not reach, its whole request fails.
                Err(error) if self.principal.parent().is_some() => return Err(error),
                Err(error) => {
                    chosen.failed.push(FailedTarget { target: name.clone(), error });
                }
            }
        }
        if chosen.failed.len() == names.len()
            && let Some(error) = api::combined_error(&chosen.failed)
        {
            return Err(error);
        }
        Ok(chosen)
    }

    pub(super) fn find(&self, text: &str) -> Result<Meant<'_>> {
        words::check_address(text)?;
        let addressable: Vec<_> = self.sessions.iter().map(as_addressable).collect();
        // A fleet contains sessions that an agent may not reach.
        let is_agent = self.principal.parent().is_some();
        let targets =
            if is_agent { AddressTargets::Sessions } else { AddressTargets::SessionsAndFleets };
        let here = self.here.first().map(FleetName::as_str);
        let reading = AddressReading { here, precision: self.precision, targets };
        match address::find(&addressable, text, reading) {
            ResolvedAddress::Session(id) => {
                let found = self.sessions.iter().find(|it| it.session.id == id);
                found
                    .map(Meant::Session)
                    .ok_or_else(|| Error::internal("an address matches an unknown session"))
            }
            ResolvedAddress::Fleet(name) => Ok(Meant::Fleet(self.fleet(&name))),
            ResolvedAddress::Several(candidates) => Err(self.ambiguous(text, &candidates)),
            ResolvedAddress::Nothing { similar } => {
                Err(hide_unknown(self.principal, unknown(text, &similar, targets)))
            }
        }
    }

    fn fleet(&self, name: &str) -> Vec<&SessionSummary> {
        self.sessions.iter().filter(|it| it.session.fleet.as_str() == name).collect()
    }

    fn ambiguous(&self, text: &str, candidates: &[AddressMatch]) -> Error {
        let are_sessions = candidates.iter().all(|it| matches!(it, AddressMatch::Session(_)));
        let what = if are_sessions { "sessions" } else { "sessions or fleets" };
        let error = Error::usage(format!("`{text}` can mean {} {what}", candidates.len()));
        candidates.iter().take(MAX_LISTED).fold(error, |error, candidate| match candidate {
            AddressMatch::Fleet(name) => error.hint(format!("use `{name}` (the fleet)")),
            AddressMatch::Session(id) => {
                let found = self.sessions.iter().find(|it| it.session.id == *id);
                let address = found.map(|it| it.session.address()).unwrap_or_default();
                error.hint(format!("use `{address}` ({id})"))
            }
        })
    }
}

fn hide_unknown(principal: &Principal, error: Error) -> Error {
    if error.kind == Kind::NotFound { principal.unknown_session(error) } else { error }
}

fn unknown(text: &str, similar: &[String], targets: AddressTargets) -> Error {
    let what = if targets == AddressTargets::Sessions { "session" } else { "session or fleet" };
    let error = Error::not_found(format!("there is no {what} `{text}`"));
    let error = similar.iter().fold(error, |error, it| error.hint(format!("did you mean `{it}`?")));
    error.hint("run `segue ls --all` to see all sessions")
}

fn as_addressable(summary: &SessionSummary) -> Addressable<'_> {
    Addressable {
        id: summary.session.id,
        fleet: summary.session.fleet.as_str(),
        name: summary.session.name.as_str(),
        vendor_session: summary.binding.as_ref().map(|it| &it.vendor_session),
        is_child: summary.session.parent.is_some(),
    }
}

/// Returns the sessions, and the members of fleets, that have exactly these names. Returns `None`
/// if a name matches nothing exactly, or if an agent chose that name for a session. In both cases
/// names with this prefix have to be considered, too.
async fn named_exactly(
    ports: &Ports,
    principal: &Principal,
    names: &[String],
) -> Result<Option<Vec<SessionSummary>>> {
    let mut sessions: BTreeMap<(Timestamp, SessionId), SessionSummary> = BTreeMap::new();
    for name in names {
        let mut found = Vec::new();
        for query in exact_queries(principal, name) {
            found.extend(ports.store.sessions(&query).await?);
        }
        let is_chosen_by_agent =
            |it: &SessionSummary| it.session.parent.is_some() && it.session.name.as_str() == name;
        if found.is_empty() || found.iter().any(is_chosen_by_agent) {
            return Ok(None);
        }
        let found = found.into_iter().map(|it| ((it.session.created_at, it.session.id), it));
        sessions.extend(found);
    }
    Ok(Some(sessions.into_values().collect()))
}

/// Returns the queries that find everything with exactly this name.
fn exact_queries(principal: &Principal, text: &str) -> Vec<SessionQuery> {
    let text = address::without_scheme(text);
    let (fleet, name) = text.split_once('/').unwrap_or(("", text));
    let (fleet, name) = (FleetName::parse(fleet).ok(), SessionName::parse(name).ok());
    let is_word = fleet.is_none();
    let is_reachable = |id: &SessionId| principal.only_session().is_none_or(|only| only == *id);
    let id = text.parse().ok().filter(is_reachable);
    let id = id.map(|id| SessionQuery { ids: Some(vec![id]), ..reachable(principal) });
    let named = name.map(|name| SessionQuery { fleet, name: Some(name), ..reachable(principal) });
    let ids = Some(vec![VendorSessionId::new(text)]);
    let bound = SessionQuery { vendor_sessions: ids, ..reachable(principal) };
    let members = FleetName::parse(text).ok().filter(|_| is_word);
    let members = members.map(|fleet| SessionQuery { fleet: Some(fleet), ..reachable(principal) });
    [id, named, Some(bound), members].into_iter().flatten().collect()
}
