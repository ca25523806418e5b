//! Measures plans: applying and showing 1,000 tasks, and recording the end of a task in a small and in
//! a large plan.

use std::path::Path;
use std::time::{Duration, Instant};

use segue_core::flows::tasks::{self, TaskEnd};
use segue_core::model::{
    FailurePolicy, FleetName, Plan, PlanControl, PlanCounts, PlanId, PlanMembership, PlanName,
    PlanTask, PlanTaskDefinition, PlanTaskName, PlanTaskState, Task, TaskState,
};
use segue_core::ports::{Change, Commit, Ports};
use segue_fakes::FakeWorld;
use segue_testkit::runtime::block_on;
use segue_testkit::{World, launches, scene};
use uuid::Uuid;

use crate::starts::version;
use crate::table::{Aim, Figure, Row};
use crate::tasks::task;
use crate::timing::{median, whole_run};

const TASKS: usize = 1_000;
const TIMES: usize = 20;
/// The sizes of the plans that are compared.
const SMALL: usize = 40;
const LARGE: usize = 4_000;

const COMMAND_AIM: Aim = Aim::Below(Figure::Time(Duration::from_millis(100)));
/// The end of a task may take this many times as long in the large plan as in the small one.
const END_AIM: Aim = Aim::Within(2.0);

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    scene::write_shop(&world, "");
    // The plan stays queued, because its agent works on another task.
    world.ok(["task", "add", "--agent", "coder", "/hang"]);
    let command = Figure::Time(median((0..TIMES).map(|_| version(&world)).collect()));
    let apply = (0..TIMES / 4).map(|number| {
        world.write("plan.toml", &file(number));
        whole_run(&mut world.command(["plan", "apply", "plan.toml"]))
    });
    let apply = median(apply.collect());
    let run = |arguments: &[&str]| {
        let run = |_| whole_run(&mut world.command(arguments));
        Figure::Time(median((0..TIMES).map(run).collect()))
    };
    let (small, large) = (ends(program, SMALL), ends(program, LARGE));
    vec![
        Row::new("plan apply, 1,000 tasks, cold process", Figure::Time(apply))
            .against(command)
            .aim(COMMAND_AIM),
        Row::new("  the same file again", run(&["plan", "apply", "plan.toml"])).against(command),
        Row::new("plan show, 1,000 tasks, cold process", run(&["plan", "show", "plan-0"]))
            .against(command)
            .aim(COMMAND_AIM),
        Row::new("end of a task in a plan of 4,000 tasks, against 40", Figure::Time(large))
            .against(Figure::Time(small))
            .aim(END_AIM),
    ]
}

/// Returns a plan in which each task needs the one ten places before it.
fn file(number: usize) -> String {
    let mut file = format!("name = \"plan-{number}\"\n");
    for task in 0..TASKS {
        let needs = task.checked_sub(10).map(|need| format!("needs = [\"t{need}\"]\n"));
        let (needs, task) = (needs.unwrap_or_default(), format!("t{task}"));
        let task =
            format!("[tasks.{task}]\n{needs}agent = \"coder\"\nprompt = \"fix the parser\"\n");
        file.push_str(&task);
    }
    file
}

/// Ends tasks of a plan of this size, each of which releases one other task. Returns the median of the
/// durations.
fn ends(program: &Path, size: usize) -> Duration {
    let world = World::new(program);
    let paths = launches::paths(&world);
    paths.ensure().expect("folders");
    block_on(async {
        let store = segue_store::open(&paths.database()).await.expect("a store");
        let ports = Ports { store, ..FakeWorld::new().ports() };
        let running = add_plan(&ports, size).await;
        let mut times = Vec::new();
        for task in running.iter().take(SMALL / 2) {
            let begin = Instant::now();
            let end = TaskEnd::new(TaskState::Done, Some("done".to_owned()));
            let ended = tasks::end(&ports, task, end).await.expect("an end");
            times.push(begin.elapsed());
            assert_eq!(ended.released.len(), 1, "one task is released");
        }
        median(times)
    })
}

/// Stores a plan whose first half runs. Each task of the second half needs one of the first half.
async fn add_plan(ports: &Ports, size: usize) -> Vec<Task> {
    let count = u32::try_from(size).expect("a small number");
    let plan = Plan {
        id: PlanId::new(Uuid::now_v7()),
        name: PlanName::parse("large").expect("a name"),
        fleet: FleetName::parse("shop").expect("a name"),
        folder: "/code/shop".into(),
        control: PlanControl::Active,
        max_parallel: None,
        counts: PlanCounts {
            tasks: count,
            open: count,
            released: count / 2,
            failed: 0,
            stopping: 0,
        },
        revision: 1,
        created_at: jiff::Timestamp::now(),
        updated_at: jiff::Timestamp::now(),
    };
    let named = |number: usize| PlanTaskName::parse(&format!("t{number}")).expect("a name");
    let mut changes = vec![Change::PutPlan { plan: Box::new(plan.clone()), from: None }];
    let mut running = Vec::new();
    for number in 0..size {
        let is_running = number < size / 2;
        let mut work = Task { state: TaskState::Running, ..task(number) };
        let order = Box::new(work.order.clone());
        work.order.plan = Some(PlanMembership {
            plan: plan.id,
            plan_name: plan.name.clone(),
            name: named(number),
            retries: 0,
        });
        let needs = if is_running { Vec::new() } else { vec![named(number - size / 2)] };
        changes.push(Change::PutPlanTask(Box::new(PlanTask {
            plan: plan.id,
            name: named(number),
            rank: 0,
            definition: PlanTaskDefinition {
                needs,
                gate: None,
                on_failure: FailurePolicy::Stop,
                order: Some(order),
            },
            state: if is_running { PlanTaskState::Released } else { PlanTaskState::Blocked },
            unmet: u32::from(!is_running),
            is_approved: false,
            is_removed: false,
            task: is_running.then_some(work.id),
            failure: None,
        })));
        if is_running {
            changes.push(Change::AddTask(Box::new(work.clone())));
            running.push(work);
        }
    }
    ports.store.commit(Commit { changes, events: Vec::new() }).await.expect("a commit");
    running
}
