//! Plans: replaced only if nothing has changed them since they were read.

use std::slice::from_ref;

use segue_core::model::{
    FailurePolicy, FleetName, Plan, PlanControl, PlanCounts, PlanGate, PlanId, PlanMembership,
    PlanName, PlanTask, PlanTaskDefinition, PlanTaskEnd, PlanTaskName, PlanTaskState, TaskState,
    TaskStateKind,
};
use segue_core::ports::{Change, PlanQuery, PlanTaskQuery, Store};
use uuid::Uuid;

use super::tasks::task as sample_task;
use super::{Backend, Samples, assert_conflict, assert_refused, commit};

fn plan(samples: &Samples, name: &str) -> Plan {
    Plan {
        id: PlanId::new(Uuid::now_v7()),
        name: PlanName::parse(name).unwrap(),
        fleet: FleetName::parse("shop").unwrap(),
        folder: "/code/shop".into(),
        control: PlanControl::Active,
        max_parallel: Some(3),
        counts: PlanCounts { tasks: 3, open: 2, released: 1, failed: 0, stopping: 0 },
        revision: 1,
        created_at: samples.time(),
        updated_at: samples.time(),
    }
}

fn task(samples: &Samples, plan: PlanId, name: &str, needs: &[&str]) -> PlanTask {
    let named = |name: &str| PlanTaskName::parse(name).unwrap();
    PlanTask {
        plan,
        name: named(name),
        rank: 0,
        definition: PlanTaskDefinition {
            needs: needs.iter().map(|need| named(need)).collect(),
            gate: Some(PlanGate::Person),
            on_failure: FailurePolicy::Retry { times: 2 },
            order: Some(Box::new(sample_task(samples, "coder").order)),
        },
        state: PlanTaskState::Blocked,
        unmet: u32::try_from(needs.len()).unwrap(),
        is_approved: false,
        is_removed: false,
        task: None,
        failure: Some("no".to_owned()),
    }
}

fn put(plan: &Plan, from: Option<i64>) -> Change {
    Change::PutPlan { plan: Box::new(plan.clone()), from }
}

fn put_task(task: &PlanTask) -> Change {
    Change::PutPlanTask(Box::new(task.clone()))
}

async fn plans(store: &dyn Store, query: PlanQuery) -> Vec<Plan> {
    store.plans(&query).await.unwrap()
}

pub async fn a_plan_is_replaced_only_if_nothing_has_changed_it(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let first = plan(&samples, "release");
    let elsewhere = Plan { folder: "/code/other".into(), ..plan(&samples, "release") };
    store.commit(commit([put(&first, None), put(&elsewhere, None)])).await.unwrap();
    let second = Plan { id: PlanId::new(Uuid::now_v7()), ..first.clone() };
    assert_conflict(store.commit(commit([put(&second, None)])).await, &["release"]);
    let paused = Plan { control: PlanControl::Paused, revision: 2, ..first.clone() };
    let orphan = task(&samples, PlanId::new(Uuid::now_v7()), "a", &[]);
    let kind = segue_core::Kind::NotFound;
    assert_refused(store.commit(commit([put_task(&orphan)])).await, kind, &["no plan"]);
    store.commit(commit([put(&paused, Some(1))])).await.unwrap();
    assert_conflict(store.commit(commit([put(&first, Some(1))])).await, &["release"]);
    let store = backend.open().await;
    let default = PlanQuery::default;
    let id = Some(first.id);
    let (name, folder) = (Some(first.name.clone()), Some(first.folder.clone()));
    let prefix = Some(elsewhere.id.to_string()[..36].to_owned());
    let table = [
        (default(), vec![&paused, &elsewhere]),
        (PlanQuery { id, ..default() }, vec![&paused]),
        (PlanQuery { id_prefix: prefix, ..default() }, vec![&elsewhere]),
        (PlanQuery { name: name.clone(), ..default() }, vec![&paused, &elsewhere]),
        (PlanQuery { name, folder, ..default() }, vec![&paused]),
        (PlanQuery { control: Some(PlanControl::Paused), ..default() }, vec![&paused]),
        (PlanQuery { name: PlanName::parse("x").ok(), ..default() }, vec![]),
    ];
    for (query, expected) in table {
        let expected: Vec<Plan> = expected.into_iter().cloned().collect();
        assert_eq!(plans(&*store, query.clone()).await, expected, "{query:?}");
    }
}

pub async fn a_query_returns_the_tasks_of_a_plan_that_meet_all_of_its_conditions(
    backend: &impl Backend,
) {
    let (store, samples) = (backend.open().await, Samples::default());
    let (own, other) = (plan(&samples, "release"), plan(&samples, "other"));
    let ended = PlanTaskState::Ended(PlanTaskEnd::Done);
    let design = PlanTask { state: ended, rank: 5, ..task(&samples, own.id, "design", &[]) };
    let ready = PlanTaskState::Ready;
    let build = PlanTask { state: ready, rank: 7, ..task(&samples, own.id, "build", &["design"]) };
    let lint = PlanTask { state: ready, rank: 6, ..task(&samples, own.id, "lint", &["design"]) };
    let foreign = task(&samples, other.id, "build", &["design"]);
    let tasks = [&design, &build, &lint, &foreign].map(put_task);
    let plans = [put(&own, None), put(&other, None)];
    store.commit(commit(plans.into_iter().chain(tasks))).await.unwrap();
    let found = async |query: &PlanTaskQuery| store.plan_tasks(query).await.unwrap();
    let all = || PlanTaskQuery::of(own.id);
    let table = [
        (all(), vec![&design, &lint, &build]),
        (PlanTaskQuery::named(own.id, vec![build.name.clone()]), vec![&build]),
        (PlanTaskQuery::needing(own.id, &design.name), vec![&lint, &build]),
        (PlanTaskQuery { state: Some(ready), ..all() }, vec![&lint, &build]),
        (PlanTaskQuery { state: Some(ready), first: Some(1), ..all() }, vec![&lint]),
        (PlanTaskQuery { state: Some(ended), ..all() }, vec![&design]),
    ];
    for (query, expected) in table {
        let expected: Vec<PlanTask> = expected.into_iter().cloned().collect();
        assert_eq!(found(&query).await, expected, "{query:?}");
    }
    // Other needs replace those that the task had.
    let changed = PlanTask { rank: 1, ..task(&samples, own.id, "build", &["lint"]) };
    let (plan, name) = (own.id, design.name.clone());
    let changes = [put_task(&changed), Change::RemovePlanTask { plan, name }];
    store.commit(commit(changes)).await.unwrap();
    assert_eq!(found(&PlanTaskQuery::needing(own.id, &lint.name)).await, from_ref(&changed));
    assert_eq!(found(&PlanTaskQuery::needing(own.id, &design.name)).await, from_ref(&lint));
    assert_eq!(found(&all()).await, [changed, lint]);
    assert_eq!(found(&PlanTaskQuery::of(other.id)).await, [foreign]);
}

pub async fn no_task_of_a_held_plan_starts(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let own = plan(&samples, "release");
    let mut queued = sample_task(&samples, "coder");
    queued.order.plan = Some(PlanMembership {
        plan: own.id,
        plan_name: own.name.clone(),
        name: PlanTaskName::parse("build").unwrap(),
        retries: 0,
    });
    let add = Change::AddTask(Box::new(queued.clone()));
    let paused = Plan { control: PlanControl::Paused, revision: 2, ..own.clone() };
    store.commit(commit([put(&own, None), add, put(&paused, Some(1))])).await.unwrap();
    let change = |state, from| {
        let task = segue_core::model::Task { state, ..queued.clone() };
        Change::SetTask { task: Box::new(task), from }
    };
    let start = || change(TaskState::Running, TaskStateKind::Queued);
    assert_conflict(store.commit(commit([start()])).await, &["release", "paused"]);
    // A task that has started goes on, and a queued task can be cancelled.
    let active = Plan { revision: 3, ..own.clone() };
    let paused = Plan { revision: 4, ..paused };
    let changes = [put(&active, Some(2)), start(), put(&paused, Some(3))];
    store.commit(commit(changes)).await.unwrap();
    let again = change(TaskState::Queued, TaskStateKind::Running);
    store.commit(commit([again])).await.unwrap();
    let cancel = change(TaskState::Cancelled, TaskStateKind::Queued);
    store.commit(commit([cancel])).await.unwrap();
}
