//! Tests of how agents end, and what is left of them: an end on disk and no process.

use std::time::Duration;

use rustix::process::Signal;
use segue_core::Kind;
use segue_core::model::Exit;
use segue_core::ports::Holders as _;
use segue_host::process;

use super::ground::{HoldFixture, code, gone, marked, send};

const GRACE: Duration = Duration::from_millis(300);

#[tokio::test]
async fn clean_exit_is_recorded_and_the_holder_exits() {
    let ground = HoldFixture::new();
    let wanted = ground.shell("read line; exit 0");
    let (launch, held) = ground.start(&wanted).await;
    ground.holders.inject(launch, b"\r").await.unwrap();
    let end = ground.ended(launch).await;
    assert_eq!((end.exit, end.asked), (code(0), false));
    assert_eq!(ground.recorded_end(launch), end);
    gone(&held.holder).await;
    assert_eq!(ground.holders.find(launch).await.unwrap(), None);
    ground.start(&wanted).await;
}

#[tokio::test]
async fn after_a_crash_the_holder_keeps_the_environment_until_it_is_released() {
    let ground = HoldFixture::new();
    let wanted = ground.shell("read line; kill -SEGV $$");
    let (launch, held) = ground.start(&wanted).await;
    let error = ground.holders.release(launch).await.unwrap_err();
    assert_eq!(error.kind, Kind::Conflict, "it still runs");
    ground.holders.inject(launch, b"\r").await.unwrap();
    let end = ground.ended(launch).await;
    assert_eq!((end.exit, end.asked), (Exit::Signal(11), false));
    assert_eq!(ground.recorded_end(launch), end);
    let lingering = ground.holders.find(launch).await.unwrap().unwrap();
    assert_eq!((lingering.agent, lingering.end), (None, Some(end)));
    let environment = ground.holders.environment(launch).await.unwrap().unwrap();
    assert_eq!(environment.get("SECRET"), Some("only in memory"));
    // The session is free while the old holder still runs.
    ground.start(&wanted).await;
    ground.holders.release(launch).await.unwrap();
    gone(&held.holder).await;
    assert_eq!(ground.holders.find(launch).await.unwrap(), None);
    ground.holders.release(launch).await.unwrap();
}

#[tokio::test]
async fn stop_ends_every_descendant_also_in_other_sessions() {
    let ground = HoldFixture::new();
    let mut ear = ground.ear("up");
    let script = "setsid sh -c 'echo > up; sleep 600' & \
                  setsid sh -c 'trap \"\" TERM HUP; setsid sh -c \"echo > up; sleep 600\"; sleep 600' & \
                  (sleep 600 &); \
                  (setsid sh -c 'setsid sleep 600 & (echo > up; setsid sleep 600) & wait' &); \
                  wait; sleep 600";
    let (launch, held) = ground.start(&ground.shell(script)).await;
    ear.hears(3).await;
    assert!(marked(launch).len() >= 6);
    let end = ground.holders.stop(launch, GRACE).await.unwrap().unwrap();
    assert_eq!(marked(launch), Vec::<u32>::new());
    assert_eq!((end.exit, end.asked), (Exit::Signal(15), true));
    assert_eq!(ground.recorded_end(launch), end);
    gone(&held.holder).await;
    assert_eq!(ground.holders.stop(launch, GRACE).await.unwrap(), None);
}

#[tokio::test]
async fn agent_may_clean_up_before_it_stops() {
    let ground = HoldFixture::new();
    let script = "trap 'echo tidy > tidied; exit 9' TERM; title up; while :; do sleep 0.05; done";
    let (launch, _) = ground.start(&ground.shell(script)).await;
    ground.titled(launch, "up").await;
    let end = ground.holders.stop(launch, Duration::from_secs(30)).await.unwrap().unwrap();
    assert_eq!((end.exit, end.asked), (code(9), true));
    assert!(ground.folder().join("tidied").exists());
}

#[tokio::test]
async fn agent_that_ignores_all_signals_is_killed() {
    let ground = HoldFixture::new();
    let script = "trap '' TERM HUP INT; title up; while :; do sleep 600; done";
    let (launch, _) = ground.start(&ground.shell(script)).await;
    ground.titled(launch, "up").await;
    let end = ground.holders.stop(launch, GRACE).await.unwrap().unwrap();
    assert_eq!((end.exit, end.asked), (Exit::Signal(9), true));
    assert_eq!(marked(launch), Vec::<u32>::new());
}

#[tokio::test]
async fn interactive_shell_ends_on_sighup_without_sigkill() {
    let ground = HoldFixture::new();
    let mut wanted = ground.shell("");
    wanted.argv = ["/bin/sh", "-i"].map(str::to_owned).to_vec();
    let (launch, _) = ground.start(&wanted).await;
    ground.holders.inject(launch, b"printf '\\033]2;up\\007'\r").await.unwrap();
    ground.titled(launch, "up").await;
    let end = ground.holders.stop(launch, Duration::from_secs(2)).await.unwrap().unwrap();
    assert!(end.asked);
    assert_ne!(end.exit, Exit::Signal(9));
}

#[tokio::test]
async fn suspended_agent_can_be_stopped() {
    let ground = HoldFixture::new();
    let (launch, held) = ground.start(&ground.shell("exec sleep 600")).await;
    send(&held.agent.unwrap(), Signal::STOP);
    let end = ground.holders.stop(launch, Duration::from_secs(30)).await.unwrap().unwrap();
    assert_eq!(end.exit, Exit::Signal(15));
}

#[tokio::test]
async fn end_is_noticed_although_a_child_keeps_the_terminal_open() {
    let ground = HoldFixture::new();
    let (launch, held) = ground.start(&ground.shell("sleep 600 & setsid sleep 600 & exit 3")).await;
    assert_eq!(ground.ended(launch).await.exit, code(3));
    assert_eq!(marked(launch), Vec::<u32>::new());
    assert!(process::is_alive(&held.holder), "3 is a crash");
}

#[tokio::test]
async fn last_output_of_an_agent_is_on_its_screen() {
    let ground = HoldFixture::new();
    let (launch, _) = ground.start(&ground.shell("seq 1 5000; echo the very end; exit 1")).await;
    ground.ended(launch).await;
    let rows = ground.snapshot(launch).await.rows;
    assert!(rows.iter().any(|row| row == "the very end"), "{rows:?}");
}

#[tokio::test]
async fn orphans_of_a_living_agent_leave_no_zombies() {
    let ground = HoldFixture::new();
    let mut ear = ground.ear("up");
    let script = "for i in 1 2 3 4 5; do (setsid sh -c 'echo $$ > up; exit 0' &); done; read line";
    let (launch, held) = ground.start(&ground.shell(script)).await;
    for orphan in ear.hears(5).await {
        if let Some(orphan) = process::find(orphan.parse().unwrap()) {
            gone(&orphan).await;
        }
    }
    // An exited orphan is collected before the holder answers a later request, at the latest before
    // its second answer: the signal is one event, the request another.
    for _ in 0..2 {
        assert!(ground.holders.find(launch).await.unwrap().unwrap().end.is_none());
    }
    let path = format!("/proc/{0}/task/{0}/children", held.holder.pid);
    let children = std::fs::read_to_string(path).unwrap();
    assert_eq!(children.split_ascii_whitespace().count(), 1, "{children}");
}

#[tokio::test]
async fn holder_on_sigterm_ends_its_agent_and_records_no_request() {
    let ground = HoldFixture::new();
    let mut ear = ground.ear("up");
    let script = "setsid sh -c 'echo > up; sleep 600' & exec sleep 600";
    let (launch, held) = ground.start(&ground.shell(script)).await;
    ear.hears(1).await;
    send(&held.holder, Signal::TERM);
    gone(&held.holder).await;
    assert_eq!(marked(launch), Vec::<u32>::new());
    let end = ground.recorded_end(launch);
    assert_eq!((end.exit, end.asked), (Exit::Signal(15), false));
}

#[tokio::test]
async fn clean_exit_on_sigterm_of_the_holder_is_recorded_as_a_signal() {
    let ground = HoldFixture::new();
    let script = "trap 'exit 0' TERM; title up; while :; do sleep 0.05; done";
    let (launch, held) = ground.start(&ground.shell(script)).await;
    ground.titled(launch, "up").await;
    send(&held.holder, Signal::TERM);
    gone(&held.holder).await;
    let end = ground.recorded_end(launch);
    assert_eq!((end.exit, end.asked), (Exit::Signal(15), false));
}
