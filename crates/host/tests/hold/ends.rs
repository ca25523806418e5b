//! Tests of how agents end. The end is recorded, and no process is left.

use std::time::Duration;

use rustix::process::Signal;
use segue_core::Kind;
use segue_core::model::Exit;
use segue_core::ports::Holders as _;
use segue_host::process;

use super::fixture::{HoldFixture, exit_code, processes_of, send, wait_for_exit};

const GRACE: Duration = Duration::from_millis(300);

#[tokio::test]
async fn clean_exit_is_recorded_and_the_holder_exits() {
    let fixture = HoldFixture::new();
    let test_launch = fixture.shell("read line; exit 0");
    let (launch, held) = fixture.start(&test_launch).await;
    fixture.holders.inject(launch, b"\r").await.unwrap();
    let end = fixture.wait_for_end(launch).await;
    assert_eq!((end.exit, end.is_requested), (exit_code(0), false));
    assert_eq!(fixture.recorded_end(launch), end);
    wait_for_exit(&held.holder).await;
    assert_eq!(fixture.holders.find(launch).await.unwrap(), None);
    fixture.start(&test_launch).await;
}

#[tokio::test]
async fn after_a_crash_the_holder_keeps_the_environment_until_it_is_released() {
    let fixture = HoldFixture::new();
    let test_launch = fixture.shell("read line; kill -SEGV $$");
    let (launch, held) = fixture.start(&test_launch).await;
    let error = fixture.holders.release(launch).await.unwrap_err();
    assert_eq!(error.kind, Kind::Conflict, "a running agent was released");
    fixture.holders.inject(launch, b"\r").await.unwrap();
    let end = fixture.wait_for_end(launch).await;
    assert_eq!((end.exit, end.is_requested), (Exit::Signal(11), false));
    assert_eq!(fixture.recorded_end(launch), end);
    let found = fixture.holders.find(launch).await.unwrap().unwrap();
    assert_eq!((found.agent, found.end), (None, Some(end)));
    let environment = fixture.holders.environment(launch).await.unwrap().unwrap();
    assert_eq!(environment.get("SECRET"), Some("only in memory"));
    // A new launch can start while the old holder still runs.
    fixture.start(&test_launch).await;
    fixture.holders.release(launch).await.unwrap();
    wait_for_exit(&held.holder).await;
    assert_eq!(fixture.holders.find(launch).await.unwrap(), None);
    fixture.holders.release(launch).await.unwrap();
}

#[tokio::test]
async fn stop_ends_every_descendant_even_in_other_unix_sessions() {
    let fixture = HoldFixture::new();
    let mut lines = fixture.line_pipe("up");
    let script = "setsid sh -c 'echo > up; sleep 600' & \
                  setsid sh -c 'trap \"\" TERM HUP; setsid sh -c \"echo > up; sleep 600\"; sleep 600' & \
                  (sleep 600 &); \
                  (setsid sh -c 'setsid sleep 600 & (echo > up; setsid sleep 600) & wait' &); \
                  wait; sleep 600";
    let (launch, held) = fixture.start(&fixture.shell(script)).await;
    lines.read_lines(3).await;
    assert!(processes_of(launch).len() >= 6);
    let end = fixture.holders.stop(launch, GRACE).await.unwrap().unwrap();
    assert_eq!(processes_of(launch), Vec::<u32>::new());
    assert_eq!((end.exit, end.is_requested), (Exit::Signal(15), true));
    assert_eq!(fixture.recorded_end(launch), end);
    wait_for_exit(&held.holder).await;
    assert_eq!(fixture.holders.stop(launch, GRACE).await.unwrap(), None);
}

#[tokio::test]
async fn agent_can_clean_up_before_it_exits() {
    let fixture = HoldFixture::new();
    let script = "trap 'echo tidy > tidied; exit 9' TERM; title up; while :; do sleep 0.05; done";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.wait_for_title(launch, "up").await;
    let end = fixture.holders.stop(launch, Duration::from_secs(30)).await.unwrap().unwrap();
    assert_eq!((end.exit, end.is_requested), (exit_code(9), true));
    assert!(fixture.folder().join("tidied").exists());
}

#[tokio::test]
async fn agent_that_ignores_all_signals_is_killed() {
    let fixture = HoldFixture::new();
    let script = "trap '' TERM HUP INT; title up; while :; do sleep 600; done";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.wait_for_title(launch, "up").await;
    let end = fixture.holders.stop(launch, GRACE).await.unwrap().unwrap();
    assert_eq!((end.exit, end.is_requested), (Exit::Signal(9), true));
    assert_eq!(processes_of(launch), Vec::<u32>::new());
}

#[tokio::test]
async fn interactive_shell_ends_on_sighup_without_sigkill() {
    let fixture = HoldFixture::new();
    let mut test_launch = fixture.shell("");
    test_launch.argv = ["/bin/sh", "-i"].map(str::to_owned).to_vec();
    let (launch, _) = fixture.start(&test_launch).await;
    fixture.holders.inject(launch, b"printf '\\033]2;up\\007'\r").await.unwrap();
    fixture.wait_for_title(launch, "up").await;
    let end = fixture.holders.stop(launch, Duration::from_secs(2)).await.unwrap().unwrap();
    assert!(end.is_requested);
    assert_ne!(end.exit, Exit::Signal(9));
}

#[tokio::test]
async fn suspended_agent_can_be_stopped() {
    let fixture = HoldFixture::new();
    let (launch, held) = fixture.start(&fixture.shell("exec sleep 600")).await;
    send(&held.agent.unwrap(), Signal::STOP);
    let end = fixture.holders.stop(launch, Duration::from_secs(30)).await.unwrap().unwrap();
    assert_eq!(end.exit, Exit::Signal(15));
}

#[tokio::test]
async fn end_is_noticed_although_a_child_keeps_the_terminal_open() {
    let fixture = HoldFixture::new();
    let (launch, held) =
        fixture.start(&fixture.shell("sleep 600 & setsid sleep 600 & exit 3")).await;
    assert_eq!(fixture.wait_for_end(launch).await.exit, exit_code(3));
    assert_eq!(processes_of(launch), Vec::<u32>::new());
    assert!(
        process::is_alive(&held.holder),
        "the holder exited, although the agent had crashed with exit code 3"
    );
}

#[tokio::test]
async fn last_output_of_an_agent_is_on_its_screen() {
    let fixture = HoldFixture::new();
    let (launch, _) = fixture.start(&fixture.shell("seq 1 5000; echo the very end; exit 1")).await;
    fixture.wait_for_end(launch).await;
    let rows = fixture.snapshot(launch).await.rows;
    assert!(rows.iter().any(|row| row == "the very end"), "{rows:?}");
}

#[tokio::test]
async fn orphans_of_a_living_agent_leave_no_zombies() {
    let fixture = HoldFixture::new();
    let mut lines = fixture.line_pipe("up");
    let script = "for i in 1 2 3 4 5; do (setsid sh -c 'echo $$ > up; exit 0' &); done; read line";
    let (launch, held) = fixture.start(&fixture.shell(script)).await;
    for orphan in lines.read_lines(5).await {
        if let Some(orphan) = process::find(orphan.parse().unwrap()) {
            wait_for_exit(&orphan).await;
        }
    }
    // The holder handles SIGCHLD and requests as separate events, in any order. So it has collected
    // all orphans at the latest before it answers the second request.
    for _ in 0..2 {
        assert!(fixture.holders.find(launch).await.unwrap().unwrap().end.is_none());
    }
    let path = format!("/proc/{0}/task/{0}/children", held.holder.pid);
    let children = std::fs::read_to_string(path).unwrap();
    assert_eq!(children.split_ascii_whitespace().count(), 1, "{children}");
}

#[tokio::test]
async fn sigterm_to_a_holder_ends_its_agent_and_is_not_recorded_as_a_request() {
    let fixture = HoldFixture::new();
    let mut lines = fixture.line_pipe("up");
    let script = "setsid sh -c 'echo > up; sleep 600' & exec sleep 600";
    let (launch, held) = fixture.start(&fixture.shell(script)).await;
    lines.read_lines(1).await;
    send(&held.holder, Signal::TERM);
    wait_for_exit(&held.holder).await;
    assert_eq!(processes_of(launch), Vec::<u32>::new());
    let end = fixture.recorded_end(launch);
    assert_eq!((end.exit, end.is_requested), (Exit::Signal(15), false));
}

#[tokio::test]
async fn clean_exit_after_sigterm_to_the_holder_is_recorded_as_a_signal() {
    let fixture = HoldFixture::new();
    let script = "trap 'exit 0' TERM; title up; while :; do sleep 0.05; done";
    let (launch, held) = fixture.start(&fixture.shell(script)).await;
    fixture.wait_for_title(launch, "up").await;
    send(&held.holder, Signal::TERM);
    wait_for_exit(&held.holder).await;
    let end = fixture.recorded_end(launch);
    assert_eq!((end.exit, end.is_requested), (Exit::Signal(15), false));
}
