//! Measures 10,000 open tasks: adding them to the store, choosing the next one, and listing them.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};
use segue_core::api::{Caller, REQUEST_HEADER, TaskAddRequest};
use segue_core::model::{
    AccountKey, AgentName, Environment, FleetName, Task, TaskId, TaskMode, TaskOrder, TaskPriority,
    TaskProgress, TaskState, TaskWait, VendorId,
};
use segue_core::ports::{Change, Commit};
use segue_core::rules::schedule::{AgentKey, ScheduledTask, TaskLimits, TaskSchedule};
use segue_testkit::world_store::with_store;
use segue_testkit::{RawClient, World, scene};
use uuid::Uuid;

use crate::starts::version;
use crate::table::{Aim, Figure, Row};
use crate::timing::{median, timed, whole_run};

pub(crate) const TASKS: usize = 10_000;
const TIMES: usize = 20;
/// The number of commits whose durations are compared.
const COMMITS: usize = 500;
/// The number of commits before the comparison. After them, both databases overwrite their
/// write-ahead logs; the first commits make the logs longer, which takes longer.
const FIRST_COMMITS: usize = 1500;

/// At least 0.7 times as many tasks as rows in the same time.
const ADD_AIM: Aim = Aim::Within(1.42);
const LIST_AIM: Aim = Aim::Below(Figure::Time(Duration::from_millis(50)));
const CHOICE_AIM: Aim = Aim::Below(Figure::Time(Duration::from_millis(1)));

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    let (own, bare) = compare_commits(&world);
    add_open(&world, TASKS - FIRST_COMMITS - COMMITS);
    world.ok(["task", "ls"]);
    let command = median((0..TIMES).map(|_| version(&world)).collect());
    let run = |arguments: &[&str]| {
        let run = |_| whole_run(&mut world.command(arguments));
        Figure::Time(median((0..TIMES).map(run).collect()))
    };
    vec![
        Row::new("task add: commit of one task", Figure::Time(own))
            .against(Figure::Time(bare))
            .aim(ADD_AIM),
        Row::new("  whole request of a program", Figure::Time(add_by_requests(program)))
            .against(Figure::Time(bare)),
        Row::new("  next of 10,000 queued tasks, start and end", Figure::Time(choose_all()))
            .aim(CHOICE_AIM),
        Row::new("task ls, 10,000 tasks, cold process", run(&["task", "ls"]))
            .against(Figure::Time(command))
            .aim(LIST_AIM),
        Row::new("  task ls --json", run(&["task", "ls", "--json"])).against(Figure::Time(command)),
    ]
}

/// Adds tasks to the store of a world whose daemon does not run, and rows to a database with nothing
/// but these rows, in turns. Returns the medians of the durations of a task's and of a row's commit.
fn compare_commits(world: &World) -> (Duration, Duration) {
    let (mut own, mut bare) = (Vec::new(), Vec::new());
    let mut rows = BareDatabase::open(&world.root().join("bare.db"));
    with_store(world, async |store| {
        for number in 0..FIRST_COMMITS + COMMITS {
            let task = task(number);
            let text = serde_json::to_string(&task).expect("a task as text");
            let changes = vec![Change::AddTask(Box::new(task))];
            let commit = Commit { changes, events: Vec::new() };
            let begin = Instant::now();
            store.commit(commit).await.expect("a commit");
            own.push(begin.elapsed());
            bare.push(timed(|| rows.add(&text)).0);
        }
    });
    (median(own.split_off(FIRST_COMMITS)), median(bare.split_off(FIRST_COMMITS)))
}

/// Adds tasks as a program does, with requests on one connection. The tasks stay queued, because
/// their agent works on another one. Returns the median of the durations.
fn add_by_requests(program: &Path) -> Duration {
    let world = World::new(program);
    scene::write_shop(&world, "");
    world.ok(["task", "add", "--agent", "coder", "/hang"]);
    let mut client = RawClient::connect(&world);
    let body = serde_json::to_string(&add_request(&world)).expect("a request as text");
    let length = body.len();
    let mut add = || {
        let id = Uuid::now_v7();
        client.write(&format!(
            "POST /v1/tasks HTTP/1.1\r\nhost: segue\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n{REQUEST_HEADER}: {id}\r\n\r\n{body}"
        ));
        let (status, answer) = client.answer();
        assert_eq!(status, 200, "{answer}");
    };
    let mut times: Vec<Duration> = (0..2 * COMMITS).map(|_| timed(&mut add).0).collect();
    median(times.split_off(COMMITS))
}

fn add_request(world: &World) -> TaskAddRequest {
    TaskAddRequest {
        caller: Caller { cwd: world.project(), environment: Environment::new(world.environment()) },
        prompt: "Fix the parser, then run all tests.".to_owned(),
        agent: "coder".to_owned(),
        repo: None,
        issue: None,
        branch: None,
        from_fork: None,
        setup_fork: false,
        key: None,
        priority: 0,
        verify: None,
        parent: None,
        mode: TaskMode::Headless,
        session: None,
        reply: None,
    }
}

/// A database with one table, as safe on disk as the store.
pub(crate) struct BareDatabase(Connection);

impl BareDatabase {
    pub(crate) fn open(path: &Path) -> Self {
        let database = Connection::open(path).expect("a database");
        database.pragma_update(None, "journal_mode", "wal").expect("a write-ahead log");
        database.pragma_update(None, "synchronous", "FULL").expect("a setting");
        let table = "CREATE TABLE bare (number INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT";
        database.execute(table, []).expect("a table");
        Self(database)
    }

    pub(crate) fn add(&mut self, text: &str) {
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.0.transaction_with_behavior(behavior).expect("a transaction");
        transaction
            .prepare_cached("INSERT INTO bare (text) VALUES (?1)")
            .and_then(|mut insert| insert.execute([text]))
            .expect("a row");
        transaction.commit().expect("a commit");
    }
}

/// Adds tasks to the store of a world whose daemon does not run. All of them wait: half of them until
/// a timestamp, and half of them for a person.
pub(crate) fn add_open(world: &World, count: usize) {
    with_store(world, async |store| {
        let changes = (0..count).map(|number| Change::AddTask(Box::new(task(number)))).collect();
        store.commit(Commit { changes, events: Vec::new() }).await.expect("a commit");
    });
}

/// Returns a task that waits, so that the daemon does not start it.
pub(crate) fn task(number: usize) -> Task {
    let until = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24);
    let until = number.is_multiple_of(2).then_some(until);
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
            reply: None,
            vendor: None,
            spawner: None,
            plan: None,
        },
        state: TaskState::Waiting(TaskWait::UsageLimit { until }),
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
            plan: None,
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
