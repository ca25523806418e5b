//! Tests of holders that do not answer.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::process::Signal;
use segue_core::Kind;
use segue_core::model::{LaunchId, ProcessRef};
use segue_core::ports::{Fault, Held, Holders as _, OpenLaunch};
use segue_host::process;

use super::fixture::{DEADLINE, HoldFixture, processes_of, send, wait_for_exit};
use super::person::Person;

/// Suspends a process, and waits until it is suspended.
fn suspend(target: &ProcessRef) {
    send(target, Signal::STOP);
    let deadline = Instant::now() + DEADLINE;
    while !process::is_stopped(target) {
        assert!(Instant::now() < deadline, "{target:?} was not suspended");
        std::thread::yield_now();
    }
}

fn open_launch(launch: LaunchId, held: &Held) -> OpenLaunch {
    let (holder, agent) = (Some(held.holder.clone()), held.agent.clone());
    OpenLaunch { id: launch, machine: None, created_at: Timestamp::now(), holder, agent }
}

#[tokio::test]
async fn holder_with_a_deleted_socket_is_found_and_listens_again() {
    let fixture = HoldFixture::new();
    let (launch, held) = fixture.start(&fixture.shell("echo here; title up; read line")).await;
    let socket = fixture.socket(launch);
    for round in 0..2 {
        fs::remove_file(&socket).unwrap();
        let missing = Fault::SocketMissing { pid: held.holder.pid };
        assert_eq!(
            fixture.holders.fault(&open_launch(launch, &held)),
            Some(missing),
            "round {round}"
        );
        assert_eq!(fixture.holders.find(launch).await.unwrap(), Some(held.clone()));
        let metadata = fs::metadata(&socket).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        assert_eq!(fixture.holders.fault(&open_launch(launch, &held)), None);
    }
    fs::remove_file(&socket).unwrap();
    Person::attach(&socket, 40, 120).wait_for_text("here");
}

#[tokio::test]
async fn holder_without_socket_and_record_is_found_by_its_command_line() {
    let fixture = HoldFixture::new();
    let (launch, held) = fixture.start(&fixture.shell("read line")).await;
    fs::remove_file(fixture.socket(launch)).unwrap();
    fs::remove_file(fixture.paths.launch(launch).join("live.json")).unwrap();
    assert_eq!(fixture.holders.find(launch).await.unwrap(), Some(held));
}

#[tokio::test]
async fn record_that_names_another_process_does_not_harm_it() {
    let fixture = HoldFixture::new();
    let (launch, held) = fixture.start(&fixture.shell("read line")).await;
    let (_, unrelated) = fixture.start(&fixture.shell("read line")).await;
    super::fixture::kill(&held.holder);
    let agent = unrelated.agent.clone().unwrap();
    for other in [&unrelated.holder, &agent] {
        let record = serde_json::json!({ "holder": other, "agent": other });
        let path = fixture.paths.launch(launch).join("live.json");
        fs::write(path, serde_json::to_vec(&record).unwrap()).unwrap();
        assert_eq!(fixture.holders.stop(launch, Duration::ZERO).await.unwrap(), None);
        assert!(process::is_alive(&unrelated.holder) && process::is_alive(&agent));
    }
}

#[tokio::test]
async fn stopped_holder_is_reported_without_waiting_for_it() {
    let fixture = HoldFixture::new();
    let (launch, held) = fixture.start(&fixture.shell("read line")).await;
    suspend(&held.holder);
    let pid = held.holder.pid;
    let stopped = Fault::HolderStopped { pid };
    assert_eq!(fixture.holders.fault(&open_launch(launch, &held)), Some(stopped));
    let error = fixture.holders.find(launch).await.unwrap_err();
    assert_eq!((error.kind, error.message.clone()), (Kind::Unavailable, stopped.to_string()));
    assert!(error.hints[0].contains(&format!("kill -CONT {pid}")), "{error:?}");
    // The fault is the same without the socket.
    fs::remove_file(fixture.socket(launch)).unwrap();
    let error = fixture.holders.find(launch).await.unwrap_err();
    assert_eq!(error.message, stopped.to_string());
    fixture.holders.cure(launch, stopped).await.unwrap();
    assert_eq!(fixture.holders.find(launch).await.unwrap(), Some(held));
}

#[tokio::test]
async fn stop_ends_the_agent_of_a_stopped_holder() {
    let fixture = HoldFixture::new();
    let mut lines = fixture.line_pipe("up");
    let script = "setsid sh -c 'echo > up; exec sleep 600' & echo > up; exec sleep 600";
    let (launch, held) = fixture.start(&fixture.shell(script)).await;
    lines.read_lines(2).await;
    suspend(&held.holder);
    fs::remove_file(fixture.socket(launch)).unwrap();
    let end = fixture.holders.stop(launch, DEADLINE).await.unwrap().unwrap();
    assert!(end.is_requested);
    wait_for_exit(&held.holder).await;
    assert_eq!(processes_of(launch), Vec::<u32>::new());
    assert_eq!(fixture.recorded_end(launch), end);
}

#[tokio::test]
async fn holder_that_does_not_answer_is_ended_with_everything_below_it() {
    let fixture = HoldFixture::new();
    let mut lines = fixture.line_pipe("up");
    let script = "trap '' TERM; setsid sh -c 'echo > up; exec sleep 600' & echo > up; \
                  while :; do sleep 600; done";
    let (launch, held) = fixture.start(&fixture.shell(script)).await;
    lines.read_lines(2).await;
    // Another process listens at the socket and never answers.
    let socket = fixture.socket(launch);
    fs::remove_file(&socket).unwrap();
    let silent_listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let end = fixture.holders.stop(launch, Duration::ZERO).await.unwrap().unwrap();
    drop(silent_listener);
    assert!(end.is_requested);
    assert!(!process::is_alive(&held.holder));
    assert_eq!(processes_of(launch), Vec::<u32>::new());
    // `stop` returns the recorded end, which the holder may have written before it was killed.
    assert_eq!(fixture.recorded_end(launch), end);
}

#[tokio::test]
async fn stopped_process_below_an_agent_is_reported_and_continued() {
    let fixture = HoldFixture::new();
    let mut lines = fixture.line_pipe("pid");
    let below = "echo $$ > pid; read line; echo on > pid; read line";
    let script = format!("sh -c '{below}'; title over; read line");
    let (launch, held) = fixture.start(&fixture.shell(&script)).await;
    let pid = lines.read_lines(1).await[0].parse().unwrap();
    let open_launch = open_launch(launch, &held);
    assert_eq!(fixture.holders.fault(&open_launch), None);
    suspend(&process::find(pid).unwrap());
    let fault = fixture.holders.fault(&open_launch).unwrap();
    assert_eq!(fault, Fault::AgentStopped { pid });
    fixture.holders.cure(launch, fault).await.unwrap();
    fixture.holders.inject(launch, b"\r").await.unwrap();
    assert_eq!(lines.read_lines(1).await, ["on"]);
}
