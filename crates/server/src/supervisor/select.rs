//! Which sessions are meant by what was typed.

use std::collections::HashSet;
use std::path::Path;

use segue_core::api::{self, FailedTarget, LeftAlone, SelectRequest, Selection, SessionView};
use segue_core::flows::bringing_back::Sorter;
use segue_core::flows::look::Asked;
use segue_core::model::{FleetName, How, SessionId, Status};
use segue_core::ports::SessionSummary;
use segue_core::rules::address::{self, Addressable, Candidate, Found, Precision, Reach, Reading};
use segue_core::rules::bringing_back::AskedFor;
use segue_core::rules::scope::{Deed, Scope};
use segue_core::rules::{dialog, words};
use segue_core::{Error, Kind, Result};

use super::Supervisor;
use crate::project;

/// A session that was selected, and whether by its own name.
#[derive(Clone, Debug)]
pub(crate) struct Selected {
    pub(crate) summary: SessionSummary,
    pub(crate) asked: Asked,
}

/// The sessions of a selection, the oldest first, and the names that led to none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) sessions: Vec<Selected>,
    pub(crate) failed: Vec<FailedTarget>,
}

/// Finds the one session that an address means, if the caller may reach it. A fleet of one session
/// means that session.
pub(crate) async fn find(
    supervisor: &Supervisor,
    scope: &Scope,
    text: &str,
    cwd: &Path,
) -> Result<SessionSummary> {
    find_one(supervisor, scope, (text, cwd), Precision::Beginning).await
}

/// Finds a session by its whole name, or by the beginning of its id.
pub(crate) async fn find_whole(
    supervisor: &Supervisor,
    scope: &Scope,
    text: &str,
    cwd: &Path,
) -> Result<SessionSummary> {
    find_one(supervisor, scope, (text, cwd), Precision::Whole).await
}

/// Finds a session that can be answered: of a fleet the only one that asks something.
pub(crate) async fn find_asking(
    supervisor: &Supervisor,
    scope: &Scope,
    text: &str,
    cwd: &Path,
) -> Result<SessionSummary> {
    let all = Known::load(supervisor, scope, cwd, Precision::Beginning).await?;
    let members = match all.find(text)? {
        Meant::Session(summary) => return Ok(summary.clone()),
        Meant::Fleet(members) => members,
    };
    let asking: Vec<_> = members.iter().filter(|it| asks(it)).copied().collect();
    match (asking.as_slice(), members.as_slice()) {
        ([only], _) | (_, [only]) => Ok((*only).clone()),
        (asking, members) => {
            let fleet = members.first().map_or(text, |it| it.session.fleet.as_str());
            let asking: Vec<_> = asking.iter().map(|it| supervisor.view(it)).collect();
            Err(not_one_question(fleet, &asking))
        }
    }
}

fn asks(summary: &SessionSummary) -> bool {
    let status = summary.session.status;
    matches!(status, Status::Waiting(_)) && status.expects_process()
}

/// Makes the error about an answer to a fleet of which no session asks something, or several do.
fn not_one_question(fleet: &str, asking: &[SessionView]) -> Error {
    if asking.is_empty() {
        return Error::conflict(format!("no session of fleet `{fleet}` asks anything"))
            .hint(format!("run `segue ls --fleet {fleet}` to see its sessions"));
    }
    let count = asking.len();
    let error =
        Error::usage(format!("{count} sessions of fleet `{fleet}` ask something: name one"));
    let command = |it: &SessionView| match &it.dialog {
        Some(dialog) => dialog::hint(dialog),
        None => format!("run `segue attach {}` to answer it", it.address),
    };
    asking.iter().take(MOST_LISTED).fold(error, |error, it| error.hint(command(it)))
}

async fn find_one(
    supervisor: &Supervisor,
    scope: &Scope,
    (text, cwd): (&str, &Path),
    precision: Precision,
) -> Result<SessionSummary> {
    let all = Known::load(supervisor, scope, cwd, precision).await?;
    match all.find(text)? {
        Meant::Session(summary) => Ok(summary.clone()),
        Meant::Fleet(members) => match members.as_slice() {
            [only] => Ok((*only).clone()),
            members => Err(whole_fleet(text, members)),
        },
    }
}

fn in_scope(scope: &Scope, error: Error) -> Error {
    if error.kind == Kind::NotFound { scope.unknown_session(error) } else { error }
}

/// Returns the sessions that a caller may reach. For an agent there are no others: not even an
/// error tells it about them.
pub(super) async fn visible(supervisor: &Supervisor, scope: &Scope) -> Result<Vec<SessionSummary>> {
    let mut sessions = supervisor.ports.store.sessions().await?;
    sessions.retain(|it| scope.allow_session(it.session.id, it.session.parent).is_ok());
    Ok(sessions)
}

/// Returns the sessions of a selection. Fails if none of several names leads to a session.
pub(crate) async fn selected(
    supervisor: &Supervisor,
    scope: &Scope,
    selection: &Selection,
    cwd: &Path,
) -> Result<Chosen> {
    let all = Known::load(supervisor, scope, cwd, Precision::Beginning).await?;
    let chosen = match selection {
        Selection::All => in_bulk(all.sessions, |_| true),
        Selection::Here => {
            let here = all.here;
            in_bulk(all.sessions, |it| here.contains(&it.session.fleet) || it.session.cwd == cwd)
        }
        Selection::Named(names) => return all.named(names, Finished::Included),
    };
    scope.allow(Deed::Everything)?;
    Ok(Chosen { sessions: chosen, failed: Vec::new() })
}

/// Returns the sessions that names mean. Fails if none of the names leads to a session.
pub(crate) async fn select(
    supervisor: &Supervisor,
    scope: &Scope,
    request: &SelectRequest,
) -> Result<Chosen> {
    let SelectRequest { cwd, names, whole, finished } = request;
    let precision = if *whole { Precision::Whole } else { Precision::Beginning };
    let finished = if *finished { Finished::Included } else { Finished::LeftOut };
    Known::load(supervisor, scope, cwd, precision).await?.named(names, finished)
}

/// Takes the sessions out that were stopped on purpose or handed over, unless they were named.
pub(crate) async fn without_resting(
    supervisor: &Supervisor,
    chosen: Chosen,
) -> Result<(Chosen, Vec<LeftAlone>)> {
    let sorter = Sorter::new(&supervisor.ports).await?;
    let asked = AskedFor { by_name: false, with_stopped: false };
    let (mut sessions, mut left_out) = (Vec::new(), Vec::new());
    for selected in chosen.sessions {
        let resting = match selected.asked {
            Asked::ByName => None,
            Asked::InBulk => sorter.resting(&selected.summary, asked).await?,
        };
        match resting.filter(|it| it.rest.is_deliberate()) {
            Some(resting) => left_out.push(resting.report(&selected.summary.session)),
            None => sessions.push(selected),
        }
    }
    Ok((Chosen { sessions, ..chosen }, left_out))
}

/// Whether a fleet stands also for sessions that its user is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finished {
    Included,
    LeftOut,
}

fn in_bulk(
    sessions: Vec<SessionSummary>,
    wanted: impl Fn(&SessionSummary) -> bool,
) -> Vec<Selected> {
    let chosen = sessions.into_iter().filter(|it| wanted(it));
    chosen.map(|summary| Selected { summary, asked: Asked::InBulk }).collect()
}

impl Selected {
    /// Tells whether a command that ends processes skips the session: it ended by itself, and was not
    /// named.
    pub(crate) fn is_finished(&self) -> bool {
        self.asked == Asked::InBulk && ended_by_itself(&self.summary)
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

/// The sessions that a caller may reach, and how its words are read.
struct Known<'a> {
    scope: &'a Scope,
    sessions: Vec<SessionSummary>,
    /// The fleets at home in the caller's folder, its own one first.
    here: Vec<FleetName>,
    precision: Precision,
}

impl<'a> Known<'a> {
    async fn load(
        supervisor: &Supervisor,
        scope: &'a Scope,
        cwd: &Path,
        precision: Precision,
    ) -> Result<Self> {
        let sessions = visible(supervisor, scope).await?;
        let here = fleets_here(supervisor, cwd).await?;
        Ok(Self { scope, sessions, here, precision })
    }

    fn named(&self, names: &[String], finished: Finished) -> Result<Chosen> {
        let mut chosen = Chosen::default();
        let mut known: HashSet<SessionId> = HashSet::new();
        for name in names {
            match self.find(name) {
                Ok(Meant::Session(summary)) if known.insert(summary.session.id) => {
                    let summary = summary.clone();
                    chosen.sessions.push(Selected { summary, asked: Asked::ByName });
                }
                Ok(Meant::Session(_)) => {}
                Ok(Meant::Fleet(members)) => {
                    let wanted = |it: &&&SessionSummary| {
                        finished == Finished::Included || !ended_by_itself(it)
                    };
                    let new = members.iter().filter(wanted);
                    let new = new.filter(|it| known.insert(it.session.id));
                    let new =
                        new.map(|it| Selected { summary: (*it).clone(), asked: Asked::InBulk });
                    chosen.sessions.extend(new);
                }
                // An agent that reaches too far gets nothing done at all.
                Err(error) if self.scope.parent().is_some() => return Err(error),
                Err(error) => {
                    chosen.failed.push(FailedTarget { target: name.clone(), error });
                }
            }
        }
        if chosen.failed.len() == names.len()
            && let Some(error) = api::none_done(&chosen.failed)
        {
            return Err(error);
        }
        Ok(chosen)
    }

    fn find(&self, text: &str) -> Result<Meant<'_>> {
        words::check_address(text)?;
        let addressable: Vec<_> = self.sessions.iter().map(as_addressable).collect();
        // A fleet has sessions that are none of an agent's business.
        let is_agent = self.scope.parent().is_some();
        let reach = if is_agent { Reach::Sessions } else { Reach::SessionsAndFleets };
        let here = self.here.first().map(FleetName::as_str);
        let reading = Reading { here, precision: self.precision, reach };
        match address::find(&addressable, text, reading) {
            Found::Session(id) => {
                let found = self.sessions.iter().find(|it| it.session.id == id);
                found
                    .map(Meant::Session)
                    .ok_or_else(|| Error::internal("an address led to nothing"))
            }
            Found::Fleet(name) => Ok(Meant::Fleet(self.fleet(&name))),
            Found::Several(candidates) => Err(self.ambiguous(text, &candidates)),
            Found::Nothing { similar } => Err(in_scope(self.scope, unknown(text, &similar, reach))),
        }
    }

    fn fleet(&self, name: &str) -> Vec<&SessionSummary> {
        self.sessions.iter().filter(|it| it.session.fleet.as_str() == name).collect()
    }

    fn ambiguous(&self, text: &str, candidates: &[Candidate]) -> Error {
        let are_sessions = candidates.iter().all(|it| matches!(it, Candidate::Session(_)));
        let what = if are_sessions { "sessions" } else { "sessions or fleets" };
        let error = Error::usage(format!("`{text}` can mean {} {what}", candidates.len()));
        candidates.iter().take(MOST_LISTED).fold(error, |error, candidate| match candidate {
            Candidate::Fleet(name) => error.hint(format!("use `{name}` (the fleet)")),
            Candidate::Session(id) => {
                let found = self.sessions.iter().find(|it| it.session.id == *id);
                let address = found.map(|it| it.session.address()).unwrap_or_default();
                error.hint(format!("use `{address}` ({id})"))
            }
        })
    }
}

/// An error lists at most this many sessions.
const MOST_LISTED: usize = 10;

fn unknown(text: &str, similar: &[String], reach: Reach) -> Error {
    let what = if reach == Reach::Sessions { "session" } else { "session or fleet" };
    let error = Error::not_found(format!("there is no {what} `{text}`"));
    let error = similar.iter().fold(error, |error, it| error.hint(format!("did you mean `{it}`?")));
    error.hint("run `segue ls --all` to see all sessions")
}

fn whole_fleet(name: &str, members: &[&SessionSummary]) -> Error {
    let count = members.len();
    let error = Error::usage(format!("`{name}` is a fleet of {count} sessions: this takes one"));
    let listed = members.iter().take(MOST_LISTED);
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

/// Returns the fleets that are at home in the project around this folder, its own one first.
async fn fleets_here(supervisor: &Supervisor, cwd: &Path) -> Result<Vec<FleetName>> {
    let root = project::root(cwd).unwrap_or_else(|| cwd.to_owned());
    let fleets = supervisor.ports.store.fleets_of(&root).await?;
    Ok(fleets.into_iter().map(|fleet| fleet.name).collect())
}
