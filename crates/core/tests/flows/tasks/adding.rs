//! Adding, finding and listing tasks.

use segue_core::api::{TaskAddRequest, TaskListRequest};
use segue_core::flows::tasks::{self, TaskEnd};
use segue_core::model::{
    AgentName, BranchName, BranchStart, FolderState, Permission, Principal, PromptTemplate,
    Session, TaskMode, TaskState, TaskStateKind, TaskTemplates, TrustClaim, WorktreeOrder,
};
use segue_core::ports::{Change, Commit};
use segue_core::rules::task_tree::TreeLimits;
use segue_core::{Error, Kind};
use segue_fakes::{FakeVendor, FakeWorld, samples};

use super::{add, ports, recorded_states, request, trust_project};

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
        (with(|it| it.prompt = "x".repeat((16 << 20) + 1)), Kind::Usage, "more than 16777216"),
        (with(|it| it.agent = "painter".to_owned()), Kind::NotFound, "painter"),
        (with(|it| it.priority = 10), Kind::Usage, "between -9 and 9"),
        (with(|it| it.issue = Some("a b".to_owned())), Kind::Usage, "number of an issue"),
        (with(|it| it.key = Some(String::new())), Kind::Usage, "--key"),
        (with(|it| it.parent = Some("0000".to_owned())), Kind::NotFound, "0000"),
        (with(|it| it.session = Some("fox".to_owned())), Kind::NotFound, "fox"),
        (with(|it| it.repo = Some("not a url".to_owned())), Kind::Usage, "URL of a repository"),
        (with(|it| it.branch = Some("a b".to_owned())), Kind::Usage, "a b"),
    ];
    for (request, kind, words) in table {
        let error = add(&ports, request).await.unwrap_err();
        assert_eq!(error.kind, kind, "{words}: {error}");
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
async fn agent_adds_children_within_its_limits_and_without_flags_of_a_person() {
    let ports = ports().await;
    let own = session(&ports, 1, "fox").await;
    let agent = Principal::Agent(Box::new(own.clone()));
    let limits = TreeLimits { children: 2, ..TreeLimits::default() };
    let add = async |request| {
        let added = tasks::add(&ports, &agent, request, &limits, |_| Ok(Vec::new())).await;
        added.map(|placed| placed.task)
    };
    let plain = || request("fix it");
    let text = || Some("x".to_owned());
    let refused = [
        ("--verify", TaskAddRequest { verify: text(), ..plain() }),
        ("--branch", TaskAddRequest { branch: text(), ..plain() }),
        ("--repo", TaskAddRequest { repo: text(), ..plain() }),
        ("--session", TaskAddRequest { session: text(), ..plain() }),
        ("--parent", TaskAddRequest { parent: text(), ..plain() }),
        ("--priority", TaskAddRequest { priority: 1, ..plain() }),
        ("--interactive", TaskAddRequest { mode: TaskMode::Interactive, ..plain() }),
    ];
    for (flag, request) in refused {
        let error = add(request).await.unwrap_err().to_string();
        assert!(error.contains(flag), "{flag}: {error}");
    }
    assert_eq!(recorded_states(&ports).await.len(), 0);
    let child = add(TaskAddRequest { key: text(), ..plain() }).await.unwrap();
    let spawner = child.order.spawner.clone().unwrap();
    assert_eq!((spawner.session, spawner.permission), (own.id, own.permission));
    assert_eq!(add(TaskAddRequest { key: text(), ..plain() }).await.unwrap().id, child.id);
    let by_user = super::add(&ports, TaskAddRequest { key: text(), ..plain() }).await.unwrap();
    assert_ne!(by_user.id, child.id, "an agent and a person do not share keys");
    add(plain()).await.unwrap();
    let error = add(plain()).await.unwrap_err();
    assert_eq!(error.kind, Kind::Conflict);
    assert!(error.to_string().contains("`children` under `[tasks]`"), "{error}");
    let found = tasks::find_for(&ports, &agent, "x").await.unwrap();
    assert_eq!(found.task.id, child.id);
    let other = tasks::find_for(&ports, &agent, &by_user.id.to_string()).await;
    assert!(other.unwrap_err().to_string().contains("an agent may not use tasks"));
}

#[tokio::test]
async fn keys_of_plans_and_agents_are_reserved() {
    let ports = ports().await;
    for key in ["plan:shop/release/build", "agent:x:y"] {
        let request = TaskAddRequest { key: Some(key.to_owned()), ..request("fix it") };
        let error = add(&ports, request).await.unwrap_err().to_string();
        assert!(error.contains("must not begin with"), "{error}");
    }
}

#[tokio::test]
async fn untrusted_projects_are_refused() {
    let untrusted = FakeWorld::new();
    untrusted.projects.write(samples::project(&["coder"]));
    let error = add(&untrusted.ports(), request("fix it")).await.unwrap_err();
    assert_eq!(error.kind, Kind::Config, "{error}");
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
