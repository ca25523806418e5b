//! Finds the sessions that a user's words mean.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use jiff::Timestamp;

use crate::api::{self, FailedTarget, LeftAlone, SelectRequest, Selection};
use crate::error::{Error, Kind, Result};
use crate::flows::bringing_back::Sorter;
use crate::flows::look::SelectionMode;
use crate::model::{
    Dialog, FleetName, How, Principal, SessionId, SessionName, Status, VendorSessionId,
};
use crate::ports::{Ports, SessionQuery, SessionSummary};
use crate::rules::address::{
    self, AddressMatch, AddressReading, AddressTargets, Addressable, Precision, ResolvedAddress,
};
use crate::rules::bringing_back::AskedFor;
use crate::rules::scope::RestrictedAction;
use crate::rules::{dialog, words};

/// A selected session, and whether it was selected by its own name.
#[derive(Clone, Debug)]
pub struct Selected {
    pub summary: SessionSummary,
    pub asked: SelectionMode,
}

/// The sessions of a selection, oldest first, and the names that match no session.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    pub sessions: Vec<Selected>,
    pub failed: Vec<FailedTarget>,
}

/// Finds the one session that an address means, among those that the caller may reach. The name of
/// a fleet with one session means that session.
pub async fn find(
    ports: &Ports,
    principal: &Principal,
    text: &str,
    cwd: &Path,
) -> Result<SessionSummary> {
    find_one(ports, principal, (text, cwd), Precision::Beginning).await
}

/// Finds a session by its whole name, or by the beginning of its id.
pub async fn find_whole(
    ports: &Ports,
    principal: &Principal,
    text: &str,
    cwd: &Path,
) -> Result<SessionSummary> {
    find_one(ports, principal, (text, cwd), Precision::Whole).await
}

/// Finds the session to answer. A fleet means its only session that asks a question. `question`
/// returns the question that a session shows now.
pub async fn find_asking(
    ports: &Ports,
    principal: &Principal,
    (text, cwd): (&str, &Path),
    question: impl Fn(SessionId) -> Option<Dialog>,
) -> Result<SessionSummary> {
    let names = [text.to_owned()];
    let selectable =
        SelectableSessions::of_names(ports, principal, (cwd, Precision::Beginning), &names).await?;
    let members = match selectable.find(text)? {
        Meant::Session(summary) => return Ok(summary.clone()),
        Meant::Fleet(members) => members,
    };
    let asking: Vec<_> = members.iter().filter(|it| asks_question(it)).copied().collect();
    match (asking.as_slice(), members.as_slice()) {
        ([only], _) | (_, [only]) => Ok((*only).clone()),
        (asking, members) => {
            let fleet = members.first().map_or(text, |it| it.session.fleet.as_str());
            let commands = asking.iter().map(|it| answer_command(it, question(it.session.id)));
            Err(not_one_question(fleet, &commands.collect::<Vec<_>>()))
        }
    }
}

fn asks_question(summary: &SessionSummary) -> bool {
    let status = summary.session.status;
    matches!(status, Status::Waiting(_)) && status.expects_process()
}

/// Returns the command that answers a session's question.
fn answer_command(summary: &SessionSummary, dialog: Option<Dialog>) -> String {
    match dialog {
        Some(dialog) => dialog::hint(&dialog),
        None => format!("run `segue attach {}` to answer it", summary.session.address()),
    }
}

/// Returns the error for an answer to a fleet in which no session or several sessions ask a
/// question. `commands` answer the questions, one each.
fn not_one_question(fleet: &str, commands: &[String]) -> Error {
    if commands.is_empty() {
        return Error::conflict(format!("no session of fleet `{fleet}` asks a question"))
            .hint(format!("run `segue ls --fleet {fleet}` to see its sessions"));
    }
    let count = commands.len();
    let error = Error::usage(format!(
        "{count} sessions of fleet `{fleet}` ask questions: name one session"
    ));
    commands.iter().take(MAX_LISTED).fold(error, Error::hint)
}

async fn find_one(
    ports: &Ports,
    principal: &Principal,
    (text, cwd): (&str, &Path),
    precision: Precision,
) -> Result<SessionSummary> {
    let selectable =
        SelectableSessions::of_names(ports, principal, (cwd, precision), &[text.to_owned()])
            .await?;
    match selectable.find(text)? {
        Meant::Session(summary) => Ok(summary.clone()),
        Meant::Fleet(members) => match members.as_slice() {
            [only] => Ok((*only).clone()),
            members => Err(fleet_instead_of_session(text, members)),
        },
    }
}

fn hide_unknown(principal: &Principal, error: Error) -> Error {
    if error.kind == Kind::NotFound { principal.unknown_session(error) } else { error }
}

/// Returns the query for the sessions that a caller may reach. An agent must not learn of any
/// others, not even from an error.
pub(crate) fn reachable(principal: &Principal) -> SessionQuery {
    SessionQuery { reachable_from: principal.parent(), ..SessionQuery::default() }
}

/// Returns the sessions of a selection. Returns an error if no name matches a session.
pub async fn selected(
    ports: &Ports,
    principal: &Principal,
    selection: &Selection,
    cwd: &Path,
) -> Result<Chosen> {
    let sessions = match selection {
        Selection::Named(names) => {
            let reading = (cwd, Precision::Beginning);
            let selectable = SelectableSessions::of_names(ports, principal, reading, names).await?;
            return selectable.named(names, Finished::Included);
        }
        Selection::All => ports.store.sessions(&SessionQuery::default()).await?,
        Selection::Here => sessions_here(ports, cwd).await?,
    };
    principal.allow(RestrictedAction::Everything)?;
    let in_bulk = |summary| Selected { summary, asked: SelectionMode::InBulk };
    Ok(Chosen { sessions: sessions.into_iter().map(in_bulk).collect(), failed: Vec::new() })
}

/// Returns the sessions that the names mean. Returns an error if no name matches a session.
pub async fn select(
    ports: &Ports,
    principal: &Principal,
    request: &SelectRequest,
) -> Result<Chosen> {
    let SelectRequest { cwd, names, whole, finished } = request;
    let precision = if *whole { Precision::Whole } else { Precision::Beginning };
    let finished = if *finished { Finished::Included } else { Finished::LeftOut };
    let selectable =
        SelectableSessions::of_names(ports, principal, (cwd, precision), names).await?;
    selectable.named(names, finished)
}

/// Removes the sessions that were stopped on purpose or handed off, unless they were named. Returns
/// them as the second value.
pub async fn without_resting(ports: &Ports, chosen: Chosen) -> Result<(Chosen, Vec<LeftAlone>)> {
    let sorter = Sorter::new(ports).await?;
    let asked = AskedFor { by_name: false, with_stopped: false };
    let (mut sessions, mut left_out) = (Vec::new(), Vec::new());
    for selected in chosen.sessions {
        let resting = match selected.asked {
            SelectionMode::ByName => None,
            SelectionMode::InBulk => sorter.resting(&selected.summary, asked).await?,
        };
        match resting.filter(|it| it.why.is_deliberate()) {
            Some(resting) => left_out.push(resting.report(&selected.summary.session)),
            None => sessions.push(selected),
        }
    }
    Ok((Chosen { sessions, ..chosen }, left_out))
}

/// Whether the name of a fleet includes its sessions that ended by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finished {
    Included,
    LeftOut,
}

/// Returns the sessions of the fleets that belong to a folder, and the sessions that work in it.
async fn sessions_here(ports: &Ports, cwd: &Path) -> Result<Vec<SessionSummary>> {
    let store = &ports.store;
    let here = fleets_here(ports, cwd).await?;
    let in_folder = SessionQuery { cwd: Some(cwd.to_owned()), ..SessionQuery::default() };
    let mut sessions = store.sessions(&in_folder).await?;
    sessions.retain(|it| !here.contains(&it.session.fleet));
    for fleet in &here {
        sessions.extend(store.sessions(&SessionQuery::fleet(fleet)).await?);
    }
    sessions.sort_by_key(|it| (it.session.created_at, it.session.id));
    Ok(sessions)
}

impl Selected {
    /// Returns whether a command that ends processes skips the session, because it ended by itself
    /// and was not named.
    pub fn is_finished(&self) -> bool {
        self.asked == SelectionMode::InBulk && ended_by_itself(&self.summary)
    }
}

fn ended_by_itself(summary: &SessionSummary) -> bool {
    matches!(summary.session.status, Status::Ended(How::Quit | How::TurnFailed | How::Failed(_)))
}

/// What an address means.
enum Meant<'a> {
    Session(&'a SessionSummary),
    Fleet(Vec<&'a SessionSummary>),
}

/// The sessions that a caller's words may mean, and the rules to read these words.
struct SelectableSessions<'a> {
    principal: &'a Principal,
    sessions: Vec<SessionSummary>,
    /// The fleets that belong to the caller's folder. The project's own fleet comes first.
    here: Vec<FleetName>,
    precision: Precision,
}

impl<'a> SelectableSessions<'a> {
    /// Loads the sessions that these names may mean. If every name is complete, few sessions are
    /// loaded. Otherwise all sessions that the caller may reach are loaded.
    async fn of_names(
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

    fn named(&self, names: &[String], finished: Finished) -> Result<Chosen> {
        let mut chosen = Chosen::default();
        let mut known: HashSet<SessionId> = HashSet::new();
        for name in names {
            match self.find(name) {
                Ok(Meant::Session(summary)) if known.insert(summary.session.id) => {
                    let summary = summary.clone();
                    chosen.sessions.push(Selected { summary, asked: SelectionMode::ByName });
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
                        asked: SelectionMode::InBulk,
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

    fn find(&self, text: &str) -> Result<Meant<'_>> {
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

/// An error lists at most this many sessions.
const MAX_LISTED: usize = 10;

fn unknown(text: &str, similar: &[String], targets: AddressTargets) -> Error {
    let what = if targets == AddressTargets::Sessions { "session" } else { "session or fleet" };
    let error = Error::not_found(format!("there is no {what} `{text}`"));
    let error = similar.iter().fold(error, |error, it| error.hint(format!("did you mean `{it}`?")));
    error.hint("run `segue ls --all` to see all sessions")
}

fn fleet_instead_of_session(name: &str, members: &[&SessionSummary]) -> Error {
    let count = members.len();
    let error =
        Error::usage(format!("`{name}` is a fleet of {count} sessions: name one of its sessions"));
    let listed = members.iter().take(MAX_LISTED);
    listed.fold(error, |error, it| error.hint(format!("use `{}`", it.session.address())))
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
    let id =
        text.parse().ok().map(|id| SessionQuery { ids: Some(vec![id]), ..reachable(principal) });
    let named = name.map(|name| SessionQuery { fleet, name: Some(name), ..reachable(principal) });
    let ids = Some(vec![VendorSessionId::new(text)]);
    let bound = SessionQuery { vendor_sessions: ids, ..reachable(principal) };
    let members = FleetName::parse(text).ok().filter(|_| is_word);
    let members = members.map(|fleet| SessionQuery { fleet: Some(fleet), ..reachable(principal) });
    [id, named, Some(bound), members].into_iter().flatten().collect()
}

/// Returns the fleets that belong to the project around this folder. The project's own fleet comes
/// first.
async fn fleets_here(ports: &Ports, cwd: &Path) -> Result<Vec<FleetName>> {
    let root = ports.projects.root(cwd).unwrap_or_else(|| cwd.to_owned());
    let fleets = ports.store.fleets_of(&root).await?;
    Ok(fleets.into_iter().map(|fleet| fleet.name).collect())
}
