//! Adding, finding, starting, ending and retrying tasks.

use segue_core::api::{Caller, TaskAddRequest, TaskListRequest, TaskRetryRequest, TrustRequest};
use segue_core::flows::tasks::{self, TaskEnd};
use segue_core::flows::{SessionState, messages, trust};
use segue_core::model::{
    AgentName, BranchName, BranchStart, DiffStat, EventPayload, FolderState, MessageId, Permission,
    Principal, PromptTemplate, Session, SessionId, Task, TaskMode, TaskState, TaskStateKind,
    TaskTemplates, TaskWait, TrustClaim, WorktreeOrder,
};
use segue_core::ports::{Change, Commit, EventQuery, PlacedTask, Ports};
use segue_core::{Error, Kind, Result};
use segue_fakes::{FakeVendor, FakeWorld, samples};
use uuid::Uuid;

use crate::scene::FlowScene;

fn caller() -> Caller {
    Caller { cwd: samples::CWD.into(), environment: samples::environment() }
}

fn request(prompt: &str) -> TaskAddRequest {
    TaskAddRequest {
        caller: caller(),
        prompt: prompt.to_owned(),
        agent: "coder".to_owned(),
        repo: None,
        issue: None,
        branch: None,
        key: None,
        priority: 0,
        verify: None,
        parent: None,
        mode: TaskMode::Headless,
        session: None,
    }
}

/// Returns the ports of a world with a trusted project that has the agents `coder` and `tester`.
async fn ports() -> Ports {
    let world = FakeWorld::new();
    world.projects.write(samples::project(&["coder", "tester"]));
    let ports = world.ports();
    trust_project(&ports).await;
    ports
}

async fn trust_project(ports: &Ports) {
    let ask = |digest| TrustRequest { folder: samples::CWD.into(), digest };
    let shown = trust::trust(ports, &ask(None)).await.unwrap();
    trust::trust(ports, &ask(Some(shown.digest))).await.unwrap();
}

async fn add(ports: &Ports, request: TaskAddRequest) -> Result<Task> {
    let added = tasks::add(ports, &Principal::User, request, |_| Ok(Vec::new())).await;
    added.map(|placed| placed.task)
}

/// Adds a session, and returns it.
async fn session(ports: &Ports, number: u128, name: &str) -> Session {
    let session = Session { headless: true, ..samples::session(number, name) };
    let change = Change::CreateSession(Box::new(session.clone()));
    ports.store.commit(Commit { changes: vec![change], events: Vec::new() }).await.unwrap();
    session
}

async fn task(ports: &Ports, task: &Task) -> Task {
    let PlacedTask { task, .. } = tasks::by_id(ports, task.id).await.unwrap();
    task
}

/// Returns the states of all events about tasks, oldest first.
async fn recorded_states(ports: &Ports) -> Vec<TaskStateKind> {
    let query = EventQuery { limit: 100, ..EventQuery::default() };
    let events = ports.store.events(&query).await.unwrap().into_iter();
    let state = |payload| match payload {
        EventPayload::TaskChanged { state, .. } => Some(state),
        _ => None,
    };
    events.filter_map(|event| state(event.fact.payload)).collect()
}

#[tokio::test]
async fn added_task_is_queued_for_the_agent_of_the_trusted_project() {
    let ports = ports().await;
    let added = add(&ports, request("fix it")).await.unwrap();
    assert_eq!((added.state.kind(), added.attempts), (TaskStateKind::Queued, 0));
    assert_eq!((added.order.agent.as_str(), added.order.fleet.as_str()), ("coder", "shop"));
    assert_eq!(added.order.folder.to_str(), Some(samples::CWD));
    assert_eq!((added.session, added.order.issue_key()), (None, None));
    assert_eq!(recorded_states(&ports).await, [TaskStateKind::Queued]);
}

#[tokio::test]
async fn second_task_with_the_same_key_is_the_first_one() {
    let ports = ports().await;
    let keyed = |prompt| TaskAddRequest { key: Some("nightly".to_owned()), ..request(prompt) };
    let first = add(&ports, keyed("one")).await.unwrap();
    let again = add(&ports, keyed("two")).await.unwrap();
    assert_eq!(again, first);
    assert_eq!(recorded_states(&ports).await, [TaskStateKind::Queued]);
    let id = first.id.to_string();
    for text in ["nightly", &id, &id[..8]] {
        assert_eq!(tasks::find(&ports, text).await.unwrap().task, first, "{text}");
    }
}

#[tokio::test]
async fn bad_requests_are_refused_and_add_nothing() {
    let ports = ports().await;
    let with = |change: fn(&mut TaskAddRequest)| {
        let mut request = request("fix it");
        change(&mut request);
        request
    };
    let table = [
        (with(|it| it.prompt = " \n".to_owned()), Kind::Usage, "prompt is empty"),
        (with(|it| it.prompt = "a\0b".to_owned()), Kind::Usage, "zero byte"),
        (with(|it| it.agent = "nobody".to_owned()), Kind::NotFound, "nobody"),
        (with(|it| it.priority = 10), Kind::Usage, "between -9 and 9"),
        (with(|it| it.issue = Some("a b".to_owned())), Kind::Usage, "number of an issue"),
        (with(|it| it.key = Some(String::new())), Kind::Usage, "--key"),
        (with(|it| it.parent = Some("0000".to_owned())), Kind::NotFound, "0000"),
        (with(|it| it.session = Some("fox".to_owned())), Kind::NotFound, "fox"),
        (with(|it| it.repo = Some("not a url".to_owned())), Kind::Usage, "URL of a repository"),
        (with(|it| it.branch = Some("a b".to_owned())), Kind::Usage, "a b"),
    ];
    for (request, kind, words) in table {
        let error = add(&ports, request.clone()).await.unwrap_err();
        assert_eq!(error.kind, kind, "{request:?}: {error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(recorded_states(&ports).await, []);
}

#[tokio::test]
async fn template_of_the_project_is_rendered_and_a_broken_one_adds_nothing() {
    let world = FakeWorld::new();
    let ports = world.ports();
    let write = async |text: &str| {
        let path = "/code/shop/prompts/task.md".into();
        let task = Some(PromptTemplate { path, text: text.to_owned() });
        let mut project = samples::project(&["coder"]);
        project.templates = TaskTemplates { task, delta: None };
        project.claims.push(TrustClaim::text("template", text));
        world.projects.write(project);
        trust_project(&ports).await;
    };
    write("{{ agent }} does in {{ folder }} on {{ git.branch }}: {{ prompt }}").await;
    let added = add(&ports, request("fix it")).await.unwrap();
    let folder = FolderState {
        path: "/code/shop".to_owned(),
        branch: Some("main".to_owned()),
        dirty: vec!["src/lib.rs".to_owned()],
        ..FolderState::default()
    };
    assert_eq!(
        tasks::first_prompt(&ports, &added, folder.clone()).await.unwrap(),
        "coder does in /code/shop on main: fix it"
    );
    let next = tasks::next_prompt(&ports, &added, folder).await.unwrap();
    assert!(next.contains("fix it") && next.contains("src/lib.rs"), "{next}");
    write("{{ prompt }}\n{{ promt }}").await;
    let error = add(&ports, request("fix it")).await.unwrap_err();
    assert_eq!(error.kind, Kind::Config);
    assert!(error.to_string().contains("/code/shop/prompts/task.md` line 2"), "{error}");
    assert_eq!(recorded_states(&ports).await.len(), 1);
}

#[tokio::test]
async fn agents_may_not_use_tasks_and_untrusted_projects_are_refused() {
    let ports = ports().await;
    let agent = Principal::Agent(Box::new(samples::session(1, "fox")));
    let refused = tasks::add(&ports, &agent, request("fix it"), |_| Ok(Vec::new())).await;
    assert!(refused.unwrap_err().to_string().contains("an agent may not use tasks"));
    let untrusted = FakeWorld::new();
    untrusted.projects.write(samples::project(&["coder"]));
    let error = add(&untrusted.ports(), request("fix it")).await.unwrap_err();
    assert_eq!(error.kind, Kind::Config, "{error}");
}

#[tokio::test]
async fn start_is_recorded_with_its_session_and_only_once() {
    let ports = ports().await;
    let queued = add(&ports, request("fix it")).await.unwrap();
    let session = session(&ports, 1, "fox").await;
    let start = tasks::started(&ports, &queued, session.id);
    ports.store.commit(start.clone()).await.unwrap();
    let running = task(&ports, &queued).await;
    assert_eq!((running.state.kind(), running.attempts), (TaskStateKind::Running, 1));
    assert_eq!((running.session, running.progress.sessions), (Some(session.id), vec![session.id]));
    let twice = ports.store.commit(start).await.unwrap_err();
    assert!(tasks::is_changed_meanwhile(&twice), "{twice}");
}

#[tokio::test]
async fn cancelled_task_cannot_be_started() {
    let ports = ports().await;
    let queued = add(&ports, request("fix it")).await.unwrap();
    let session = session(&ports, 1, "fox").await;
    tasks::end(&ports, &queued, TaskEnd::new(TaskState::Cancelled, None)).await.unwrap();
    let late = ports.store.commit(tasks::started(&ports, &queued, session.id)).await.unwrap_err();
    assert!(tasks::is_changed_meanwhile(&late), "{late}");
    assert_eq!(task(&ports, &queued).await.state, TaskState::Cancelled);
}

#[tokio::test]
async fn tasks_of_an_agent_about_one_issue_continue_one_session() {
    let ports = ports().await;
    let about = |issue: &str| TaskAddRequest { issue: Some(issue.to_owned()), ..request("fix it") };
    let first = add(&ports, about("17")).await.unwrap();
    assert_eq!(tasks::session_of(&ports, &first).await.unwrap(), None);
    let session = session(&ports, 1, "fox").await;
    ports.store.commit(tasks::started(&ports, &first, session.id)).await.unwrap();
    let same = add(&ports, about("https://forge.example.org/a/b/issues/17")).await.unwrap();
    assert_eq!(tasks::session_of(&ports, &same).await.unwrap(), Some(session.id));
    let other = add(&ports, about("18")).await.unwrap();
    assert_eq!(tasks::session_of(&ports, &other).await.unwrap(), None);
    let tester = TaskAddRequest { agent: "tester".to_owned(), ..about("17") };
    let tester = add(&ports, tester).await.unwrap();
    assert_eq!(tasks::session_of(&ports, &tester).await.unwrap(), None);
}

#[tokio::test]
async fn worktree_of_a_task_comes_from_the_request_the_agent_or_the_issue() {
    let world = FakeWorld::new();
    let mut project = samples::project(&["coder", "tester"]);
    let branch = BranchName::parse("feature/tester").unwrap();
    let start = BranchStart::DefaultBranch;
    let order = WorktreeOrder { branch, start, url: None, allows_commands_of_fork: false };
    project.agents[1].worktree = Some(order);
    world.projects.write(project);
    let ports = world.ports();
    trust_project(&ports).await;
    let url = || Some("https://git.example.org/team/app.git".to_owned());
    let branch = || Some("fix".to_owned());
    let issue = || Some("17".to_owned());
    let coder = || request("fix it");
    let tester = || TaskAddRequest { agent: "tester".to_owned(), ..coder() };
    let table = [
        (coder(), None, false),
        (TaskAddRequest { issue: issue(), ..coder() }, None, false),
        (TaskAddRequest { branch: branch(), ..coder() }, Some("fix"), false),
        (TaskAddRequest { repo: url(), branch: branch(), ..coder() }, Some("fix"), true),
        (TaskAddRequest { repo: url(), issue: issue(), ..coder() }, Some("coder/issue-17"), true),
        (tester(), Some("feature/tester"), false),
        (TaskAddRequest { branch: branch(), ..tester() }, Some("fix"), false),
        (TaskAddRequest { repo: url(), ..tester() }, Some("feature/tester"), true),
    ];
    for (request, expected, has_url) in table {
        let order = add(&ports, request.clone()).await.unwrap().order;
        let worktree = order.worktree.map(|worktree| worktree.order);
        let found = worktree.as_ref().map(|worktree| worktree.branch.as_str());
        assert_eq!(found, expected, "{request:?}");
        assert_eq!(worktree.is_some_and(|it| it.url.is_some()), has_url, "{request:?}");
    }
    let own = add(&ports, TaskAddRequest { repo: url(), ..coder() }).await.unwrap();
    let found = own.order.worktree.unwrap().order.branch;
    assert!(found.as_str().starts_with("coder/task-"), "{found}");
}

#[tokio::test]
async fn end_has_the_commits_since_the_start_and_the_reason_if_they_are_unknown() {
    let world = FakeWorld::new();
    world.projects.write(samples::project(&["coder"]));
    let ports = world.ports();
    trust_project(&ports).await;
    let session = session(&ports, 1, "fox").await;
    let work = async |base_fails: bool, end_fails: bool| {
        let queued = add(&ports, request("fix it")).await.unwrap();
        if base_fails {
            world.calls.fail("checkouts.head", 1);
        }
        let queued = tasks::with_base(&ports, &queued, &session).await;
        ports.store.commit(tasks::started(&ports, &queued, session.id)).await.unwrap();
        world.checkouts.commit("add two");
        if end_fails {
            world.calls.fail("checkouts.commits_since", 1);
        }
        let running = task(&ports, &queued).await;
        let done = tasks::end(&ports, &running, TaskEnd::new(TaskState::Done, None)).await.unwrap();
        done.result.unwrap()
    };
    let known = work(false, false).await;
    assert_eq!(known.commits[0].subject, "add two");
    assert_eq!((known.diff, known.note), (Some(DiffStat::default()), None));
    for (base_fails, end_fails) in [(true, false), (false, true)] {
        let unknown = work(base_fails, end_fails).await;
        assert_eq!((unknown.commits.len(), unknown.diff), (0, None));
        assert!(unknown.note.unwrap().starts_with("the changes are unknown: "));
    }
}

#[tokio::test]
async fn end_has_the_answer_and_the_duration() {
    let ports = ports().await;
    let queued = add(&ports, request("fix it")).await.unwrap();
    let session = session(&ports, 1, "fox").await;
    ports.store.commit(tasks::started(&ports, &queued, session.id)).await.unwrap();
    let running = task(&ports, &queued).await;
    let answer = Some("fixed".to_owned());
    let done =
        tasks::end(&ports, &running, TaskEnd::new(TaskState::Done, answer.clone())).await.unwrap();
    assert_eq!(task(&ports, &queued).await, done);
    assert_eq!(done.result.unwrap().answer, answer);
    assert!(done.ended_at >= running.started_at && running.started_at.is_some());
    let states = recorded_states(&ports).await;
    assert_eq!(states, [TaskStateKind::Queued, TaskStateKind::Running, TaskStateKind::Done]);
}

#[tokio::test]
async fn message_to_a_session_after_a_wait_is_no_new_attempt() {
    let ports = ports().await;
    let queued = add(&ports, request("fix it")).await.unwrap();
    let session = session(&ports, 1, "fox").await;
    ports.store.commit(tasks::started(&ports, &queued, session.id)).await.unwrap();
    let running = task(&ports, &queued).await;
    let wait = TaskWait::UsageLimit { until: None };
    let waiting = tasks::wait(&ports, &running, wait).await.unwrap();
    assert_eq!(waiting.state.reason().as_deref(), Some("usage limit"));
    let message = MessageId::new(Uuid::from_u128(7));
    let goes_on = tasks::continued(&ports, &waiting, (session.id, message), None);
    ports.store.commit(goes_on).await.unwrap();
    let running = task(&ports, &queued).await;
    assert_eq!((running.state.kind(), running.attempts), (TaskStateKind::Running, 1));
    assert_eq!(running.progress.message, Some(message));
    let text = tasks::after_wait(&waiting);
    assert!(text.contains("usage limit") && text.contains("fix it"), "{text}");
}

#[tokio::test]
async fn retry_queues_an_ended_task_in_the_same_or_in_a_new_conversation() {
    let ports = ports().await;
    let queued = add(&ports, request("fix it")).await.unwrap();
    let retry = |fresh, agent: Option<&str>| TaskRetryRequest {
        caller: caller(),
        task: queued.id.to_string(),
        agent: agent.map(str::to_owned),
        fresh,
    };
    let again = async |fresh, agent| {
        let retried = tasks::retry(&ports, &Principal::User, &retry(fresh, agent)).await;
        retried.map(|placed| placed.task)
    };
    assert_eq!(again(false, None).await.unwrap_err().kind, Kind::Conflict, "it is queued");
    let session = session(&ports, 1, "fox").await;
    ports.store.commit(tasks::started(&ports, &queued, session.id)).await.unwrap();
    assert_eq!(again(false, None).await.unwrap_err().kind, Kind::Conflict, "it is running");
    let fail = async || {
        let current = task(&ports, &queued).await;
        let reason = "no disk".to_owned();
        tasks::end(&ports, &current, TaskEnd::new(TaskState::Failed { reason }, None))
            .await
            .unwrap();
    };
    fail().await;
    let same = again(false, None).await.unwrap();
    assert_eq!((same.state.kind(), same.session), (TaskStateKind::Queued, Some(session.id)));
    let prompt = tasks::next_prompt(&ports, &same, FolderState::default()).await.unwrap();
    assert!(prompt.contains("tried before") && prompt.contains("fix it"), "{prompt}");
    fail().await;
    let fresh = again(true, None).await.unwrap();
    assert_eq!((fresh.session, fresh.progress.sessions.len()), (None, 1));
    assert_eq!(tasks::session_of(&ports, &fresh).await.unwrap(), None);
    fail().await;
    let other = again(false, Some("tester")).await.unwrap();
    assert_eq!((other.order.agent.as_str(), other.session), ("tester", None));
}

#[tokio::test]
async fn list_has_open_tasks_unless_all_or_a_state_are_asked_for() {
    let ports = ports().await;
    let open = add(&ports, request("one")).await.unwrap();
    let tester = TaskAddRequest { agent: "tester".to_owned(), ..request("two") };
    let ended = add(&ports, tester).await.unwrap();
    tasks::end(&ports, &ended, TaskEnd::new(TaskState::Cancelled, None)).await.unwrap();
    let table = [
        (TaskListRequest::default(), vec![open.id]),
        (TaskListRequest { all: true, ..Default::default() }, vec![open.id, ended.id]),
        (
            TaskListRequest { state: Some(TaskStateKind::Cancelled), ..Default::default() },
            vec![ended.id],
        ),
        (
            TaskListRequest { all: true, agent: Some("coder".to_owned()), state: None },
            vec![open.id],
        ),
    ];
    for (request, expected) in table {
        let found = tasks::list(&ports, &request).await.unwrap();
        let views = tasks::views(&ports, found, |_| Some("behind others".to_owned())).await;
        let views = views.unwrap();
        assert_eq!(views.iter().map(|it| it.id).collect::<Vec<_>>(), expected, "{request:?}");
        let summaries = tasks::summaries(&ports, &request).await.unwrap();
        assert_eq!(summaries.len(), views.len(), "{request:?}");
        for (summary, view) in summaries.iter().zip(&views) {
            let short = (&summary.id, &summary.agent, &summary.state, &summary.address);
            assert_eq!(short, (&view.id, &view.agent, &view.state, &view.address));
            let short = (&summary.created_at, &summary.beginning);
            assert_eq!(short, (&view.created_at, &view.prompt));
        }
    }
}

#[tokio::test]
async fn agent_has_acted_if_it_called_a_tool_after_the_last_message_of_the_user() {
    let mut scene = FlowScene::headless();
    scene.start("fix it").await;
    let id = scene.state.session.id;
    assert!(!tasks::may_have_acted(&scene.ports, id).await, "there is no transcript");
    scene.say("user", "fix it");
    scene.show_conversation(scene.id()).await;
    assert!(!tasks::may_have_acted(&scene.ports, id).await, "it has not answered");
    scene.say("agent", "the service failed");
    assert!(!tasks::may_have_acted(&scene.ports, id).await, "it has only answered");
    scene.say("call 1", "rm notes.txt");
    scene.say("agent", "done");
    assert!(tasks::may_have_acted(&scene.ports, id).await);
    scene.say("user", "go on");
    assert!(!tasks::may_have_acted(&scene.ports, id).await, "that was an earlier turn");
    let unknown = samples::session(9, "gone").id;
    assert!(tasks::may_have_acted(&scene.ports, unknown).await, "nothing is known");
}

#[tokio::test]
async fn ambiguous_and_unknown_ids_are_errors() {
    let ports = ports().await;
    let first = add(&ports, request("one")).await.unwrap();
    add(&ports, request("two")).await.unwrap();
    let error = async |text: &str| -> Error { tasks::find(&ports, text).await.unwrap_err() };
    assert_eq!(error(&first.id.to_string()[..4]).await.kind, Kind::Usage);
    for unknown in ["", "abc", "ffffffff", "no such key", "\u{1b}[8m"] {
        assert_eq!(error(unknown).await.kind, Kind::NotFound, "{unknown:?}");
    }
}

#[tokio::test]
async fn headless_task_of_a_vendor_that_cannot_ask_is_refused_unless_it_need_not_ask() {
    let world =
        FakeWorld::with_vendor(FakeVendor { asks_headless: false, ..FakeVendor::default() });
    world.projects.write(samples::project(&["coder"]));
    let ports = world.ports();
    trust_project(&ports).await;
    let error = add(&ports, request("fix it")).await.unwrap_err();
    assert_eq!(error.kind, Kind::Config);
    assert!(error.message.contains("`tool` cannot ask a person"), "{error}");
    assert!(error.hints.iter().any(|hint| hint.contains("--interactive")), "{error:?}");
    assert_eq!(ports.store.fleet_names().await.unwrap(), [], "nothing is recorded");
    let interactive = TaskAddRequest { mode: TaskMode::Interactive, ..request("fix it") };
    add(&ports, interactive).await.unwrap();
    let agent = Some(AgentName::parse("coder").unwrap());
    let known = Session { headless: true, agent, ..samples::session(7, "known") };
    let change = Change::CreateSession(Box::new(known.clone()));
    ports.store.commit(Commit { changes: vec![change], events: Vec::new() }).await.unwrap();
    let continued = TaskAddRequest { session: Some(known.address()), ..request("go on") };
    assert_eq!(add(&ports, continued).await.unwrap_err().kind, Kind::Config);
    let mut project = samples::project(&["coder"]);
    project.agents.iter_mut().for_each(|agent| agent.permission = Permission::AcceptEdits);
    world.projects.write(project);
    trust_project(&ports).await;
    add(&ports, request("fix it")).await.unwrap();
}

/// Returns the texts of the reports to a task that can be sent, with their sessions.
async fn due(ports: &Ports, parent: &Task) -> Vec<(SessionId, String)> {
    let due = tasks::due_reports(ports, Some(parent.id)).await.unwrap();
    due.into_iter().map(|(session, report)| (session, report.text)).collect()
}

/// Adds a task and a part of it.
async fn with_child(ports: &Ports) -> (Task, Task) {
    let parent = add(ports, request("plan it")).await.unwrap();
    let of = Some(parent.id.to_string());
    let child = TaskAddRequest { parent: of, key: Some("part".to_owned()), ..request("a part") };
    (parent, add(ports, child).await.unwrap())
}

async fn start(ports: &Ports, task: &Task, session: &Session) {
    ports.store.commit(tasks::started(ports, task, session.id)).await.unwrap();
}

#[tokio::test]
async fn end_of_a_child_is_reported_once_to_the_session_of_its_parent() {
    let ports = ports().await;
    let (parent, child) = with_child(&ports).await;
    let own = session(&ports, 1, "own").await;
    start(&ports, &parent, &own).await;
    let answer = Some("it was the cache".to_owned());
    let failed = TaskState::Failed { reason: "no disk".to_owned() };
    tasks::end(&ports, &child, TaskEnd::new(failed, answer)).await.unwrap();
    let reports = due(&ports, &parent).await;
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].0, own.id);
    for words in [&child.id.to_string(), "`part`", "failed", "no disk", "it was the cache"] {
        assert!(reports[0].1.contains(words), "{words}: {}", reports[0].1);
    }
    let (_, report) = tasks::due_reports(&ports, None).await.unwrap().pop().unwrap();
    let mut state = SessionState::load(&ports, own.id).await.unwrap();
    let message = (report.message, report.text.clone());
    let sent = (None, tasks::report_sent(&report));
    messages::add_with_id(&ports, &mut state, message.clone(), sent.clone()).await.unwrap();
    let again = messages::add_with_id(&ports, &mut state, message, sent).await.unwrap_err();
    assert!(tasks::is_report_sent(&again), "{again}");
    assert_eq!(state.outbox.len(), 1);
    assert_eq!(due(&ports, &parent).await, []);
}

#[tokio::test]
async fn report_waits_until_the_parent_has_a_session_and_outlasts_the_parent() {
    let ports = ports().await;
    let (parent, child) = with_child(&ports).await;
    tasks::end(&ports, &child, TaskEnd::new(TaskState::Cancelled, None)).await.unwrap();
    assert_eq!(due(&ports, &parent).await, []);
    let own = session(&ports, 1, "own").await;
    start(&ports, &parent, &own).await;
    let running = task(&ports, &parent).await;
    tasks::end(&ports, &running, TaskEnd::new(TaskState::Done, None)).await.unwrap();
    let reports = due(&ports, &parent).await;
    assert_eq!((reports.len(), reports[0].0), (1, own.id));
    assert!(reports[0].1.contains("cancelled"), "{reports:?}");
}

#[tokio::test]
async fn due_reports_have_the_session_of_their_own_parent_in_the_order_of_the_ends() {
    let ports = ports().await;
    let mut expected = Vec::new();
    for number in 1..=3 {
        let parent = add(&ports, request("plan it")).await.unwrap();
        let own = session(&ports, number, &format!("own-{number}")).await;
        // The last parent has no session yet.
        if number < 3 {
            start(&ports, &parent, &own).await;
        }
        for _ in 0..2 {
            let of = Some(parent.id.to_string());
            let child = TaskAddRequest { parent: of, ..request("a part") };
            let child = add(&ports, child).await.unwrap();
            tasks::end(&ports, &child, TaskEnd::new(TaskState::Done, None)).await.unwrap();
            expected.extend((number < 3).then_some((own.id, child.id)));
        }
    }
    let due = tasks::due_reports(&ports, None).await.unwrap();
    let due: Vec<_> = due.into_iter().map(|(session, report)| (session, report.child)).collect();
    assert_eq!(due, expected);
}

#[tokio::test]
async fn report_is_recorded_only_if_the_end_is_recorded() {
    let ports = ports().await;
    let (parent, child) = with_child(&ports).await;
    start(&ports, &parent, &session(&ports, 1, "own").await).await;
    let end = || TaskEnd::new(TaskState::Done, None);
    tasks::end(&ports, &child, end()).await.unwrap();
    // The task has ended already, so this end contradicts the record.
    tasks::end(&ports, &child, end()).await.unwrap_err();
    assert_eq!(due(&ports, &parent).await.len(), 1);
    let alone = add(&ports, request("alone")).await.unwrap();
    tasks::end(&ports, &alone, end()).await.unwrap();
    assert_eq!(tasks::due_reports(&ports, None).await.unwrap().len(), 1);
}
