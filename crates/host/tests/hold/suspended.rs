//! Tests of agents that a signal such as SIGSTOP suspends.

use rustix::process::Signal;
use segue_core::model::LaunchId;

use super::fixture::{HoldFixture, exit_code, send};
use super::person::Person;

#[tokio::test]
async fn agent_that_stops_itself_is_continued() {
    let fixture = HoldFixture::new();
    let script = "for round in 1 2 3; do kill -STOP $$; done; title on; read line";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.wait_for_title(launch, "on").await;
}

#[tokio::test]
async fn stopped_headless_agent_is_continued() {
    let fixture = HoldFixture::new();
    let mut lines = fixture.line_pipe("up");
    let mut test_launch = fixture.shell("kill -STOP $$; echo up > up; read line < next; exit 4");
    test_launch.headless = true;
    let mut next = fixture.line_pipe("next");
    let (launch, held) = fixture.start(&test_launch).await;
    lines.read_lines(1).await;
    // A user could send this from another terminal.
    send(&held.agent.unwrap(), Signal::STOP);
    next.write_line("go on").await;
    assert_eq!(fixture.wait_for_end(launch).await.exit, exit_code(4));
}

#[tokio::test]
async fn process_group_that_stops_itself_is_continued() {
    let fixture = HoldFixture::new();
    let script = "sh -c 'kill -STOP 0; exit 0'; title on; read line";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.wait_for_title(launch, "on").await;
}

/// Returns the command of another shell that runs a script. The script can call `title TEXT`.
fn shell(script: &str) -> String {
    let script = script.replace("title", "printf \"\\033]2;%s\\007\"");
    format!("sh -c '{script}'")
}

/// Starts a script, waits for its title `ready`, attaches to it and presses ^Z.
async fn start_and_press_ctrl_z(fixture: &HoldFixture, script: &str) -> (LaunchId, Person) {
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.wait_for_title(launch, "ready").await;
    let mut person = Person::attach(&fixture.socket(launch), 40, 120);
    person.wait_for_text("detach with");
    person.type_keys(b"\x1a");
    (launch, person)
}

#[tokio::test]
async fn program_below_the_agent_that_stops_itself_on_ctrl_z_is_continued() {
    let fixture = HoldFixture::new();
    let program =
        shell("title ready; dd bs=1 count=1 >/dev/null 2>&1; kill -STOP $$; title on; read line");
    let script = format!("stty raw -echo; {program}; title over; read line");
    let (launch, _person) = start_and_press_ctrl_z(&fixture, &script).await;
    fixture.wait_for_title(launch, "on").await;
}

#[tokio::test]
async fn ctrl_z_does_not_stop_a_program_that_reads_lines() {
    let fixture = HoldFixture::new();
    let program = shell("title ready; read line; title done");
    // With job control, the shell would continue if the program stopped.
    let script = format!("set -m; {program}; echo \"status $?\"; title over; read line");
    let (launch, mut person) = start_and_press_ctrl_z(&fixture, &script).await;
    person.type_keys(b"x\r");
    fixture.wait_for_title(launch, "over").await;
    let rows = fixture.snapshot(launch).await.rows;
    assert!(rows.contains(&"status 0".to_owned()), "{rows:?}");
}
