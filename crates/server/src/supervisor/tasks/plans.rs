//! The requests of users about plans.

use std::collections::BTreeSet;
use std::sync::Arc;

use segue_core::api::{
    PlanApplyReport, PlanApplyRequest, PlanList, PlanListRequest, PlanSelector, PlanTaskSelector,
    PlanTaskStatus, PlanView,
};
use segue_core::flows::plans::{self, ChangedPlan};
use segue_core::flows::requests::step;
use segue_core::model::{PlanControl, PlanId, Principal, RequestKey, RequestStep, TaskId};
use segue_core::ports::{PlacedTask, PlanQuery};
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Kind, Result};

use super::super::Supervisor;
use super::{queue_released, requests, start_ready};
use crate::plan_file::PlanSource;

/// Applies a file, and starts the tasks that may start now.
pub(crate) async fn apply(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    request: PlanApplyRequest,
) -> Result<PlanApplyReport> {
    principal.allow(RestrictedAction::Tasks)?;
    let ports = &supervisor.ports;
    let source = PlanSource::new(request.text, request.file);
    let input = source.parse()?;
    let same_commit = |report: &PlanApplyReport| {
        let answer = serde_json::to_string(report)
            .map_err(|error| Error::internal("an answer cannot be written").caused_by(error))?;
        Ok(step(ports, key, RequestStep::Done { answer }))
    };
    let locate = |problem: &_| source.located(problem);
    let applied =
        plans::apply(ports, principal, (&request.caller, &input), locate, same_commit).await?;
    follow(supervisor, &applied.changed).await;
    Ok(applied.report)
}

pub(crate) async fn list(
    supervisor: &Supervisor,
    principal: &Principal,
    request: &PlanListRequest,
) -> Result<PlanList> {
    principal.allow(RestrictedAction::ReadTasks)?;
    plans::list(&supervisor.ports, request.all).await
}

pub(crate) async fn show(
    supervisor: &Supervisor,
    principal: &Principal,
    selector: &PlanSelector,
) -> Result<PlanView> {
    principal.allow(RestrictedAction::ReadTasks)?;
    let plan = plans::find(&supervisor.ports, selector).await?;
    plans::show(&supervisor.ports, &plan, |id| supervisor.tasks.obstacle(id)).await
}

/// Pauses, resumes or cancels a plan. The processes of a cancelled plan are ended.
pub(crate) async fn set_control(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    selector: &PlanSelector,
    control: PlanControl,
) -> Result<PlanView> {
    let changed = plans::set_control(&supervisor.ports, principal, selector, control).await?;
    match control {
        PlanControl::Active => supervisor.tasks.schedule().resume(changed.plan.id),
        PlanControl::Paused | PlanControl::Cancelled => {
            supervisor.tasks.schedule().pause(changed.plan.id);
        }
    }
    follow(supervisor, &changed).await;
    if control == PlanControl::Cancelled {
        cancel_running(supervisor, &changed).await?;
    }
    report(supervisor, changed).await
}

/// Ends the tasks of a cancelled plan that agents work on.
async fn cancel_running(supervisor: &Arc<Supervisor>, changed: &ChangedPlan) -> Result<()> {
    let view = plans::show(&supervisor.ports, &changed.plan, |_| None).await?;
    let is_open = |status: Option<PlanTaskStatus>| {
        use PlanTaskStatus::{Queued, Running, Waiting};
        matches!(status, Some(Queued | Running | Waiting))
    };
    for task in view.tasks.into_iter().filter(|task| is_open(task.status.known())) {
        let Some(id) = task.task else { continue };
        // The caller may cancel the plan, and so its tasks.
        match requests::cancel(supervisor, &Principal::User, &id.to_string()).await {
            // The task has ended meanwhile.
            Err(error) if error.kind == Kind::Conflict => {}
            result => drop(result?),
        }
    }
    Ok(())
}

pub(crate) async fn retry(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    selector: &PlanTaskSelector,
) -> Result<PlanView> {
    let changed = plans::retry(&supervisor.ports, principal, selector, key).await?;
    follow(supervisor, &changed).await;
    report(supervisor, changed).await
}

pub(crate) async fn approve(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    selector: &PlanTaskSelector,
) -> Result<PlanView> {
    let changed = plans::approve(&supervisor.ports, principal, selector).await?;
    follow(supervisor, &changed).await;
    report(supervisor, changed).await
}

/// Keeps the queued tasks of paused plans from starting. Returns the cancelled plans that still have
/// open tasks: the last daemon ended while it cancelled them.
pub(super) async fn take_up(
    supervisor: &Supervisor,
    open: &[PlacedTask],
) -> Result<BTreeSet<PlanId>> {
    let ids = open.iter().filter_map(|it| Some(it.task.order.plan.as_ref()?.plan));
    let mut cancelled = BTreeSet::new();
    for id in ids.collect::<BTreeSet<PlanId>>() {
        let query = PlanQuery { id: Some(id), ..PlanQuery::default() };
        match supervisor.ports.store.plans(&query).await?.pop().map(|plan| plan.control) {
            Some(PlanControl::Paused) => supervisor.tasks.schedule().pause(id),
            Some(PlanControl::Cancelled) => drop(cancelled.insert(id)),
            Some(PlanControl::Active) | None => {}
        }
    }
    Ok(cancelled)
}

/// Ends a task of a cancelled plan in the background.
pub(super) fn cancel_later(supervisor: &Arc<Supervisor>, id: TaskId) {
    let supervisor = Arc::clone(supervisor);
    tokio::spawn(async move {
        let ended = requests::cancel(&supervisor, &Principal::User, &id.to_string()).await;
        if let Err(error) = ended {
            tracing::error!(task = %id, %error, "a task of a cancelled plan goes on");
        }
    });
}

/// Brings the schedule in step with a changed plan.
async fn follow(supervisor: &Arc<Supervisor>, changed: &ChangedPlan) {
    changed.cancelled.iter().for_each(|id| supervisor.tasks.leave_queue(*id));
    queue_released(supervisor, &changed.released).await;
    start_ready(supervisor);
}

async fn report(supervisor: &Supervisor, changed: ChangedPlan) -> Result<PlanView> {
    let selector = PlanSelector { plan: changed.plan.id.to_string(), folder: None };
    let plan = plans::find(&supervisor.ports, &selector).await?;
    plans::show(&supervisor.ports, &plan, |id| supervisor.tasks.obstacle(id)).await
}
