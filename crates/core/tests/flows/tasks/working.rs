//! Starting, ending and retrying tasks.

use segue_core::Kind;
use segue_core::api::{TaskAddRequest, TaskRetryRequest};
use segue_core::flows::tasks::{self, TaskEnd};
use segue_core::model::{
    DiffStat, FolderState, MessageId, Principal, TaskState, TaskStateKind, TaskWait,
};
use segue_fakes::{FakeWorld, samples};
use uuid::Uuid;

use super::{add, caller, ports, recorded_states, request, session, task, trust_project};
use crate::scene::FlowScene;

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
        done.task.result.unwrap()
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
    let done = done.task;
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
