//! Measures 10,000 open tasks: adding them to the store, choosing the next one, listing them, and an
//! idle daemon.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use segue_core::model::{
    AccountKey, AgentName, FleetName, Task, TaskId, TaskMode, TaskOrder, TaskPriority,
    TaskProgress, TaskState, TaskWait, VendorId,
};
use segue_core::ports::{Change, Commit};
use segue_core::rules::schedule::{AgentKey, ScheduledTask, TaskLimits, TaskSchedule};
use segue_testkit::{World, scene};
use uuid::Uuid;

use crate::figures::ProcessUsage;
use crate::lists::with_store;
use crate::starts::version;
use crate::table::{Aim, Figure, Row};
use crate::timing::{median, timed, whole_run};

const TASKS: usize = 10_000;
const TIMES: usize = 20;
/// The number of tasks and of empty commits whose durations are compared.
const COMMITS: usize = 500;
const WINDOW: Duration = Duration::from_secs(10);

const ADD_AIM: Aim = Aim::Within(1.0 / 0.7);
const LIST_AIM: Aim = Aim::Below(Figure::Time(Duration::from_millis(50)));
const CHOICE_AIM: Aim = Aim::Below(Figure::Time(Duration::from_millis(1)));

#[expect(clippy::disallowed_methods, reason = "the benchmark measures a period of time")]
pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    let (own, bare) = add_all(&world);
    world.ok(["task", "ls"]);
    let command = median((0..TIMES).map(|_| version(&world)).collect());
    let list = |_| whole_run(&mut world.command(["task", "ls"]));
    let list = median((0..TIMES).map(list).collect());
    let daemon = [scene::daemon_pid(&world)];
    let before = ProcessUsage::of(&daemon);
    thread::sleep(WINDOW);
    let idle = ProcessUsage::of(&daemon).since(before);
    vec![
        Row::new("task add: commit of one task", Figure::Time(own))
            .against(Figure::Time(bare))
            .aim(ADD_AIM),
        Row::new("  next of 10,000 queued tasks, start and end", Figure::Time(choose_all()))
            .aim(CHOICE_AIM),
        Row::new("task ls, 10,000 tasks, cold process", Figure::Time(list))
            .against(Figure::Time(command))
            .aim(LIST_AIM),
        Row::new("  wake-ups of the idle daemon in 10 s", Figure::Count(idle.switches)),
    ]
}

/// Adds the tasks to the store of a world whose daemon does not run. Returns the average durations
/// of a commit of a task and of a commit of an event.
fn add_all(world: &World) -> (Duration, Duration) {
    let mut durations = (Duration::ZERO, Duration::ZERO);
    with_store(world, async |store| {
        let samples = segue_testkit::contract::store::Samples::default();
        let begin = Instant::now();
        for number in 0..COMMITS {
            let changes = vec![Change::AddTask(Box::new(task(number)))];
            store.commit(Commit { changes, events: Vec::new() }).await.expect("a commit");
        }
        durations.0 = begin.elapsed() / u32::try_from(COMMITS).expect("a small number");
        let begin = Instant::now();
        for _ in 0..COMMITS {
            let events = vec![samples.event(None, "working")];
            store.commit(Commit { changes: Vec::new(), events }).await.expect("a commit");
        }
        durations.1 = begin.elapsed() / u32::try_from(COMMITS).expect("a small number");
        let rest = (COMMITS..TASKS).map(|number| Change::AddTask(Box::new(task(number))));
        let changes = rest.collect();
        store.commit(Commit { changes, events: Vec::new() }).await.expect("a commit");
    });
    durations
}

/// Returns a task that waits for a person, so that the daemon does not start it.
fn task(number: usize) -> Task {
    Task {
        id: TaskId::new(Uuid::now_v7()),
        key: None,
        order: TaskOrder {
            fleet: FleetName::parse("shop").expect("a name"),
            agent: agent(number),
            account: account(),
            folder: "/code/shop".into(),
            repository: None,
            issue: None,
            branch: None,
            worktree: None,
            prompt: "Fix the parser, then run all tests.".to_owned(),
            parent: None,
            priority: TaskPriority::default(),
            verify: None,
            mode: TaskMode::Headless,
            continues: None,
        },
        state: TaskState::Waiting(TaskWait::UsageLimit { until: None }),
        attempts: 0,
        progress: TaskProgress::default(),
        session: None,
        result: None,
        created_at: jiff::Timestamp::now(),
        started_at: None,
        ended_at: None,
    }
}

fn agent(number: usize) -> AgentName {
    AgentName::parse(&format!("agent-{}", number % 10)).expect("a name")
}

fn account() -> AccountKey {
    AccountKey { vendor: VendorId::new("tool"), config_dir: "/home/tool".into() }
}

/// Starts and ends 10,000 queued tasks one after another. Returns the average duration of one.
fn choose_all() -> Duration {
    let mut schedule = TaskSchedule::new(TaskLimits::default());
    let fleet = FleetName::parse("shop").expect("a name");
    for number in 0..TASKS {
        schedule.queue(ScheduledTask {
            id: TaskId::new(Uuid::now_v7()),
            place: i64::try_from(number).expect("a small number"),
            priority: TaskPriority::default(),
            agent: AgentKey { fleet: fleet.clone(), agent: agent(number) },
            account: account(),
            exclusive: Vec::new(),
        });
    }
    let (duration, ()) = timed(|| {
        while let Some(next) = schedule.next().cloned() {
            let id = next.id;
            schedule.start(next);
            schedule.remove(id);
        }
    });
    duration / u32::try_from(TASKS).expect("a small number")
}
