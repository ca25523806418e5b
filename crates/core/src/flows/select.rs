//! Finds the sessions that the names in a request mean.

mod selectable;

use std::path::Path;

use crate::api::{FailedTarget, LeftAlone, SelectRequest, Selection};
use crate::error::{Error, Result};
use crate::flows::bringing_back::BringBackDecider;
use crate::flows::look::SelectionMode;
use crate::model::{Dialog, FleetName, How, Principal, SessionId, Status};
use crate::ports::{Ports, SessionQuery, SessionSummary};
use crate::rules::address::Precision;
use crate::rules::bringing_back::UserSelection;
use crate::rules::dialog;
use crate::rules::scope::RestrictedAction;

use selectable::{Finished, Meant, SelectableSessions};

/// A selected session, and whether it was selected by its own name.
#[derive(Clone, Debug)]
pub struct Selected {
    pub summary: SessionSummary,
    pub selection: SelectionMode,
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
    let meant = selectable.find(text).map_err(|error| principal.unknown_session(error))?;
    let members = match meant {
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

/// Returns the query for the sessions that a caller may reach. Neither an agent nor a link to one
/// session may learn of any others, not even from an error.
pub(crate) fn reachable(principal: &Principal) -> SessionQuery {
    let ids = principal.only_session().map(|session| vec![session]);
    SessionQuery { reachable_from: principal.parent(), ids, ..SessionQuery::default() }
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
    let in_bulk = |summary| Selected { summary, selection: SelectionMode::InBulk };
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
    let decider = BringBackDecider::new(ports).await?;
    let selection = UserSelection { by_name: false, with_stopped: false };
    let (mut sessions, mut left_out) = (Vec::new(), Vec::new());
    for selected in chosen.sessions {
        let exclusion = match selected.selection {
            SelectionMode::ByName => None,
            SelectionMode::InBulk => decider.exclusion(&selected.summary, selection).await?,
        };
        match exclusion.filter(|it| it.why.is_deliberate()) {
            Some(exclusion) => left_out.push(exclusion.report(&selected.summary.session)),
            None => sessions.push(selected),
        }
    }
    Ok((Chosen { sessions, ..chosen }, left_out))
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
        self.selection == SelectionMode::InBulk && ended_by_itself(&self.summary)
    }
}

fn ended_by_itself(summary: &SessionSummary) -> bool {
    matches!(summary.session.status, Status::Ended(How::Quit | How::TurnFailed | How::Failed(_)))
}

/// An error lists at most this many sessions.
const MAX_LISTED: usize = 10;

fn fleet_instead_of_session(name: &str, members: &[&SessionSummary]) -> Error {
    let count = members.len();
    let error =
        Error::usage(format!("`{name}` is a fleet of {count} sessions: name one of its sessions"));
    let listed = members.iter().take(MAX_LISTED);
    listed.fold(error, |error, it| error.hint(format!("use `{}`", it.session.address())))
}

/// Returns the fleets that belong to the project around this folder. The project's own fleet comes
/// first.
async fn fleets_here(ports: &Ports, cwd: &Path) -> Result<Vec<FleetName>> {
    let root = ports.projects.root(cwd).unwrap_or_else(|| cwd.to_owned());
    let fleets = ports.store.fleets_of(&root).await?;
    Ok(fleets.into_iter().map(|fleet| fleet.name).collect())
}
