use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::flows::samples;
use crate::model::{
    FailurePolicy, FleetName, Plan, PlanControl, PlanCounts, PlanFile, PlanFileTask, PlanGate,
    PlanId, PlanName, PlanState, PlanTask, PlanTaskDefinition, PlanTaskEnd, PlanTaskName,
    PlanTaskState, PlanWorktree, TaskId,
};

fn named(name: &str) -> PlanTaskName {
    PlanTaskName::parse(name).unwrap()
}

fn plan(counts: PlanCounts) -> Plan {
    Plan {
        id: PlanId::new(Uuid::from_u128(1)),
        name: PlanName::parse("release").unwrap(),
        fleet: FleetName::parse("shop").unwrap(),
        folder: "/src/shop".into(),
        control: PlanControl::Active,
        max_parallel: None,
        counts,
        revision: 1,
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
    }
}

fn work(needs: &[&str], on_failure: FailurePolicy) -> PlanTaskDefinition {
    let order = samples::task(1, "coder").order;
    let needs = needs.iter().map(|need| named(need)).collect();
    PlanTaskDefinition { needs, gate: None, on_failure, order: Some(Box::new(order)) }
}

fn file_task(needs: &[&str]) -> PlanFileTask {
    PlanFileTask {
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        agent: Some("coder".to_owned()),
        prompt: Some("fix it".to_owned()),
        ..PlanFileTask::default()
    }
}

fn file(tasks: &[(&str, PlanFileTask)]) -> PlanFile {
    let tasks = tasks.iter().map(|(name, task)| ((*name).to_owned(), task.clone())).collect();
    PlanFile { name: "release".to_owned(), max_parallel: None, priority: 0, tasks }
}

#[test]
fn state_of_a_plan_follows_from_its_counts_and_from_what_a_person_decided() {
    let counts = |open, released, stopping| PlanCounts {
        tasks: 3,
        open,
        released,
        failed: stopping,
        stopping,
    };
    use PlanControl::{Active, Cancelled, Paused};
    let table = [
        (Active, counts(2, 1, 0), PlanState::Running),
        (Active, counts(2, 0, 0), PlanState::Waiting),
        (Active, counts(0, 0, 0), PlanState::Done),
        (Active, counts(2, 1, 1), PlanState::Running),
        (Active, counts(2, 0, 1), PlanState::Failed),
        (Active, counts(0, 0, 1), PlanState::Failed),
        (Paused, counts(2, 1, 0), PlanState::Paused),
        (Paused, counts(0, 0, 0), PlanState::Done),
        (Paused, counts(2, 0, 1), PlanState::Failed),
        (Cancelled, counts(2, 1, 0), PlanState::Cancelled),
        (Cancelled, counts(0, 0, 0), PlanState::Cancelled),
    ];
    for (control, counts, expected) in table {
        let plan = Plan { control, ..plan(counts) };
        assert_eq!(plan_state(&plan), expected, "{control:?} {counts:?}");
    }
}

#[test]
fn file_with_a_mistake_is_refused_at_the_task_and_the_key() {
    let text = |text: &str| Some(text.to_owned());
    let with = |change: fn(&mut PlanFileTask)| {
        let mut task = file_task(&[]);
        change(&mut task);
        task
    };
    let a = || ("a", file_task(&[]));
    let table = [
        (vec![("a", file_task(&["a"]))], Some("needs"), "`a` needs itself"),
        (vec![("a", file_task(&["b"]))], Some("needs"), "the plan has no task `b`"),
        (vec![a(), ("b", file_task(&["a", "a"]))], Some("needs"), "`a` is listed twice"),
        (vec![("a b", file_task(&[]))], None, "cannot be the name of a task"),
        (vec![("a", with(|it| it.prompt = None))], Some("prompt"), "no `prompt`"),
        (vec![("a", with(|it| it.agent = None))], Some("prompt"), "no `agent` or `vendor`"),
        (vec![("a", PlanFileTask::default())], Some("prompt"), "gate = \"person\""),
        (vec![("a", with(|it| it.priority = Some(10)))], Some("priority"), "-9 and 9, got 10"),
        (vec![("a", with(|it| it.retries = Some(1)))], Some("retries"), "on_failure"),
        (vec![("a", with(|it| it.branch = Some("x".into())))], Some("branch"), "worktree"),
        (
            vec![a(), ("b", PlanFileTask { worktree_of: text("a"), ..file_task(&[]) })],
            Some("worktree_of"),
            "`a` has no worktree of its own",
        ),
        (
            vec![
                a(),
                ("b", PlanFileTask { prompt: text("{{ tasks.a.answer }}"), ..file_task(&[]) }),
            ],
            Some("prompt"),
            "`a`, which the task does not need",
        ),
        (
            vec![("a", PlanFileTask { prompt: text("{{ tasks.x.answer }}"), ..file_task(&[]) })],
            Some("prompt"),
            "the plan has no task `x`",
        ),
    ];
    for (tasks, key, expected) in table {
        let problem = check_plan(&file(&tasks)).unwrap_err();
        assert_eq!(problem.key, key, "{problem:?}");
        assert!(problem.task.is_some(), "{problem:?}");
        assert!(problem.message.contains(expected), "{problem:?}");
    }
}

#[test]
fn valid_files_are_accepted() {
    let text = |text: &str| Some(text.to_owned());
    let gate = PlanFileTask { gate: Some(PlanGate::Person), ..PlanFileTask::default() };
    let own = PlanFileTask { worktree: Some(PlanWorktree::Own), ..file_task(&[]) };
    let shared = PlanFileTask { worktree_of: text("a"), ..file_task(&["gate"]) };
    let prompt = text("{{ tasks.a.answer }}");
    let indirect = PlanFileTask { prompt, ..file_task(&["c"]) };
    let gate = PlanFileTask { needs: vec!["a".to_owned()], ..gate };
    let tasks = [("a", own), ("gate", gate), ("c", shared), ("d", indirect)];
    assert_eq!(check_plan(&file(&tasks)), Ok(()));
}

#[test]
fn cycle_is_reported_with_its_tasks_and_the_tasks_behind_it() {
    let tasks = [
        ("a", file_task(&[])),
        ("b", file_task(&["a", "d"])),
        ("c", file_task(&["b"])),
        ("d", file_task(&["c"])),
        ("e", file_task(&["d"])),
    ];
    let problem = check_plan(&file(&tasks)).unwrap_err();
    assert_eq!((problem.task.as_deref(), problem.key), (Some("b"), Some("needs")));
    let expected = "these tasks need each other: `b` → `d` → `c` → `b`, and 1 more task can never \
                    start";
    assert_eq!(problem.message, expected);
}

/// Definitions with ranks in the order of the list.
fn definitions(
    tasks: &[(&str, PlanTaskDefinition)],
) -> Vec<(PlanTaskName, i64, PlanTaskDefinition)> {
    let ranked = tasks.iter().zip(0..);
    ranked.map(|((name, definition), rank)| (named(name), rank, definition.clone())).collect()
}

fn compare(
    stored: &[PlanTask],
    queued: &[&str],
    tasks: &[(&str, PlanTaskDefinition)],
) -> PlanDifference {
    let queued: BTreeSet<PlanTaskName> = queued.iter().map(|name| named(name)).collect();
    compare_plans(PlanId::new(Uuid::from_u128(1)), stored, &queued, definitions(tasks))
}

#[test]
fn second_file_changes_only_what_differs() {
    let stop = FailurePolicy::Stop;
    let changed = || {
        let mut definition = work(&["a"], stop);
        definition.order.as_mut().unwrap().prompt = "another prompt".to_owned();
        definition
    };
    let first = [("a", work(&[], stop)), ("b", work(&["a"], stop))];
    let stored = compare(&[], &[], &first).records;
    assert_eq!(compare(&stored, &[], &first).tasks, BTreeMap::new());
    assert_eq!(compare(&stored, &[], &first).records, []);
    use PlanTaskState::{Blocked, Ended, Ready, Released};
    use TaskDifference::{Added, Cancelled, Deferred, Kept, Replaced, Requeued};
    let in_state = |state| PlanTask { state, ..stored[1].clone() };
    let done = PlanTask { state: Ended(PlanTaskEnd::Done), ..stored[0].clone() };
    let with_b = [("a", work(&[], stop)), ("b", changed())];
    let with_c = [("a", work(&[], stop)), ("c", work(&["a"], stop))];
    let table = [
        (in_state(Ready), vec![], &with_b, vec![("b", Replaced)]),
        (in_state(Released), vec!["b"], &with_b, vec![("b", Requeued)]),
        (in_state(Released), vec![], &with_b, vec![("b", Deferred)]),
        (in_state(Ended(PlanTaskEnd::Failed)), vec![], &with_b, vec![("b", Deferred)]),
        (in_state(Blocked), vec![], &with_c, vec![("b", Cancelled), ("c", Added)]),
        (in_state(Released), vec!["b"], &with_c, vec![("b", Cancelled), ("c", Added)]),
        (in_state(Released), vec![], &with_c, vec![("b", Kept), ("c", Added)]),
        (in_state(Ended(PlanTaskEnd::Done)), vec![], &with_c, vec![("b", Kept), ("c", Added)]),
    ];
    for (second, queued, tasks, expected) in table {
        let state = second.state;
        let difference = compare(&[done.clone(), second], &queued, tasks);
        let expected: BTreeMap<PlanTaskName, TaskDifference> =
            expected.into_iter().map(|(name, change)| (named(name), change)).collect();
        assert_eq!(difference.tasks, expected, "{state:?}");
        let is_deleted = state == Blocked;
        assert_eq!(difference.deleted.is_empty(), !is_deleted, "{state:?}");
    }
}

#[test]
fn queued_task_whose_new_needs_are_not_met_keeps_its_old_work_until_a_retry() {
    let stop = FailurePolicy::Stop;
    let stored = compare(&[], &[], &[("b", work(&[], stop))]).records;
    let released = PlanTask { state: PlanTaskState::Released, ..stored[0].clone() };
    let tasks = [("a", work(&[], stop)), ("b", work(&["a"], stop))];
    let difference = compare(&[released], &["b"], &tasks);
    assert_eq!(difference.tasks[&named("b")], TaskDifference::Deferred);
}

#[test]
fn removed_task_that_failed_does_not_stop_the_plan() {
    let stop = FailurePolicy::Stop;
    let first = [("a", work(&[], stop)), ("b", work(&[], stop))];
    let mut stored = compare(&[], &[], &first).records;
    stored[0].state = PlanTaskState::Ended(PlanTaskEnd::Failed);
    assert_eq!(compare(&stored, &[], &first).counts.stopping, 1);
    let difference = compare(&stored, &[], &[("b", work(&[], stop))]);
    assert_eq!((difference.counts.stopping, difference.counts.tasks), (0, 1));
}

/// A plan in memory, which is advanced like the flows advance a stored plan.
struct PlanSimulation {
    plan: Plan,
    tasks: BTreeMap<PlanTaskName, PlanTask>,
    /// How often each task has ended.
    ends: BTreeMap<PlanTaskName, usize>,
    order: Vec<PlanTaskName>,
}

impl PlanSimulation {
    fn new(tasks: &[(String, PlanTaskDefinition)], max_parallel: Option<u32>) -> Self {
        let tasks: Vec<(&str, PlanTaskDefinition)> =
            tasks.iter().map(|(name, it)| (name.as_str(), it.clone())).collect();
        let difference = compare(&[], &[], &tasks);
        let plan = Plan { max_parallel, ..plan(difference.counts) };
        let progress = PlanProgress::with_changed(plan.clone(), difference.records);
        let (tasks, ends) = (BTreeMap::new(), BTreeMap::new());
        let mut simulation = Self { plan, tasks, ends, order: Vec::new() };
        simulation.finish(progress);
        simulation
    }

    fn dependants(&self, name: &PlanTaskName) -> Vec<PlanTask> {
        let needs = |task: &&PlanTask| task.definition.needs.contains(name);
        self.tasks.values().filter(needs).cloned().collect()
    }

    fn finish(&mut self, mut progress: PlanProgress) {
        for task in progress.releasable(self.tasks.values().cloned().collect()) {
            self.order.push(task.name.clone());
            progress.release(task, TaskId::new(Uuid::from_u128(7)));
        }
        let (plan, tasks, _) = progress.into_parts();
        self.plan = plan;
        self.tasks.extend(tasks.into_iter().map(|task| (task.name.clone(), task)));
    }

    fn released(&self) -> Vec<PlanTask> {
        let is_released = |task: &&PlanTask| task.state == PlanTaskState::Released;
        self.tasks.values().filter(is_released).cloned().collect()
    }

    fn end(&mut self, task: PlanTask, end: PlanTaskEnd) {
        let name = task.name.clone();
        *self.ends.entry(name.clone()).or_default() += 1;
        let mut progress = PlanProgress::new(self.plan.clone());
        if progress.end(task, end) {
            self.dependants(&name).into_iter().for_each(|it| progress.need_met(it));
        }
        self.finish(progress);
    }

    fn approve(&mut self, task: PlanTask) {
        let name = task.name.clone();
        let mut progress = PlanProgress::new(self.plan.clone());
        if progress.approve(task) {
            self.dependants(&name).into_iter().for_each(|it| progress.need_met(it));
        }
        self.finish(progress);
    }

    fn retry(&mut self, task: PlanTask) {
        let name = task.name.clone();
        let mut progress = PlanProgress::new(self.plan.clone());
        if progress.reopen(task) {
            self.dependants(&name).into_iter().for_each(|it| progress.need_reopened(it));
        }
        self.finish(progress);
    }

    fn set_control(&mut self, control: PlanControl) {
        let mut progress = PlanProgress::new(self.plan.clone());
        progress.set_control(control);
        self.finish(progress);
    }

    fn check(&self) {
        for task in self.tasks.values() {
            let unmet = task.definition.needs.iter().filter(|it| !self.tasks[*it].is_met()).count();
            if task.state.is_pending() {
                assert_eq!(task.unmet as usize, unmet, "{}", task.name);
            }
            if task.state == PlanTaskState::Released && !self.ends.contains_key(&task.name) {
                let was_met = task.definition.needs.iter().all(|it| self.order.contains(it));
                assert!(was_met || self.is_gate_need(task), "{} was released too early", task.name);
            }
        }
        let released = self.released().len();
        assert_eq!(released, self.plan.counts.released as usize);
        assert!(self.plan.max_parallel.is_none_or(|most| released <= most as usize));
        let open = self.tasks.values().filter(|it| !it.state.has_ended()).count();
        assert_eq!(open, self.plan.counts.open as usize);
        let stopping = self.tasks.values().filter(|it| it.is_stopping()).count();
        assert_eq!(stopping, self.plan.counts.stopping as usize);
    }

    /// A gate without work is never released.
    fn is_gate_need(&self, task: &PlanTask) -> bool {
        task.definition.needs.iter().any(|it| self.tasks[it].is_pure_gate())
    }
}

/// Plans without cycles: each task needs only earlier ones.
fn plans() -> impl Strategy<Value = Vec<(String, PlanTaskDefinition)>> {
    let task = (prop::collection::vec(any::<prop::sample::Index>(), 0..4), 0..6u8);
    prop::collection::vec(task, 1..25).prop_map(|tasks| {
        let definition = |(index, (needs, kind)): (usize, (Vec<prop::sample::Index>, u8))| {
            let needs: BTreeSet<usize> =
                needs.iter().filter(|_| index > 0).map(|need| need.index(index.max(1))).collect();
            let needs: Vec<String> = needs.iter().map(|it| format!("t{it}")).collect();
            let needs: Vec<&str> = needs.iter().map(String::as_str).collect();
            let policy = if kind == 1 { FailurePolicy::Continue } else { FailurePolicy::Stop };
            let mut definition = work(&needs, policy);
            definition.gate = (kind == 2 || kind == 3).then_some(PlanGate::Person);
            if kind == 3 {
                definition.order = None;
            }
            (format!("t{index}"), definition)
        };
        tasks.into_iter().enumerate().map(definition).collect()
    })
}

proptest! {
    #[test]
    fn schedule_respects_needs_and_limits_and_ends_each_task_once(
        tasks in plans(),
        max_parallel in prop::option::of(1..4u32),
        choices in prop::collection::vec((any::<prop::sample::Index>(), 0..12u8), 0..200),
    ) {
        let mut plan = PlanSimulation::new(&tasks, max_parallel);
        plan.check();
        for (which, what) in choices {
            let (released, all) =
                (plan.released(), plan.tasks.values().cloned().collect::<Vec<PlanTask>>());
            let any = which.get(&all).clone();
            match what {
                0 if !released.is_empty() => {
                    plan.end(which.get(&released).clone(), PlanTaskEnd::Failed);
                }
                1 => plan.set_control(PlanControl::Paused),
                2 => plan.set_control(PlanControl::Active),
                3 if matches!(any.state, PlanTaskState::Ended(PlanTaskEnd::Failed)) => {
                    plan.ends.remove(&any.name);
                    plan.order.retain(|it| *it != any.name);
                    plan.retry(any);
                }
                4 | 5 if any.state == PlanTaskState::Gated => plan.approve(any),
                _ if !released.is_empty() => {
                    plan.end(which.get(&released).clone(), PlanTaskEnd::Done);
                }
                _ => {}
            }
            plan.check();
        }
        // Without failures and pauses, everything ends once.
        plan.set_control(PlanControl::Active);
        loop {
            let all: Vec<PlanTask> = plan.tasks.values().cloned().collect();
            let is_failed =
                |it: &&PlanTask| it.is_stopping();
            let next = all.iter().find(|it| it.state == PlanTaskState::Gated);
            if let Some(failed) = all.iter().find(is_failed) {
                plan.ends.remove(&failed.name);
                plan.retry(failed.clone());
            } else if let Some(gate) = next {
                plan.approve(gate.clone());
            } else if let Some(task) = plan.released().pop() {
                plan.end(task, PlanTaskEnd::Done);
            } else {
                break;
            }
            plan.check();
        }
        prop_assert_eq!(plan_state(&plan.plan), PlanState::Done);
        prop_assert!(plan.ends.values().all(|count| *count == 1));
        let work = plan.tasks.values().filter(|it| !it.is_pure_gate()).count();
        prop_assert_eq!(plan.ends.len(), work);
    }

    #[test]
    fn no_cycle_is_accepted_and_no_other_plan_is_refused(
        edges in prop::collection::vec((0..8usize, 0..8usize), 0..20),
    ) {
        let mut needs = vec![BTreeSet::new(); 8];
        for (from, to) in edges.iter().filter(|(from, to)| from != to) {
            needs[*from].insert(*to);
        }
        let tasks: Vec<(String, PlanFileTask)> = needs
            .iter()
            .enumerate()
            .map(|(index, needs)| {
                let needs = needs.iter().map(|it| format!("t{it}")).collect();
                (format!("t{index}"), PlanFileTask { needs, ..file_task(&[]) })
            })
            .collect();
        let refs: Vec<(&str, PlanFileTask)> =
            tasks.iter().map(|(name, task)| (name.as_str(), task.clone())).collect();
        // A task reaches itself exactly if there is a cycle.
        let mut reach = needs.clone();
        for _ in 0..8 {
            for index in 0..8 {
                let further: BTreeSet<usize> =
                    reach[index].iter().flat_map(|it| reach[*it].clone()).collect();
                reach[index].extend(further);
            }
        }
        let has_cycle = (0..8).any(|index| reach[index].contains(&index));
        prop_assert_eq!(check_plan(&file(&refs)).is_err(), has_cycle);
    }
}
