//! Which sessions are meant by what was typed.

use std::path::Path;

use segue_core::api::Selection;
use segue_core::flows::look::Asked;
use segue_core::model::{FleetName, How, SessionId, Status};
use segue_core::ports::SessionSummary;
use segue_core::rules::address::{self, Addressable, Found};
use segue_core::rules::scope::{Deed, Scope};
use segue_core::rules::words;
use segue_core::{Error, Kind, Result};

use super::Supervisor;
use crate::project;

/// A session that was selected, and whether by its own name.
#[derive(Clone, Debug)]
pub(crate) struct Selected {
    pub(crate) summary: SessionSummary,
    pub(crate) asked: Asked,
}

/// Finds the one session that an address means, if the caller may reach it.
pub(crate) async fn find(
    supervisor: &Supervisor,
    scope: &Scope,
    text: &str,
    cwd: &Path,
) -> Result<SessionSummary> {
    let sessions = visible(supervisor, scope).await?;
    let here = fleets_here(supervisor, cwd).await?;
    let found = one(&sessions, text, here.first());
    found.cloned().map_err(|error| in_scope(scope, error))
}

fn in_scope(scope: &Scope, error: Error) -> Error {
    if error.kind == Kind::NotFound { scope.unknown_session(error) } else { error }
}

/// Returns the sessions that a caller may reach. For an agent there are no others: not even an
/// error tells it about them.
async fn visible(supervisor: &Supervisor, scope: &Scope) -> Result<Vec<SessionSummary>> {
    let mut sessions = supervisor.ports.store.sessions().await?;
    sessions.retain(|it| scope.allow_session(it.session.id, it.session.parent).is_ok());
    Ok(sessions)
}

/// Returns the sessions of a selection, the oldest first.
pub(crate) async fn selected(
    supervisor: &Supervisor,
    scope: &Scope,
    selection: &Selection,
    cwd: &Path,
) -> Result<Vec<Selected>> {
    let sessions = visible(supervisor, scope).await?;
    let here = fleets_here(supervisor, cwd).await?;
    let chosen = match selection {
        Selection::All => in_bulk(sessions, |_| true),
        Selection::Here => {
            in_bulk(sessions, |it| here.contains(&it.session.fleet) || it.session.cwd == cwd)
        }
        Selection::Named(names) => named(&sessions, scope, names, here.first())?,
    };
    if !matches!(selection, Selection::Named(_)) {
        scope.allow(Deed::Everything)?;
    }
    Ok(chosen)
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
        let status = self.summary.session.status;
        let ended = matches!(status, Status::Ended(How::Quit | How::TurnFailed | How::Failed(_)));
        ended && self.asked == Asked::InBulk
    }
}

fn named(
    sessions: &[SessionSummary],
    scope: &Scope,
    names: &[String],
    here: Option<&FleetName>,
) -> Result<Vec<Selected>> {
    let mut chosen: Vec<Selected> = Vec::new();
    for name in names {
        let more = match one(sessions, name, here) {
            Ok(summary) => vec![Selected { summary: summary.clone(), asked: Asked::ByName }],
            Err(error) if scope.parent().is_some() => return Err(in_scope(scope, error)),
            Err(error) => fleet(sessions, name).ok_or(error)?,
        };
        let known: Vec<SessionId> = chosen.iter().map(|it| it.summary.session.id).collect();
        chosen.extend(more.into_iter().filter(|it| !known.contains(&it.summary.session.id)));
    }
    Ok(chosen)
}

fn fleet(sessions: &[SessionSummary], name: &str) -> Option<Vec<Selected>> {
    let members = in_bulk(sessions.to_vec(), |it| it.session.fleet.as_str() == name);
    let known = sessions.iter().any(|it| it.session.fleet.as_str() == name);
    known.then_some(members)
}

fn one<'a>(
    sessions: &'a [SessionSummary],
    text: &str,
    here: Option<&FleetName>,
) -> Result<&'a SessionSummary> {
    words::check_address(text)?;
    let addressable: Vec<_> = sessions.iter().map(as_addressable).collect();
    match address::find(&addressable, text, here.map(FleetName::as_str)) {
        Found::One(id) => sessions
            .iter()
            .find(|it| it.session.id == id)
            .ok_or_else(|| Error::internal("an address led to nothing")),
        Found::Several(ids) => Err(ambiguous(sessions, text, &ids)),
        Found::None => Err(Error::not_found(format!("there is no session `{text}`"))
            .hint("run `segue ls --all` to see all sessions")),
    }
}

fn as_addressable(summary: &SessionSummary) -> Addressable<'_> {
    Addressable {
        id: summary.session.id,
        fleet: summary.session.fleet.as_str(),
        name: summary.session.name.as_str(),
        vendor_session: summary.binding.as_ref().map(|it| &it.vendor_session),
    }
}

fn ambiguous(sessions: &[SessionSummary], text: &str, ids: &[SessionId]) -> Error {
    let meant = sessions.iter().filter(|it| ids.contains(&it.session.id));
    let error = Error::usage(format!("`{text}` can mean {} sessions", ids.len()));
    meant.fold(error, |error, it| {
        error.hint(format!("use `{}` ({})", it.session.address(), it.session.id))
    })
}

/// Returns the fleets that are at home in the project around this folder, its own one first.
async fn fleets_here(supervisor: &Supervisor, cwd: &Path) -> Result<Vec<FleetName>> {
    let root = project::root(cwd).unwrap_or_else(|| cwd.to_owned());
    let fleets = supervisor.ports.store.fleets_of(&root).await?;
    Ok(fleets.into_iter().map(|fleet| fleet.name).collect())
}
