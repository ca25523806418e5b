//! Tests of how agents end, and what is left of them: an end on disk and no process.

use std::time::Duration;

use rustix::process::Signal;
use segue_core::Kind;
use segue_core::model::Exit;
use segue_core::ports::Holders as _;
use segue_host::process;

use super::fixture::{HoldFixture, code, gone, marked, send};

const GRACE: Duration = Duration::from_millis(300);

#[tokio::test]
async fn clean_exit_is_recorded_and_the_holder_exits() {
    let fixture = HoldFixture::new();
    let wanted = fixture.shell("read line; exit 0");
    let (launch, held) = fixture.start(&wanted).await;
    fixture.holders.inject(launch, b"\r").await.unwrap();
    let end = fixture.ended(launch).await;
    assert_eq!((end.exit, end.asked), (code(0), false));
    assert_eq!(fixture.recorded_end(launch), end);
    gone(&held.holder).await;
    assert_eq!(fixture.holders.find(launch).await.unwrap(), None);
    fixture.start(&wanted).await;
}

#[tokio::test]
async fn after_a_crash_the_holder_keeps_the_environment_until_it_is_released() {
    let fixture = HoldFixture::new();
    let wanted = fixture.shell("read line; kill -SEGV $$");
    let (launch, held) = fixture.start(&wanted).await;
    let error = fixture.holders.release(launch).await.unwrap_err();
    assert_eq!(error.kind, Kind::Conflict, "it still runs");
    fixture.holders.inject(launch, b"\r").await.unwrap();
    let end = fixture.ended(launch).await;
    assert_eq!((end.exit, end.asked), (Exit::Signal(11), false));
    assert_eq!(fixture.recorded_end(launch), end);
    let lingering = fixture.holders.find(launch).await.unwrap().unwrap();
    assert_eq!((lingering.agent, lingering.end), (None, Some(end)));
    let environment = fixture.holders.environment(launch).await.unwrap().unwrap();
    assert_eq!(environment.get("SECRET"), Some("only in memory"));
    // The session is free while the old holder still runs.
    fixture.start(&wanted).await;
    fixture.holders.release(launch).await.unwrap();
    gone(&held.holder).await;
    assert_eq!(fixture.holders.find(launch).await.unwrap(), None);
    fixture.holders.release(launch).await.unwrap();
}

#[tokio::test]
async fn stop_ends_every_descendant_also_in_other_sessions() {
    let fixture = HoldFixture::new();
    let mut ear = fixture.ear("up");
    let script = "setsid sh -c 'echo > up; sleep 600' & \
                  setsid sh -c 'trap \"\" TERM HUP; setsid sh -c \"echo > up; sleep 600\"; sleep 600' & \
                  (sleep 600 &); \
                  (setsid sh -c 'setsid sleep 600 & (echo > up; setsid sleep 600) & wait' &); \
                  wait; sleep 600";
    let (launch, held) = fixture.start(&fixture.shell(script)).await;
    ear.hears(3).await;
    assert!(marked(launch).len() >= 6);
    let end = fixture.holders.stop(launch, GRACE).await.unwrap().unwrap();
    assert_eq!(marked(launch), Vec::<u32>::new());
    assert_eq!((end.exit, end.asked), (Exit::Signal(15), true));
    assert_eq!(fixture.recorded_end(launch), end);
    gone(&held.holder).await;
    assert_eq!(fixture.holders.stop(launch, GRACE).await.unwrap(), None);
}

#[tokio::test]
async fn agent_may_clean_up_before_it_stops() {
    let fixture = HoldFixture::new();
    let script = "trap 'echo tidy > tidied; exit 9' TERM; title up; while :; do sleep 0.05; done";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.titled(launch, "up").await;
    let end = fixture.holders.stop(launch, Duration::from_secs(30)).await.unwrap().unwrap();
    assert_eq!((end.exit, end.asked), (code(9), true));
    assert!(fixture.folder().join("tidied").exists());
}

#[tokio::test]
async fn agent_that_ignores_all_signals_is_killed() {
    let fixture = HoldFixture::new();
    let script = "trap '' TERM HUP INT; title up; while :; do sleep 600; done";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.titled(launch, "up").await;
    let end = fixture.holders.stop(launch, GRACE).await.unwrap().unwrap();
    assert_eq!((end.exit, end.asked), (Exit::Signal(9), true));
    assert_eq!(marked(launch), Vec::<u32>::new());
}

#[tokio::test]
async fn interactive_shell_ends_on_sighup_without_sigkill() {
    let fixture = HoldFixture::new();
    let mut wanted = fixture.shell("");
    wanted.argv = ["/bin/sh", "-i"].map(str::to_owned).to_vec();
    let (launch, _) = fixture.start(&wanted).await;
    fixture.holders.inject(launch, b"printf '\\033]2;up\\007'\r").await.unwrap();
    fixture.titled(launch, "up").await;
    let end = fixture.holders.stop(launch, Duration::from_secs(2)).await.unwrap().unwrap();
    assert!(end.asked);
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
    assert_eq!(fixture.ended(launch).await.exit, code(3));
    assert_eq!(marked(launch), Vec::<u32>::new());
    assert!(process::is_alive(&held.holder), "3 is a crash");
}

#[tokio::test]
async fn last_output_of_an_agent_is_on_its_screen() {
    let fixture = HoldFixture::new();
    let (launch, _) = fixture.start(&fixture.shell("seq 1 5000; echo the very end; exit 1")).await;
    fixture.ended(launch).await;
    let rows = fixture.snapshot(launch).await.rows;
    assert!(rows.iter().any(|row| row == "the very end"), "{rows:?}");
}

#[tokio::test]
async fn orphans_of_a_living_agent_leave_no_zombies() {
    let fixture = HoldFixture::new();
    let mut ear = fixture.ear("up");
    let script = "for i in 1 2 3 4 5; do (setsid sh -c 'echo $$ > up; exit 0' &); done; read line";
    let (launch, held) = fixture.start(&fixture.shell(script)).await;
    for orphan in ear.hears(5).await {
        if let Some(orphan) = process::find(orphan.parse().unwrap()) {
            gone(&orphan).await;
        }
    }
    // An exited orphan is collected before the holder answers a later request, at the latest before
    // its second answer: the signal is one event, the request another.
    for _ in 0..2 {
        assert!(fixture.holders.find(launch).await.unwrap().unwrap().end.is_none());
    }
    let path = format!("/proc/{0}/task/{0}/children", held.holder.pid);
    let children = std::fs::read_to_string(path).unwrap();
    assert_eq!(children.split_ascii_whitespace().count(), 1, "{children}");
}

#[tokio::test]
async fn holder_on_sigterm_ends_its_agent_and_records_no_request() {
    let fixture = HoldFixture::new();
    let mut ear = fixture.ear("up");
    let script = "setsid sh -c 'echo > up; sleep 600' & exec sleep 600";
    let (launch, held) = fixture.start(&fixture.shell(script)).await;
    ear.hears(1).await;
    send(&held.holder, Signal::TERM);
    gone(&held.holder).await;
    assert_eq!(marked(launch), Vec::<u32>::new());
    let end = fixture.recorded_end(launch);
    assert_eq!((end.exit, end.asked), (Exit::Signal(15), false));
}

#[tokio::test]
async fn clean_exit_on_sigterm_of_the_holder_is_recorded_as_a_signal() {
    let fixture = HoldFixture::new();
    let script = "trap 'exit 0' TERM; title up; while :; do sleep 0.05; done";
    let (launch, held) = fixture.start(&fixture.shell(script)).await;
    fixture.titled(launch, "up").await;
    send(&held.holder, Signal::TERM);
    gone(&held.holder).await;
    let end = fixture.recorded_end(launch);
    assert_eq!((end.exit, end.asked), (Exit::Signal(15), false));
}
