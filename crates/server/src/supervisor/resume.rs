//! Brings sessions back, plans that, or counts the sessions that would come back.

use std::sync::Arc;
use std::time::Duration;

use segue_core::Result;
use segue_core::api::{AgentOutcome, PlanReport, RestoreReport, ResumeCount, ResumeRequest};
use segue_core::flows::caller_environment;
use segue_core::flows::look::SelectionMode;
use segue_core::flows::resume::{self, ResumePlan, SessionToResume};
use segue_core::model::{Environment, Principal, RequestKey, SessionId};
use segue_core::rules::accounts::StartRequester;
use tokio::time::timeout;

use super::concurrent::{all, each};
use super::{ConversationRenewal, SessionRequest, StartTrigger, Supervisor};

/// How long `count` waits for the plan of one session.
const COUNT_TIMEOUT: Duration = Duration::from_secs(1);

/// Brings the selected sessions back.
pub(crate) async fn resume(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    request: ResumeRequest,
) -> Result<RestoreReport> {
    let plan = plan_after_handoffs(supervisor, principal, &request).await?;
    let sent = request.caller.environment;
    let environment = caller_environment::environment(&supervisor.ports, principal, sent).await?;
    let trigger = trigger(plan.to_start());
    let tasks = plan.sessions.into_iter().map(
        |SessionToResume { summary, selection, is_fresh, exclusion }| {
            let environment = environment.clone();
            let fresh = is_fresh.then_some(ConversationRenewal(key));
            let supervisor = Arc::clone(supervisor);
            async move {
                match exclusion {
                    Some(exclusion) => Ok(resume::refused_outcome(&summary, &exclusion)),
                    None => {
                        let id = summary.session.id;
                        bring_back(&supervisor, id, (selection, trigger), (environment, fresh))
                            .await
                    }
                }
            }
        },
    );
    Ok(RestoreReport::new(all(tasks).await?, plan.left_alone, plan.failed))
}

/// Returns what a resume would do. Starts nothing. The plan of a session may record that its
/// conversation is lost, or was found again.
pub(crate) async fn plan(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: ResumeRequest,
) -> Result<PlanReport> {
    let plan = resume::plan(&supervisor.ports, principal, &request).await?;
    let ResumePlan { sessions, left_alone, failed } = plan.without_other_machines();
    let mut plan = Vec::new();
    for session in sessions {
        let (id, selection) = (session.summary.session.id, session.selection);
        let planned = supervisor.ask(id, |reply| SessionRequest::Plan { selection, reply }).await?;
        plan.push(session.planned(planned));
    }
    let to_bring_back = plan.iter().filter(|it| it.decision.brings_back()).count();
    Ok(PlanReport { plan, to_bring_back, left_alone, failed })
}

/// Counts the sessions that a resume would bring back. The sessions are planned concurrently; each
/// plan reads at most the end of a transcript. A session that does not answer in time is being
/// started and counts, too.
pub(crate) async fn count(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: ResumeRequest,
) -> Result<ResumeCount> {
    let plan = resume::plan(&supervisor.ports, principal, &request).await?;
    let due = plan.sessions.into_iter().filter(SessionToResume::is_due);
    let tasks = due.map(|SessionToResume { summary, selection, .. }| {
        let supervisor = Arc::clone(supervisor);
        async move {
            let plan = |reply| SessionRequest::Plan { selection, reply };
            let planned = timeout(COUNT_TIMEOUT, supervisor.ask(summary.session.id, plan)).await;
            planned.map_or(Ok(true), |planned| Ok(planned?.decision.brings_back()))
        }
    });
    // A session that cannot be planned is refused by a resume, too.
    let comes_back = each(tasks).await?.into_iter().map(|it: Result<bool>| it.unwrap_or(false));
    Ok(ResumeCount { to_bring_back: comes_back.filter(|it| *it).count() })
}

/// Waits until all handoffs of the selected sessions have ended, and returns the sessions to bring
/// back. A handoff decides which session continues a conversation.
async fn plan_after_handoffs(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &ResumeRequest,
) -> Result<ResumePlan> {
    loop {
        let plan = resume::plan(&supervisor.ports, principal, request).await?;
        if !supervisor.handoff_claims.wait_for(&plan.not_running()).await {
            return Ok(plan);
        }
    }
}

/// Returns the trigger of a request that starts this number of sessions.
pub(super) fn trigger(sessions: usize) -> StartTrigger {
    StartTrigger::now(if sessions > 1 { StartRequester::Many } else { StartRequester::One })
}

/// Asks a session's actor to bring the session back.
pub(super) async fn bring_back(
    supervisor: &Arc<Supervisor>,
    id: SessionId,
    (selection, trigger): (SelectionMode, StartTrigger),
    (environment, fresh): (Environment, Option<ConversationRenewal>),
) -> Result<AgentOutcome> {
    supervisor
        .ask(id, |reply| SessionRequest::Resume { environment, selection, fresh, trigger, reply })
        .await
}
