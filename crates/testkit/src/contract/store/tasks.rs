//! Tasks: stored in the order of the queue, replaced only if their state is the expected one.

use segue_core::model::{
    AccountKey, AgentName, AgentReport, ChildReport, FleetName, IssueKey, IssueRef, MessageId,
    Permission, ReportedState, RepositoryId, RepositoryUrl, SessionId, Task, TaskId, TaskKey,
    TaskMode, TaskOrder, TaskPriority, TaskProgress, TaskResult, TaskSpawner, TaskState,
    TaskStateKind, TaskWait, VendorId, WorkRef,
};
use segue_core::ports::{
    AgentReportQuery, Change, IssueFilter, MAX_AGENT_REPORTS, Store, TASK_BEGINNING_CHARACTERS,
    TaskPage, TaskQuery, TaskSummary,
};
use segue_core::{Error, Kind};
use uuid::Uuid;

use super::{Backend, Samples, assert_conflict, assert_refused, commit};

pub(super) fn task(samples: &Samples, agent: &str) -> Task {
    Task {
        id: TaskId::new(Uuid::now_v7()),
        key: None,
        order: TaskOrder {
            fleet: FleetName::parse("shop").unwrap(),
            agent: AgentName::parse(agent).unwrap(),
            account: AccountKey { vendor: VendorId::new("tool"), config_dir: "/home/tool".into() },
            folder: "/code/shop".into(),
            repository: None,
            issue: None,
            branch: None,
            worktree: None,
            prompt: "mend \"it\"\n".to_owned(),
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
        state: TaskState::Queued,
        attempts: 0,
        progress: TaskProgress::default(),
        session: None,
        result: None,
        created_at: samples.time(),
        started_at: None,
        ended_at: None,
    }
}

fn with_key(task: Task, key: &str) -> Task {
    Task { key: Some(TaskKey::parse(key).unwrap()), ..task }
}

fn issue(agent: &str, number: &str) -> IssueKey {
    IssueKey {
        fleet: FleetName::parse("shop").unwrap(),
        agent: AgentName::parse(agent).unwrap(),
        repository: RepositoryUrl::parse("https://forge.example.org/shop/app").unwrap().id(),
        issue: IssueRef::parse(number).unwrap(),
    }
}

fn about(task: Task, key: &IssueKey) -> Task {
    let (repository, issue) = (Some(key.repository.clone()), Some(key.issue.clone()));
    Task { order: TaskOrder { repository, issue, ..task.order }, ..task }
}

fn issue_filter(number: &str, repository: Option<&str>) -> Option<IssueFilter> {
    let issue = IssueRef::parse(number).unwrap();
    Some(IssueFilter { issue, repository: repository.map(str::to_owned) })
}

async fn add(store: &dyn Store, tasks: &[&Task]) -> Result<i64, Error> {
    let add = |task: &&Task| Change::AddTask(Box::new((*task).clone()));
    store.commit(commit(tasks.iter().map(add).collect::<Vec<_>>())).await
}

async fn found(store: &dyn Store, query: &TaskQuery) -> Vec<Task> {
    let placed = store.tasks(query).await.unwrap();
    assert!(placed.is_sorted_by_key(|it| it.place), "{placed:?}");
    assert_eq!(store.count_tasks(query).await.unwrap() as usize, placed.len());
    placed.into_iter().map(|it| it.task).collect()
}

pub async fn a_query_returns_the_tasks_that_meet_all_of_its_conditions(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.session("shop", "coder");
    let own = session.id;
    store.commit(commit([Change::CreateSession(Box::new(session))])).await.unwrap();
    let key = issue("coder", "4");
    let first = with_key(task(&samples, "coder"), "k");
    let second = Task { session: Some(own), ..about(task(&samples, "coder"), &key) };
    let mut third = about(task(&samples, "tester"), &issue("tester", "41"));
    (third.order.parent, third.state) = (Some(first.id), TaskState::Done);
    third.order.spawner = Some(TaskSpawner { session: own, permission: Permission::Ask });
    add(&*store, &[&first, &second, &third]).await.unwrap();
    let default = TaskQuery::default;
    let agent = Some(AgentName::parse("coder").unwrap());
    let repository = third.order.repository.as_ref().map(RepositoryId::as_str);
    let table = [
        (default(), vec![&first, &second, &third]),
        (TaskQuery::id(second.id), vec![&second]),
        (TaskQuery { id_prefix: Some(second.id.to_string()), ..default() }, vec![&second]),
        (TaskQuery { id_prefix: Some("f".to_owned()), ..default() }, vec![]),
        (TaskQuery::key(first.key.as_ref().unwrap()), vec![&first]),
        (TaskQuery::open(), vec![&first, &second]),
        (TaskQuery { states: Some(vec![TaskStateKind::Done]), ..default() }, vec![&third]),
        (TaskQuery { agent: agent.clone(), ..default() }, vec![&first, &second]),
        (TaskQuery { session: Some(own), agent, ..default() }, vec![&second]),
        (TaskQuery { parent: Some(first.id), ..default() }, vec![&third]),
        (TaskQuery { spawner: Some(own), ..default() }, vec![&third]),
        (TaskQuery { issue: Some(key), ..default() }, vec![&second]),
        (TaskQuery { issue: Some(issue("tester", "4")), ..default() }, vec![]),
        (TaskQuery { about: issue_filter("4", None), ..default() }, vec![&second]),
        (TaskQuery { about: issue_filter("41", Some("elsewhere")), ..default() }, vec![]),
        (TaskQuery { about: issue_filter("41", repository), ..default() }, vec![&third]),
        (TaskQuery { ids: Some(Vec::new()), ..default() }, vec![]),
    ];
    for (query, expected) in table {
        let expected: Vec<Task> = expected.into_iter().cloned().collect();
        assert_eq!(found(&*store, &query).await, expected, "{query:?}");
    }
    let newest = store.tasks(&TaskQuery { newest: Some(2), ..default() }).await.unwrap();
    assert_eq!(newest.iter().map(|it| it.task.id).collect::<Vec<_>>(), [second.id, third.id]);
}

pub async fn pages_of_tasks_have_every_matching_task_once(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let mut tasks: Vec<Task> = (0..5).map(|_| task(&samples, "coder")).collect();
    tasks[2].state = TaskState::Done;
    add(&*store, &tasks.iter().collect::<Vec<_>>()).await.unwrap();
    let (mut page, mut seen) = (TaskPage { after: None, size: 2 }, Vec::new());
    loop {
        let part = store.tasks(&TaskQuery { page: Some(page), ..TaskQuery::open() }).await.unwrap();
        let Some(last) = part.last() else { break };
        assert!(part.len() <= 2);
        page.after = Some(last.place);
        seen.extend(part.into_iter().map(|it| it.task.id));
    }
    tasks.remove(2);
    assert_eq!(seen, tasks.iter().map(|it| it.id).collect::<Vec<TaskId>>());
}

pub async fn a_summary_of_a_task_has_its_session_and_the_beginning_of_its_prompt(
    backend: &impl Backend,
) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.session("shop", "worker");
    let own = session.id;
    store.commit(commit([Change::CreateSession(Box::new(session.clone()))])).await.unwrap();
    let full = "é\"\n".repeat(TASK_BEGINNING_CHARACTERS / 3) + "é\"";
    assert_eq!(full.chars().count(), TASK_BEGINNING_CHARACTERS);
    let mut long = Task { session: Some(own), ..task(&samples, "coder") };
    (long.order.prompt, long.state) = (format!("{full}more"), TaskState::Running);
    let mut short = task(&samples, "tester");
    short.order.prompt.clone_from(&full);
    let done = Task { state: TaskState::Done, ..task(&samples, "coder") };
    add(&*store, &[&short, &long, &done]).await.unwrap();
    let summary = |task: &Task, beginning: String| TaskSummary {
        id: task.id,
        agent: task.order.agent.clone(),
        state: task.state.kind(),
        session: task.session.map(|_| (session.fleet.clone(), session.name.clone())),
        created_at: task.created_at,
        beginning,
    };
    let of_done = summary(&done, done.order.prompt.clone());
    let open = [summary(&short, full.clone()), summary(&long, format!("{full}…"))];
    // Tasks of different states are listed in the order in which they were added.
    assert_eq!(store.task_summaries(&TaskQuery::open()).await.unwrap(), open);
    let [first, second] = open;
    let all = [first, second, of_done];
    assert_eq!(store.task_summaries(&TaskQuery::default()).await.unwrap(), all);
}

pub async fn a_key_stands_for_one_task(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let first = with_key(task(&samples, "coder"), "same");
    add(&*store, &[&first]).await.unwrap();
    let second = with_key(task(&samples, "tester"), "same");
    assert_conflict(add(&*store, &[&second]).await, &["same", &first.id.to_string()]);
    let (one, other) = (task(&samples, "coder"), task(&samples, "coder"));
    add(&*store, &[&one, &other]).await.unwrap();
    assert_eq!(found(&*store, &TaskQuery::default()).await, [first, one, other]);
}

pub async fn a_task_is_replaced_only_if_its_state_is_the_expected_one(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let queued = task(&samples, "coder");
    add(&*store, &[&queued]).await.unwrap();
    let set = |task: &Task, from| Change::SetTask { task: Box::new(task.clone()), from };
    let mut running = queued.clone();
    (running.state, running.attempts) = (TaskState::Running, 1);
    running.progress = TaskProgress { failed_verifies: 2, ..TaskProgress::default() };
    running.started_at = Some(samples.time());
    store.commit(commit([set(&running, TaskStateKind::Queued)])).await.unwrap();
    let cancelled = Task { state: TaskState::Cancelled, ..queued.clone() };
    let late = store.commit(commit([set(&cancelled, TaskStateKind::Queued)])).await;
    assert_conflict(late, &["running"]);
    let until = Some(samples.time());
    let waiting =
        Task { state: TaskState::Waiting(TaskWait::UsageLimit { until }), ..running.clone() };
    let result = Some(TaskResult { answer: Some("done".to_owned()), ..TaskResult::default() });
    let done = Task { state: TaskState::Done, ended_at: Some(samples.time()), result, ..running };
    for (task, from) in [(&waiting, TaskStateKind::Running), (&done, TaskStateKind::Waiting)] {
        store.commit(commit([set(task, from)])).await.unwrap();
        assert_eq!(found(&*store, &TaskQuery::id(task.id)).await, std::slice::from_ref(task));
    }
    let unknown = task(&samples, "coder");
    let missing = store.commit(commit([set(&unknown, TaskStateKind::Queued)])).await;
    assert_refused(missing, Kind::NotFound, &[&unknown.id.to_string()]);
}

pub async fn a_task_keeps_its_record_when_its_session_is_removed(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.session("shop", "coder");
    let own = session.id;
    let stray = Task { session: Some(own), ..task(&samples, "coder") };
    assert_refused(add(&*store, &[&stray]).await, Kind::NotFound, &[&own.to_string()]);
    store.commit(commit([Change::CreateSession(Box::new(session))])).await.unwrap();
    add(&*store, &[&stray]).await.unwrap();
    store.commit(commit([Change::RemoveSession(own)])).await.unwrap();
    let left = found(&*store, &TaskQuery::default()).await;
    assert_eq!(left, [Task { session: None, ..stray }]);
}

async fn issue_sessions(store: &dyn Store, keys: &[IssueKey]) -> Vec<Option<SessionId>> {
    let mut sessions = Vec::new();
    for key in keys {
        sessions.push(store.issue_session(key).await.unwrap());
    }
    sessions
}

pub async fn an_agent_has_one_session_for_an_issue(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let sessions = ["one", "two"].map(|name| samples.session("shop", name));
    let [one, two] = [sessions[0].id, sessions[1].id];
    let created = sessions.map(|it| Change::CreateSession(Box::new(it)));
    store.commit(commit(created)).await.unwrap();
    let set = |key: IssueKey, session| Change::SetIssueSession { key, session };
    let keys = [issue("coder", "4"), issue("coder", "41"), issue("tester", "4")];
    store.commit(commit(keys.clone().map(|key| set(key, Some(one))))).await.unwrap();
    let steps = [
        (set(keys[0].clone(), Some(two)), [Some(two), Some(one), Some(one)]),
        (set(keys[1].clone(), None), [Some(two), None, Some(one)]),
        (Change::RemoveSession(one), [Some(two), None, None]),
    ];
    for (change, expected) in steps {
        store.commit(commit([change])).await.unwrap();
        assert_eq!(issue_sessions(&*store, &keys).await, expected);
        let known = keys.iter().cloned().zip(expected);
        let known: Vec<_> = known.filter_map(|(key, session)| Some((key, session?))).collect();
        assert_eq!(store.issue_sessions().await.unwrap(), known);
    }
    let lost = SessionId::new(Uuid::now_v7());
    let refused = store.commit(commit([set(keys[2].clone(), Some(lost))])).await;
    assert_refused(refused, Kind::NotFound, &[&lost.to_string()]);
}

pub async fn a_report_to_a_parent_is_kept_until_it_is_sent_once(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let [one, two] = ["one", "two"].map(|agent| task(&samples, agent));
    add(&*store, &[&one, &two]).await.unwrap();
    let session = SessionId::new(Uuid::now_v7());
    let report = |parent: WorkRef, text: &str| ChildReport {
        message: MessageId::new(Uuid::now_v7()),
        child: if text == "second" { WorkRef::Session(session) } else { WorkRef::Task(two.id) },
        parent,
        text: text.to_owned(),
        created_at: samples.time(),
    };
    let parent = WorkRef::Task(one.id);
    let reports = [
        report(parent, "a \"b\"\nc"),
        report(WorkRef::Session(session), "second"),
        report(parent, "third"),
    ];
    let change = |report: &ChildReport| Change::AddChildReport(Box::new(report.clone()));
    store.commit(commit(reports.iter().map(change).collect::<Vec<_>>())).await.unwrap();
    let store = backend.open().await;
    assert_eq!(store.child_reports(None).await.unwrap(), reports);
    let of_session = store.child_reports(Some(WorkRef::Session(session))).await.unwrap();
    assert_eq!(of_session, [reports[1].clone()]);
    let of_one = store.child_reports(Some(parent)).await.unwrap();
    assert_eq!(of_one, [reports[0].clone(), reports[2].clone()]);
    let send = || store.commit(commit([Change::SendChildReport(reports[0].message)]));
    send().await.unwrap();
    assert_conflict(send().await, &["was sent already"]);
    assert_eq!(store.child_reports(None).await.unwrap(), reports[1..]);
}

pub async fn a_child_above_the_limit_of_its_parent_is_a_conflict(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let [own, other] = ["own", "other"].map(|name| samples.session("shop", name));
    let sessions = [&own, &other].map(|it| Change::CreateSession(Box::new(it.clone())));
    store.commit(commit(sessions)).await.unwrap();
    let child = |parent: SessionId| {
        let mut task = task(&samples, "coder");
        task.order.spawner = Some(TaskSpawner { session: parent, permission: Permission::Ask });
        task
    };
    let check = |child: &Task| Change::CheckChildren {
        parent: own.id,
        child: WorkRef::Task(child.id),
        limit: 2,
    };
    let add_checked = async |child: &Task| {
        let changes = [check(child), Change::AddTask(Box::new(child.clone()))];
        store.commit(commit(changes)).await
    };
    add(&*store, &[&child(other.id)]).await.unwrap();
    let [first, second, third] = [(); 3].map(|()| child(own.id));
    add_checked(&first).await.unwrap();
    add_checked(&second).await.unwrap();
    assert_conflict(add_checked(&third).await, &["2 children"]);
    // A child does not count itself.
    store.commit(commit([check(&second)])).await.unwrap();
    let ended = Task { state: TaskState::Cancelled, ..first.clone() };
    let change = Change::SetTask { task: Box::new(ended), from: TaskStateKind::Queued };
    store.commit(commit([change])).await.unwrap();
    add_checked(&third).await.unwrap();
    let unknown = SessionId::new(Uuid::now_v7());
    let check = Change::CheckChildren { parent: unknown, child: WorkRef::Task(first.id), limit: 9 };
    assert_refused(store.commit(commit([check])).await, Kind::NotFound, &[&unknown.to_string()]);
}

pub async fn the_newest_reports_of_an_agent_are_kept(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let [own, other] = [1, 2].map(|_| SessionId::new(Uuid::now_v7()));
    let (task, at) = (TaskId::new(Uuid::now_v7()), samples.time());
    let report = |session, number: u32| AgentReport {
        session,
        task: number.is_multiple_of(2).then_some(task),
        state: ReportedState::Progress,
        text: format!("step {number}"),
        at,
    };
    let add = |report: AgentReport| Change::AddAgentReport(Box::new(report));
    let many = (0..MAX_AGENT_REPORTS + 2).map(|number| add(report(own, number)));
    let changes: Vec<Change> = many.chain([add(report(other, 0))]).collect();
    store.commit(commit(changes)).await.unwrap();
    let store = backend.open().await;
    let of = |session, task| AgentReportQuery { session, task };
    let kept = store.agent_reports(&of(Some(own), None)).await.unwrap();
    assert_eq!(kept.len(), MAX_AGENT_REPORTS as usize);
    assert_eq!(kept.first().unwrap().text, "step 2");
    assert_eq!(kept.last(), Some(&report(own, MAX_AGENT_REPORTS + 1)));
    let of_task = store.agent_reports(&of(None, Some(task))).await.unwrap();
    assert_eq!(of_task.len(), MAX_AGENT_REPORTS as usize / 2 + 1);
    assert_eq!(store.agent_reports(&of(Some(other), None)).await.unwrap(), [report(other, 0)]);
}
