//! Trusting project files: a file starts agents only after the user has trusted its content.

use crate::api::{TrustRequest, TrustView};
use crate::error::{Error, Result};
use crate::model::{EventPayload, FleetScale, NewEvent, PROJECT_FILE, Project, Trust};
use crate::ports::{Change, Commit, Ports};
use crate::rules::trust::{self, Changes};

/// Shows what a project file contains. With the digest of what was shown, records that the user
/// trusts it.
pub async fn trust(ports: &Ports, request: &TrustRequest) -> Result<TrustView> {
    let folder = ports.machine.folder(&request.folder)?.real_path;
    let root = ports.projects.root(&folder).ok_or_else(|| {
        let folder = folder.display();
        Error::not_found(format!("no `{PROJECT_FILE}` is in `{folder}` or above it"))
            .hint("run `segue init` to write one")
    })?;
    let project = ports.projects.read(&root)?.project(&FleetScale::default())?;
    let view = view(ports, &project).await?;
    match &request.digest {
        None => Ok(view),
        Some(shown) if *shown != view.digest => {
            Err(Error::conflict("the project file changed while you looked at it")
                .hint("run `segue trust` again"))
        }
        Some(_) => {
            record(ports, &project).await?;
            Ok(TrustView { trusted: true, ..view })
        }
    }
}

/// Returns an error if the user has not trusted the project file with its current content. The
/// trust covers exactly this [`Project`]: its files are not read again.
pub async fn require(ports: &Ports, project: &Project) -> Result<()> {
    let changes = changes(ports, project).await?;
    trust::refusal(&project.folder, changes, &project.claims).map_or(Ok(()), Err)
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
    Ok(known.map(|known| trust::changes(&known.claims, &project.claims)))
}

async fn record(ports: &Ports, project: &Project) -> Result<()> {
    let at = ports.clock.now();
    let claims = trust::recorded(&project.claims);
    let trust = Trust { folder: project.folder.clone(), claims, at };
    let payload = EventPayload::Trusted { folder: project.folder.display().to_string() };
    let events = vec![NewEvent { at, session: None, launch: None, payload }];
    ports.store.commit(Commit { changes: vec![Change::PutTrust(trust)], events }).await?;
    Ok(())
}
