use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::model::VendorId;

const LIMITS: TaskLimits = TaskLimits { per_agent: 1, per_account: 2, total: 3 };

fn id(number: u128) -> TaskId {
    TaskId::new(Uuid::from_u128(number))
}

/// A task of one of the agents `a0`, `a1` …. Two agents share one account.
fn task(place: i64, agent: u8, priority: i8) -> ScheduledTask {
    ScheduledTask {
        id: id(u128::try_from(place).unwrap()),
        place,
        priority: TaskPriority::new(priority).unwrap(),
        agent: AgentKey {
            fleet: FleetName::parse("shop").unwrap(),
            agent: AgentName::parse(&format!("a{agent}")).unwrap(),
        },
        account: account(agent / 2),
        plan: None,
        exclusive: Vec::new(),
    }
}

fn conversation(name: &str) -> TaskExclusive {
    TaskExclusive::Conversation(name.to_owned())
}

fn account(number: u8) -> AccountKey {
    AccountKey { vendor: VendorId::new("tool"), config_dir: format!("/home/{number}").into() }
}

fn schedule(tasks: &[ScheduledTask]) -> TaskSchedule {
    let mut schedule = TaskSchedule::new(LIMITS);
    tasks.iter().for_each(|task| schedule.queue(task.clone()));
    schedule
}

/// Starts all tasks that may start now. Returns their places.
fn start_all(schedule: &mut TaskSchedule) -> Vec<i64> {
    let mut places = Vec::new();
    while let Some(task) = schedule.next().cloned() {
        places.push(task.place);
        schedule.start(task);
    }
    places
}

/// A name, the agents and priorities of the queued tasks, and the places of those that start.
type OrderCase<'a> = (&'a str, &'a [(u8, i8)], &'a [i64]);

#[test]
fn tasks_start_in_order_until_a_limit_is_reached() {
    let table: [OrderCase<'_>; 6] = [
        ("one agent, one at a time", &[(0, 0), (0, 0)], &[1]),
        ("two agents of one account", &[(0, 0), (1, 0)], &[1, 2]),
        ("limit of the machine", &[(0, 0), (2, 0), (4, 0), (6, 0)], &[1, 2, 3]),
        ("higher priority first", &[(0, 0), (0, 1)], &[2]),
        ("higher priority of another agent first", &[(0, 0), (2, 5)], &[2, 1]),
        ("lower priority last", &[(0, -1), (0, 0)], &[2]),
    ];
    for (case, tasks, expected) in table {
        let tasks =
            (1..).zip(tasks).map(|(place, (agent, priority))| task(place, *agent, *priority));
        let mut schedule = schedule(&tasks.collect::<Vec<_>>());
        assert_eq!(start_all(&mut schedule), expected, "{case}");
    }
}

#[test]
fn priority_is_a_head_start_of_limited_length() {
    let mut tasks = vec![task(1, 0, 0)];
    tasks.extend((2..=400).map(|place| task(place, 0, 1)));
    let mut schedule = schedule(&tasks);
    let mut started = Vec::new();
    while let Some(next) = schedule.next().cloned() {
        started.push(next.place);
        schedule.start(next.clone());
        schedule.remove(next.id);
    }
    let overtaken_by = started.iter().position(|place| *place == 1).unwrap();
    assert_eq!(i64::try_from(overtaken_by).unwrap(), PLACES_PER_PRIORITY - 1);
}

#[test]
fn obstacle_of_a_queued_task_names_the_limit_that_it_waits_for() {
    let talk = |task: ScheduledTask| ScheduledTask { exclusive: vec![conversation("c")], ..task };
    let wide = TaskLimits { per_agent: 2, per_account: 4, total: 8 };
    let mut schedule = TaskSchedule::new(wide);
    schedule.start(talk(task(1, 0, 0)));
    schedule.queue(talk(task(2, 0, 0)));
    schedule.queue(task(3, 0, 0));
    assert_eq!(schedule.obstacle(id(2)), Some(TaskObstacle::ConversationIsBusy));
    assert_eq!(schedule.obstacle(id(3)), Some(TaskObstacle::BehindOthers { earlier: 1 }));
    assert_eq!(schedule.obstacle(id(1)), None, "it runs");
    schedule.set_limits(TaskLimits { per_agent: 1, ..wide });
    assert_eq!(schedule.obstacle(id(2)), Some(TaskObstacle::AgentIsBusy));
    schedule.set_held(account(0), true);
    assert_eq!(schedule.obstacle(id(2)), Some(TaskObstacle::AccountIsHeld));
    schedule.set_held(account(0), false);
    schedule.queue(task(4, 1, 0));
    schedule.set_limits(TaskLimits { per_account: 1, ..wide });
    assert_eq!(schedule.obstacle(id(4)), Some(TaskObstacle::AccountIsBusy));
    schedule.set_limits(TaskLimits { total: 1, ..wide });
    assert_eq!(schedule.obstacle(id(4)), Some(TaskObstacle::MachineIsBusy));
    schedule.set_limits(wide);
    assert_eq!(schedule.obstacle(id(4)), None, "it is next");
}

#[test]
fn tasks_in_one_worktree_run_one_after_another() {
    let fix = || vec![conversation("c"), TaskExclusive::Worktree("fix".to_owned())];
    let mut schedule = TaskSchedule::new(TaskLimits { per_agent: 2, per_account: 4, total: 8 });
    schedule.queue(ScheduledTask { exclusive: fix(), ..task(1, 0, 0) });
    schedule.queue(ScheduledTask { exclusive: fix().split_off(1), ..task(2, 0, 0) });
    let first = schedule.next().unwrap().clone();
    schedule.start(first.clone());
    assert_eq!(schedule.next(), None);
    assert_eq!(schedule.obstacle(id(2)), Some(TaskObstacle::WorktreeIsBusy));
    schedule.remove(first.id);
    assert_eq!(schedule.next().map(|task| task.id), Some(id(2)));
}

#[test]
fn queueing_a_known_task_and_removing_an_unknown_one_change_nothing() {
    let mut schedule = schedule(&[task(1, 0, 0)]);
    schedule.queue(task(1, 0, 9));
    schedule.remove(id(7));
    assert_eq!(schedule.queued(), 1);
    let running = schedule.next().cloned().unwrap();
    schedule.start(running.clone());
    schedule.start(running.clone());
    schedule.queue(running);
    assert_eq!((schedule.queued(), schedule.next()), (0, None));
    schedule.remove(id(1));
    schedule.queue(task(2, 0, 0));
    assert_eq!(schedule.next().map(|task| task.place), Some(2));
}

/// What happens to the schedule in a property test.
#[derive(Clone, Debug)]
enum ScheduleStep {
    Queue {
        agent: u8,
        priority: i8,
        conversation: Option<u8>,
    },
    StartNext,
    /// Ends one of the running tasks.
    End(usize),
    /// Cancels one of the queued tasks.
    Cancel(usize),
    Hold(u8),
    Release(u8),
    /// Builds the schedule again from the queued and the running tasks.
    Restart,
}

fn step() -> impl Strategy<Value = ScheduleStep> {
    let conversation = proptest::option::of(0..3_u8);
    prop_oneof![
        5 => (0..4_u8, -2..3_i8, conversation).prop_map(|(agent, priority, conversation)| {
            ScheduleStep::Queue { agent, priority, conversation }
        }),
        5 => Just(ScheduleStep::StartNext),
        3 => any::<usize>().prop_map(ScheduleStep::End),
        1 => any::<usize>().prop_map(ScheduleStep::Cancel),
        1 => (0..2_u8).prop_map(ScheduleStep::Hold),
        2 => (0..2_u8).prop_map(ScheduleStep::Release),
        1 => Just(ScheduleStep::Restart),
    ]
}

/// A plain list of all tasks, to compare the schedule with.
#[derive(Default)]
struct TaskLedger {
    limits: TaskLimits,
    schedule: TaskSchedule,
    queued: Vec<ScheduledTask>,
    running: Vec<ScheduledTask>,
    held: HashSet<AccountKey>,
    places: i64,
}

impl TaskLedger {
    fn new(limits: TaskLimits) -> Self {
        Self { limits, schedule: TaskSchedule::new(limits), ..Self::default() }
    }

    fn take(&mut self, step: &ScheduleStep) {
        match step {
            ScheduleStep::Queue { agent, priority, conversation } => {
                self.places += 1;
                let name = conversation.map(|it| format!("a{agent}:{it}"));
                let exclusive = name.iter().map(|name| self::conversation(name)).collect();
                let task = ScheduledTask { exclusive, ..task(self.places, *agent, *priority) };
                self.schedule.queue(task.clone());
                self.queued.push(task);
            }
            ScheduleStep::StartNext => self.start_next(),
            ScheduleStep::End(which) if !self.running.is_empty() => {
                let ended = self.running.remove(which % self.running.len());
                self.schedule.remove(ended.id);
            }
            ScheduleStep::Cancel(which) if !self.queued.is_empty() => {
                let cancelled = self.queued.remove(which % self.queued.len());
                self.schedule.remove(cancelled.id);
            }
            ScheduleStep::End(_) | ScheduleStep::Cancel(_) => {}
            ScheduleStep::Hold(number) => self.hold(account(*number), true),
            ScheduleStep::Release(number) => self.hold(account(*number), false),
            ScheduleStep::Restart => self.restart(),
        }
    }

    fn hold(&mut self, account: AccountKey, is_held: bool) {
        self.schedule.set_held(account.clone(), is_held);
        if is_held {
            self.held.insert(account);
        } else {
            self.held.remove(&account);
        }
    }

    fn restart(&mut self) {
        let before = self.schedule.next().map(|task| task.id);
        self.schedule = TaskSchedule::new(self.limits);
        self.held.iter().for_each(|account| self.schedule.set_held(account.clone(), true));
        // A store may return them in any order.
        self.queued.iter().rev().for_each(|task| self.schedule.queue(task.clone()));
        self.running.iter().for_each(|task| self.schedule.start(task.clone()));
        assert_eq!(self.schedule.next().map(|task| task.id), before, "a restart changed the order");
    }

    fn start_next(&mut self) {
        let Some(next) = self.schedule.next().cloned() else { return };
        let index = self.queued.iter().position(|task| task.id == next.id);
        self.queued.remove(index.expect("only queued tasks start"));
        let overtakes = |task: &&ScheduledTask| {
            task.agent == next.agent && task.priority == next.priority && task.place < next.place
        };
        assert_eq!(self.queued.iter().find(overtakes), None, "not first in, first out");
        assert!(!self.held.contains(&next.account), "its account is held");
        self.schedule.start(next.clone());
        self.running.push(next);
        self.check_limits();
    }

    fn check_limits(&self) {
        let same = |is_same: &dyn Fn(&ScheduledTask, &ScheduledTask) -> bool| {
            let count = |task| self.running.iter().filter(|other| is_same(task, other)).count();
            self.running.iter().map(count).max().unwrap_or_default()
        };
        assert!(same(&|one, other| one.agent == other.agent) <= self.limits.per_agent);
        assert!(same(&|one, other| one.account == other.account) <= self.limits.per_account);
        assert!(self.running.len() <= self.limits.total);
        let shared = |one: &ScheduledTask, other: &ScheduledTask| {
            !one.exclusive.is_empty() && one.exclusive == other.exclusive
        };
        assert!(same(&shared) <= 1, "two tasks of one conversation run");
    }

    /// Ends tasks and starts others until nothing is left to start.
    fn drain(&mut self) {
        for number in 0..2 {
            self.hold(account(number), false);
        }
        loop {
            self.start_next();
            let may_start = self.schedule.next().is_some();
            if !may_start && self.running.is_empty() {
                break;
            }
            if !may_start {
                self.take(&ScheduleStep::End(0));
            }
        }
    }
}

proptest! {
    #[test]
    fn limits_hold_order_is_first_in_first_out_and_no_task_starves(
        steps in proptest::collection::vec(step(), 1..120),
        per_agent in 1..3_usize,
        per_account in 1..4_usize,
        total in 1..5_usize,
    ) {
        let mut ledger = TaskLedger::new(TaskLimits { per_agent, per_account, total });
        steps.iter().for_each(|step| ledger.take(step));
        ledger.drain();
        prop_assert!(ledger.queued.is_empty(), "never started: {:?}", ledger.queued);
        prop_assert_eq!(ledger.schedule.queued(), 0);
    }
}

#[test]
fn queued_tasks_of_a_paused_plan_keep_their_places_and_let_others_start() {
    let plan = crate::model::PlanId::new(Uuid::from_u128(9));
    let of_plan = |place| ScheduledTask { plan: Some(plan), ..task(place, 0, 0) };
    let mut schedule = TaskSchedule::default();
    let (first, second, other) = (of_plan(1), of_plan(2), task(3, 0, 0));
    schedule.queue(first.clone());
    schedule.pause(plan);
    schedule.queue(second.clone());
    schedule.queue(other.clone());
    assert_eq!(schedule.next().map(|it| it.id), Some(other.id));
    for id in [first.id, second.id] {
        assert_eq!(schedule.obstacle(id), Some(TaskObstacle::PlanIsPaused));
    }
    schedule.remove(second.id);
    schedule.resume(plan);
    assert_eq!(schedule.next().map(|it| it.id), Some(first.id));
    assert_eq!((schedule.queued(), schedule.obstacle(second.id)), (2, None));
}

#[test]
fn running_task_of_a_plan_that_is_paused_keeps_its_slot() {
    let plan = crate::model::PlanId::new(Uuid::from_u128(9));
    let running = ScheduledTask { plan: Some(plan), ..task(1, 0, 0) };
    let mut schedule = TaskSchedule::default();
    schedule.start(running.clone());
    schedule.pause(plan);
    assert!(schedule.is_running(running.id));
    schedule.queue(task(2, 0, 0));
    assert_eq!(schedule.next(), None);
}
