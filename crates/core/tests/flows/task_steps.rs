//! The steps of a task after its start: verify commands, new conversations, and other branches.

use segue_core::api::{RunRequest, TaskAddRequest};
use segue_core::flows::tasks::{self, TaskEnd};
use segue_core::model::{
    Environment, FolderState, MessageId, Session, Task, TaskMode, TaskState, VerifyReport,
};
use segue_core::ports::{EventQuery, Ports};
use segue_core::rules::tasks::may_begin_anew;
use segue_core::{Kind, Result};
use segue_fakes::{FakeWorld, samples};
use uuid::Uuid;

use crate::tasks::{add, ports, request, session, task};
use crate::worktrees;

/// Adds a task and records its start in a session.
async fn running(ports: &Ports) -> (Task, Session) {
    let queued = add(ports, request("fix it")).await.unwrap();
    let session = session(ports, 1, "fox").await;
    ports.store.commit(tasks::started(ports, &queued, session.id)).await.unwrap();
    (task(ports, &queued).await, session)
}

#[tokio::test]
async fn failed_verify_command_is_counted_and_sent_back_in_the_same_attempt() {
    let ports = ports().await;
    let (running, session) = running(&ports).await;
    let report = VerifyReport {
        command: "make test".to_owned(),
        passed: false,
        output: "one\n```\nfailed".to_owned(),
        runs: 2,
    };
    let message = MessageId::new(Uuid::from_u128(7));
    let commit = tasks::sent_back(&ports, &running, (session.id, message), &report);
    ports.store.commit(commit).await.unwrap();
    let after = task(&ports, &running).await;
    assert_eq!((after.state.clone(), after.attempts), (TaskState::Running, 1));
    assert_eq!((after.progress.message, after.progress.failed_verifies), (Some(message), 2));
    assert_eq!(after.progress.sessions, [session.id]);
    let text = tasks::verify_prompt(&report, "exit status 1");
    assert!(text.contains("`make test` must succeed, but it failed (exit status 1)"), "{text}");
    assert!(
        text.contains("````\none\n```\nfailed\n````"),
        "the output cannot end its block: {text}"
    );
}

#[tokio::test]
async fn retry_in_a_new_conversation_forgets_the_session_but_not_its_history() {
    let ports = ports().await;
    let (running, session) = running(&ports).await;
    let queued = tasks::retry_fresh(&ports, &running, "the model was not found").await.unwrap();
    assert_eq!(task(&ports, &running).await, queued);
    assert_eq!((queued.state.clone(), queued.session), (TaskState::Queued, None));
    assert_eq!(queued.progress.sessions, [session.id]);
    assert_eq!(tasks::session_of(&ports, &queued).await.unwrap(), None);
    let late = tasks::retry_fresh(&ports, &running, "again").await.unwrap_err();
    assert!(tasks::is_changed_meanwhile(&late), "{late}");
}

#[tokio::test]
async fn task_that_lost_its_conversation_begins_a_new_one_and_its_result_reports_the_loss() {
    let ports = ports().await;
    let (running, lost) = running(&ports).await;
    let queued = tasks::begin_anew(&ports, &running, "the transcript is gone").await.unwrap();
    assert_eq!((queued.state.clone(), queued.session), (TaskState::Queued, None));
    assert_eq!(tasks::session_of(&ports, &queued).await.unwrap(), None);
    let prompt = tasks::first_prompt(&ports, &queued, FolderState::default()).await.unwrap();
    assert!(prompt.contains("was lost") && prompt.ends_with("\n\nfix it"), "{prompt}");
    let next = session(&ports, 2, "owl").await;
    ports.store.commit(tasks::started(&ports, &queued, next.id)).await.unwrap();
    let again = task(&ports, &queued).await;
    assert_eq!(again.progress.sessions, [lost.id, next.id]);
    assert!(!may_begin_anew(&again), "only once");
    let end = TaskEnd::new(TaskState::Done, None);
    let note = tasks::end(&ports, &again, end).await.unwrap().task.result.unwrap().note.unwrap();
    assert!(note.contains("a new conversation was begun: the transcript is gone"), "{note}");
    for session in [lost, next] {
        let query = EventQuery { after: 0, sessions: vec![session.id], limit: 100, newest: false };
        let events = ports.store.events(&query).await.unwrap();
        let texts: Vec<String> = events.iter().map(|it| it.fact.payload.to_string()).collect();
        assert!(texts.concat().contains("the transcript is gone"), "{texts:?}");
    }
}

#[tokio::test]
async fn only_a_headless_session_gets_the_prompt_with_its_start() {
    let ports = ports().await;
    for (mode, prompt) in [(TaskMode::Headless, Some("fix it")), (TaskMode::Interactive, None)] {
        let added = add(&ports, TaskAddRequest { mode, ..request("fix it") }).await.unwrap();
        let request = tasks::run_request(&ports, &added.order, &Environment::default());
        assert_eq!(request.prompt.as_deref(), prompt, "{mode:?}");
        assert_eq!(request.headless, mode == TaskMode::Headless);
        let name = request.name.unwrap();
        assert!(name.starts_with("coder-task-") && name.len() <= 64, "{name}");
    }
}

#[tokio::test]
async fn task_continues_only_a_session_of_its_agent_and_in_the_folder_of_that_session() {
    let ports = ports().await;
    session(&ports, 1, "fox").await;
    let fox = || TaskAddRequest { session: Some("fox".to_owned()), ..request("fix it") };
    let branch = TaskAddRequest { branch: Some("fix".to_owned()), ..fox() };
    for (request, message) in [
        (branch, "a task that continues a session works where that session works"),
        (fox(), "`default/fox` is not a session of `coder`"),
    ] {
        let error = add(&ports, request).await.unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (Kind::Usage, message));
        assert!(error.hints[0].contains("`--session`"), "{error:?}");
    }
}

#[tokio::test]
async fn task_in_the_worktree_of_a_session_with_a_terminal_is_refused() {
    let world = FakeWorld::new();
    world.projects.write(samples::project(&["coder"]));
    let ports = world.ports();
    crate::tasks::trust_project(&ports).await;
    let of_coder = RunRequest { agent: Some("coder".to_owned()), ..worktrees::request("fix") };
    let owner = worktrees::start_with(&world, &of_coder).await.session;
    let branch = |name: &str| TaskAddRequest { branch: Some(name.to_owned()), ..request("fix it") };
    let error = add(&ports, branch("fix")).await.unwrap_err();
    assert_eq!(error.kind, Kind::Conflict);
    let hint = format!("add `--session {0}` to continue the conversation of `{0}`", owner.name);
    assert!(error.hints.contains(&hint), "{error:?}");
    add(&ports, branch("other")).await.unwrap();
}

async fn check_branch(ports: &Ports, branch: Option<&str>, session: &Session) -> Result<()> {
    let branch = branch.map(str::to_owned);
    let order = add(ports, TaskAddRequest { branch, ..request("fix it") }).await.unwrap().order;
    tasks::check_branch(ports, &order, session).await
}

#[tokio::test]
async fn task_about_a_branch_continues_only_a_session_on_that_branch() {
    let world = FakeWorld::new();
    world.projects.write(samples::project(&["coder"]));
    let ports = world.ports();
    crate::tasks::trust_project(&ports).await;
    let plain = session(&ports, 900, "plain").await;
    let in_worktree = worktrees::start(&world, "fix").await.session;
    for (branch, session, place) in [
        (None, &plain, None),
        (None, &in_worktree, None),
        (Some("fix"), &in_worktree, None),
        (Some("other"), &in_worktree, Some("on branch `fix`")),
        (Some("other"), &plain, Some("in `/")),
    ] {
        let checked = check_branch(&ports, branch, session).await;
        match (checked, place) {
            (Ok(()), None) => {}
            (Err(error), Some(place)) => {
                assert_eq!(error.kind, Kind::Conflict);
                assert!(error.message.contains(place), "{error}");
                let rm = format!("segue rm {}", session.address());
                assert!(error.hints.iter().any(|hint| hint.contains(&rm)), "{error:?}");
            }
            (checked, _) => panic!("{branch:?} in {}: {checked:?}", session.address()),
        }
    }
}
