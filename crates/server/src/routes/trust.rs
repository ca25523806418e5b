//! Records that a user trusts a project file, and refuses files that are not trusted.

use std::path::Path;

use axum::Json;
use segue_core::api::{TrustRequest, TrustView};
use segue_core::model::{EventKind, NewEvent, Trust};
use segue_core::ports::{Change, Commit, Ports};
use segue_core::rules::scope::RestrictedAction;
use segue_core::rules::trust::{self, Changes};
use segue_core::{Error, Result};
use segue_host::quoted;

use super::{Admitted, Answer};
use crate::project::{Project, root};

/// How many lines of untrusted content an error shows. `segue trust` shows all of them.
const MOST_LINES: usize = 30;

pub(crate) async fn trust(
    Admitted { supervisor, principal }: Admitted,
    Json(request): Json<TrustRequest>,
) -> Answer<TrustView> {
    principal.allow(RestrictedAction::Trust)?;
    let ports = &supervisor.ports;
    let project = project_in(ports, &request.folder)?;
    let mut view = view(ports, &project).await?;
    if let Some(shown) = request.digest {
        if shown != view.digest {
            return Err(Error::conflict("the project file changed while you looked at it")
                .hint("run `segue trust` again")
                .into());
        }
        record(ports, &project).await?;
        view.trusted = true;
    }
    Ok(Json(view))
}

fn project_in(ports: &Ports, folder: &Path) -> Result<Project> {
    let folder = ports.machine.folder(folder)?.real_path;
    let root = root(&folder).ok_or_else(|| {
        Error::not_found(format!("no `segue.toml` is in `{}` or above it", folder.display()))
            .hint("run `segue init` to write one")
    })?;
    Project::read(&root, ports.vendors.as_ref())
}

async fn view(ports: &Ports, project: &Project) -> Result<TrustView> {
    let (digest, contents) = (trust::digest(&project.claims), trust::shown(&project.claims));
    let changes = changes(ports, project).await?;
    let trusted = changes.as_ref().is_some_and(|it| it.headlines.is_empty());
    let changes = changes.unwrap_or_default().lines;
    Ok(TrustView { folder: project.folder.clone(), digest, trusted, contents, changes })
}

/// Returns what has changed since the file was trusted. `None` if it was never trusted.
async fn changes(ports: &Ports, project: &Project) -> Result<Option<Changes>> {
    let known = ports.store.trust(&project.folder).await?;
    Ok(known.map(|known| trust::changes(&known.digest, &project.claims)))
}

async fn record(ports: &Ports, project: &Project) -> Result<()> {
    let at = ports.clock.now();
    let digest = trust::recorded(&project.claims);
    let trust = Trust { folder: project.folder.clone(), digest, at };
    let text = project.folder.display().to_string();
    let kind = EventKind::Trusted;
    let events = vec![NewEvent { at, session: None, launch: None, kind, text }];
    ports.store.commit(Commit { changes: vec![Change::PutTrust(trust)], events }).await?;
    Ok(())
}

/// Returns an error if the user has not trusted the project file with its current content. The
/// trust covers exactly this `Project`: its files are not read again.
pub(crate) async fn require(ports: &Ports, project: &Project) -> Result<()> {
    let lines = match changes(ports, project).await? {
        Some(changes) if changes.headlines.is_empty() => return Ok(()),
        Some(changes) => changes.lines,
        None => trust::headlines(&project.claims),
    };
    let folder = project.folder.display();
    let error = Error::config(format!("`{folder}/segue.toml` is not trusted as it is now"));
    let told = lines.iter().take(MOST_LINES).map(|line| line.trim_start());
    let error = told.fold(error, |error, line| error.caused_by(line));
    Err(error.hint(format!("look at it, then run `segue trust {}`", quoted(&project.folder))))
}
