//! Starts a new session.

use std::sync::Arc;

use segue_core::api::{RunRequest, StartedSession};
use segue_core::flows::look::SelectionMode;
use segue_core::flows::run::{self, EarlierRun};
use segue_core::flows::{SessionState, caller_environment, tasks};
use segue_core::model::{Environment, Principal, RequestKey, WorkRef};
use segue_core::ports::{Commit, SessionQuery};
use segue_core::rules::accounts::StartRequester;
use segue_core::{Error, Result};

use super::resume::bring_back;
use super::{SessionRequest, Start, StartTrigger, Supervisor, ask};
use crate::project;

/// At most this many generated names are tried if other requests take them.
const MAX_NAMES_TRIED: usize = 5;

/// Starts a new session for a user or an agent.
pub(crate) async fn run(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    mut request: RunRequest,
) -> Result<StartedSession> {
    run::check(principal, &request)?;
    let ports = &supervisor.ports;
    let sent = request.caller.environment;
    request.caller.environment = caller_environment::environment(ports, principal, sent).await?;
    if let Some(earlier) = run::earlier(ports, key).await? {
        return finish_earlier_attempt(supervisor, earlier, request.caller.environment).await;
    }
    let limits = project::tree_limits(supervisor.config_file());
    tasks::check_limits(ports, principal, &limits).await?;
    let plan = run::plan(ports, principal, &request).await?;
    supervisor.take_start(principal, &limits)?;
    let environment = &request.caller.environment;
    let worktree = supervisor.make_worktree(plan.worktree.as_ref(), environment).await?;
    for _ in 0..MAX_NAMES_TRIED {
        let session = plan.session(ports).await?;
        let child = WorkRef::Session(session.id);
        let changes = tasks::limit_in_commit(principal, child, &limits);
        let start = Start {
            message: plan.prompt.clone(),
            environment: request.caller.environment.clone(),
            trigger: StartTrigger::now(StartRequester::One),
            request: key,
            worktree: worktree.as_ref().map(|made| made.event.clone()),
            same_commit: Commit { changes, events: Vec::new() },
        };
        let inbox = supervisor.start_actor(SessionState::new(session));
        match ask(&inbox, |reply| SessionRequest::Start { start: Box::new(start), reply }).await {
            Err(error) if plan.may_try_another_name(&error) => {}
            result => {
                let result = result.map_err(|error| tasks::explained(principal, error));
                return result.map(|session| StartedSession { session, notices: plan.notices });
            }
        }
    }
    Err(Error::conflict("no free name was found").hint("give the session a name with `--name`"))
}

/// Returns the session that an earlier attempt of the same request created. Starts it if its
/// process never ran because the daemon died.
async fn finish_earlier_attempt(
    supervisor: &Arc<Supervisor>,
    EarlierRun { session, is_cut_short }: EarlierRun,
    environment: Environment,
) -> Result<StartedSession> {
    if is_cut_short {
        let start = (SelectionMode::ByName, StartTrigger::now(StartRequester::One));
        bring_back(supervisor, session, start, (environment, None)).await?;
    }
    let sessions = supervisor.ports.store.sessions(&SessionQuery::id(session)).await?;
    let summary = sessions.first().ok_or_else(|| run::removed(session))?;
    Ok(StartedSession { session: supervisor.view(summary), notices: Vec::new() })
}
