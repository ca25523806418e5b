//! Tests of agents that are stopped by a signal.

use super::fixture::{HoldFixture, code, send};
use super::person::Person;
use rustix::process::Signal;

#[tokio::test]
async fn agent_that_stops_itself_is_continued() {
    let fixture = HoldFixture::new();
    let script = "for round in 1 2 3; do kill -STOP $$; done; title on; read line";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.titled(launch, "on").await;
}

#[tokio::test]
async fn stopped_headless_agent_is_continued() {
    let fixture = HoldFixture::new();
    let mut ear = fixture.ear("up");
    let mut wanted = fixture.shell("kill -STOP $$; echo up > up; read line < next; exit 4");
    wanted.headless = true;
    let mut next = fixture.ear("next");
    let (launch, held) = fixture.start(&wanted).await;
    ear.hears(1).await;
    // A user could send this from another terminal.
    send(&held.agent.unwrap(), Signal::STOP);
    next.says("go on").await;
    assert_eq!(fixture.ended(launch).await.exit, code(4));
}

#[tokio::test]
async fn process_group_that_stops_itself_is_continued() {
    let fixture = HoldFixture::new();
    let script = "sh -c 'kill -STOP 0; exit 0'; title on; read line";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.titled(launch, "on").await;
}

#[tokio::test]
async fn program_below_the_agent_that_stops_itself_on_ctrl_z_is_continued() {
    let fixture = HoldFixture::new();
    let stops = "title raw; dd bs=1 count=1 >/dev/null 2>&1; kill -STOP $$; title on; read line";
    let stops = stops.replace("title", "printf \"\\033]2;%s\\007\"");
    let script = format!("stty raw -echo; sh -c '{stops}'; title over; read line");
    let (launch, _) = fixture.start(&fixture.shell(&script)).await;
    fixture.titled(launch, "raw").await;
    let mut person = Person::attach(&fixture.socket(launch), 40, 120);
    person.sees_text("detach with");
    person.types(b"\x1a");
    fixture.titled(launch, "on").await;
}

#[tokio::test]
async fn ctrl_z_does_not_stop_a_program_that_reads_lines() {
    let fixture = HoldFixture::new();
    let reads = "title reads; read line; title done";
    let reads = reads.replace("title", "printf \"\\033]2;%s\\007\"");
    // With job control, the program would stop and the shell would continue without it.
    let script = format!("set -m; sh -c '{reads}'; echo \"status $?\"; title over; read line");
    let (launch, _) = fixture.start(&fixture.shell(&script)).await;
    fixture.titled(launch, "reads").await;
    let mut person = Person::attach(&fixture.socket(launch), 40, 120);
    person.sees_text("detach with");
    person.types(b"\x1a");
    person.types(b"x\r");
    fixture.titled(launch, "over").await;
    let rows = fixture.snapshot(launch).await.rows;
    assert!(rows.contains(&"status 0".to_owned()), "{rows:?}");
}
