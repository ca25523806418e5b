//! Adopts conversations that were started without Segue.

use std::sync::Arc;

use segue_core::api::{
    AdoptCandidate, AdoptReport, AdoptRequest, SessionView, SkippedConversation,
};
use segue_core::flows::SessionState;
use segue_core::flows::adopt::{self, Wanted};
use segue_core::flows::create::{SessionBeginning, SessionDraft, create};
use segue_core::flows::{naming, view};
use segue_core::model::{
    RequestKey, RequestStep, Session, SessionName, SessionSettings, VendorSessionId,
};
use segue_core::ports::SessionQuery;
use segue_core::rules::{self, words};
use segue_core::{Error, Result};

use super::Supervisor;
use super::run::ensure_fleet;
use crate::project::Project;
use crate::requests::step;

/// How many candidates are listed at most.
const SHOWN: usize = 50;

/// Lists the conversations that can be adopted, or adopts them.
pub(crate) async fn adopt(
    supervisor: &Arc<Supervisor>,
    key: Option<RequestKey>,
    request: AdoptRequest,
) -> Result<AdoptReport> {
    let ports = &supervisor.ports;
    let takes_in = request.id.is_some() || request.all;
    let vendor = request.vendor.as_deref().map(|word| ports.vendors.named(word)).transpose()?;
    let wanted = Wanted {
        vendor: vendor.map(|vendor| vendor.id()),
        id: request.id.clone().map(VendorSessionId::new),
        cwd: None,
        since: request.since,
        at_most: (!takes_in).then_some(SHOWN),
    };
    wanted.id.as_ref().map_or(Ok(()), words::check_id)?;
    let candidates = adopt::candidates(ports, &request.caller.environment, &wanted).await?;
    if !takes_in {
        return Ok(AdoptReport { candidates, ..AdoptReport::default() });
    }
    let adopted = adopted_before(supervisor, key).await?;
    if candidates.is_empty() && adopted.is_empty() && request.id.is_some() {
        return Err(unknown(supervisor, &wanted).await?);
    }
    let mut report = AdoptReport { adopted, ..AdoptReport::default() };
    for candidate in candidates {
        match take_in(supervisor, &candidate, (request.name.as_deref(), key)).await {
            Ok(session) => report.adopted.push(session),
            Err(error) if request.id.is_some() => return Err(error),
            Err(error) => report.skipped.push(SkippedConversation {
                vendor: candidate.vendor,
                vendor_session_id: candidate.vendor_session_id,
                why: error.to_string(),
            }),
        }
    }
    Ok(report)
}

/// Returns the sessions that an earlier attempt of the same request created.
async fn adopted_before(
    supervisor: &Supervisor,
    key: Option<RequestKey>,
) -> Result<Vec<SessionView>> {
    let Some(key) = key else { return Ok(Vec::new()) };
    let ports = &supervisor.ports;
    let mut adopted = Vec::new();
    for step in ports.store.request(key).await? {
        if let RequestStep::Adopted { session, .. } = step
            && let Ok(state) = SessionState::load(ports, session).await
        {
            adopted.push(view::session(&view::summary(&state)));
        }
    }
    Ok(adopted)
}

/// Returns the error for a conversation that cannot be adopted: it belongs to a session already, or
/// it does not exist.
async fn unknown(supervisor: &Supervisor, wanted: &Wanted) -> Result<Error> {
    let id = wanted.id.as_ref().map(ToString::to_string).unwrap_or_default();
    let query = SessionQuery {
        vendor: wanted.vendor.clone(),
        vendor_sessions: Some(wanted.id.iter().cloned().collect()),
        ..SessionQuery::default()
    };
    let sessions = supervisor.ports.store.sessions(&query).await?;
    Ok(match sessions.first() {
        Some(summary) => {
            let name = summary.session.address();
            Error::conflict(format!("the conversation `{id}` belongs to `{name}` already"))
                .hint(format!("run `segue resume {name}` to go on with it"))
        }
        None => Error::not_found(format!("there is no conversation `{id}`"))
            .hint("run `segue adopt` to see what could be taken in"),
    })
}

async fn take_in(
    supervisor: &Arc<Supervisor>,
    candidate: &AdoptCandidate,
    (name, key): (Option<&str>, Option<RequestKey>),
) -> Result<SessionView> {
    let session = draft(supervisor, candidate, name).await?;
    let (ports, conversation) = (&supervisor.ports, candidate.vendor_session_id.clone());
    let adopted = RequestStep::Adopted { session: session.id, conversation };
    let along = step(ports, key, adopted);
    let state = adopt::take_in(ports, session, &candidate.vendor_session_id, along).await?;
    supervisor.scribe.write(&state.session.fleet).await?;
    Ok(view::session(&view::summary(&state)))
}

/// Returns the session to create for a conversation.
pub(super) async fn draft(
    supervisor: &Arc<Supervisor>,
    candidate: &AdoptCandidate,
    name: Option<&str>,
) -> Result<Session> {
    let ports = &supervisor.ports;
    let folder = ports.machine.folder(&candidate.cwd)?;
    if folder.real_path != candidate.cwd {
        return Err(Error::conflict(format!(
            "`{}` is another folder now",
            candidate.cwd.display()
        ))
        .caused_by(format!("it leads to `{}`", folder.real_path.display())));
    }
    let project = Project::around(&candidate.cwd, ports.vendors.as_ref())?;
    let fleet = ensure_fleet(ports, project.as_ref()).await?;
    let name = match name {
        Some(name) => SessionName::parse(name)?,
        None => {
            let suggestions = rules::naming::suggestions(ports.clock.random_id());
            naming::first_free(ports, &fleet, suggestions).await?
        }
    };
    let draft = SessionDraft {
        fleet,
        name,
        vendor: candidate.vendor.clone(),
        cwd: candidate.cwd.clone(),
        config_dir: candidate.config_dir.clone(),
        agent: None,
        settings: SessionSettings::default(),
        headless: false,
        parent: None,
        beginning: SessionBeginning::Adoption,
    };
    Ok(create(ports, draft))
}
