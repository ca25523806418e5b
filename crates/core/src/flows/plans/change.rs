//! The commit of a change of a plan.

use crate::error::{Error, Result};
use crate::model::{EventPayload, NewEvent, Plan, PlanId, TaskId};
use crate::ports::{Conflict, Missing, PlanQuery, Ports};
use crate::rules::plans::plan_state;

/// A plan that a request has changed.
#[derive(Clone, Debug)]
pub struct ChangedPlan {
    pub plan: Plan,
    /// Tasks that are in the queue now.
    pub released: Vec<TaskId>,
    /// Queued tasks that were cancelled.
    pub cancelled: Vec<TaskId>,
}

/// Returns whether a commit failed because another request has changed the plan or one of its tasks.
pub fn is_plan_moved(error: &Error) -> bool {
    matches!(
        error.conflict.as_deref(),
        Some(Conflict::PlanHasMoved { .. } | Conflict::TaskHasMoved { .. })
    )
}

/// Returns the plan with this id.
pub(super) async fn by_id(ports: &Ports, id: PlanId) -> Result<Plan> {
    let query = PlanQuery { id: Some(id), ..PlanQuery::default() };
    let found = ports.store.plans(&query).await?.pop();
    found.ok_or_else(|| Missing::Plan(id).into())
}

pub(super) fn event(ports: &Ports, payload: EventPayload) -> NewEvent {
    NewEvent { at: ports.clock.now(), session: None, launch: None, payload }
}

/// Returns the event about the state of a plan. `None` if the state is the same as before.
pub(super) fn state_event(ports: &Ports, before: Option<&Plan>, after: &Plan) -> Option<NewEvent> {
    let state = plan_state(after);
    if before.map(plan_state) == Some(state) {
        return None;
    }
    let (plan, name) = (after.id, after.name.clone());
    Some(event(ports, EventPayload::PlanChanged { plan, name, state }))
}
