//! Lists the gates of plans that wait for a person.

use jiff::Timestamp;

use crate::api::PlanGateView;
use crate::error::Result;
use crate::model::{Plan, PlanControl, PlanTask, PlanTaskState, TaskId};
use crate::ports::{PlanQuery, PlanTaskQuery, Ports, TaskQuery};
use crate::rules::dialog::shortened;
use crate::rules::plans::{approval_text, released_by_one};

/// At most this many gates of one plan are listed.
const MAX_GATES: u32 = 50;
/// At most this many characters of a prompt are shown.
const SHOWN_WORK_CHARACTERS: usize = 400;

/// Returns the gates that a person has to approve, the one that waits longest first. A plan that is
/// paused, cancelled or stopped by a failure needs another decision first.
pub async fn gates(ports: &Ports) -> Result<Vec<PlanGateView>> {
    let active = PlanQuery { control: Some(PlanControl::Active), ..PlanQuery::default() };
    let plans = ports.store.plans(&active).await?;
    let mut found = Vec::new();
    for plan in plans.iter().filter(|it| it.counts.open > 0 && it.counts.stopping == 0) {
        let state = Some(PlanTaskState::Gated);
        let query = PlanTaskQuery { state, first: Some(MAX_GATES), ..PlanTaskQuery::of(plan.id) };
        for task in ports.store.plan_tasks(&query).await? {
            found.push(gate(ports, plan, task).await?);
        }
    }
    found.sort_by_key(|it| it.since);
    Ok(found)
}

async fn gate(ports: &Ports, plan: &Plan, task: PlanTask) -> Result<PlanGateView> {
    let needing = ports.store.plan_tasks(&PlanTaskQuery::needing(plan.id, &task.name)).await?;
    let releases = released_by_one(needing);
    let order = task.definition.order.as_ref();
    let agent = order.map(|order| order.agent.to_string());
    let (fleet, name) = (&plan.fleet, &plan.name);
    Ok(PlanGateView {
        plan: plan.id,
        plan_name: plan.name.clone(),
        fleet: fleet.clone(),
        folder: plan.folder.clone(),
        work: order.map(|order| shortened(&order.prompt, SHOWN_WORK_CHARACTERS)),
        text: approval_text(agent.as_deref(), &releases),
        since: reached_at(ports, plan, &task).await?,
        command: format!("segue plan approve {fleet}/{name} {}", task.name),
        task: task.name,
        agent,
        releases,
    })
}

/// Returns when the last of the needed tasks ended. A gate without them waits since the plan exists.
async fn reached_at(ports: &Ports, plan: &Plan, task: &PlanTask) -> Result<Timestamp> {
    let needs = task.definition.needs.clone();
    let needed = ports.store.plan_tasks(&PlanTaskQuery::named(plan.id, needs)).await?;
    let ids: Vec<TaskId> = needed.into_iter().filter_map(|it| it.task).collect();
    if ids.is_empty() {
        return Ok(plan.created_at);
    }
    let ended = ports.store.tasks(&TaskQuery { ids: Some(ids), ..TaskQuery::default() }).await?;
    let last = ended.into_iter().filter_map(|it| it.task.ended_at).max();
    Ok(last.unwrap_or(plan.created_at))
}
