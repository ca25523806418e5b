//! The reports of tasks to their parents.

use segue_core::api::TaskAddRequest;
use segue_core::flows::tasks::TaskEnd;
use segue_core::flows::{SessionState, messages, tasks};
use segue_core::model::{Session, SessionId, Task, TaskState, WorkRef};
use segue_core::ports::Ports;

use super::{add, ports, request, session, task};

/// Returns the texts of the reports to a task that can be sent, with their sessions.
async fn due(ports: &Ports, parent: &Task) -> Vec<(SessionId, String)> {
    let due = tasks::due_reports(ports, Some(WorkRef::Task(parent.id))).await.unwrap();
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
    let (id, text) = (report.message, report.text.clone());
    let message = messages::NewMessage { id, text, is_command: false, sender: None };
    let sent = (None, tasks::report_sent(&report));
    messages::add_message(&ports, &mut state, message.clone(), sent.clone()).await.unwrap();
    let again = messages::add_message(&ports, &mut state, message, sent).await.unwrap_err();
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
            expected.extend((number < 3).then_some((own.id, WorkRef::Task(child.id))));
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
