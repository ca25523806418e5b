//! An agent that dies at its start: every command reports the cause and a remedy.

use segue_testkit::{CommandOutcome, Terminal, World};

use crate::world;

/// What Segue reports about the demo agent's output after an option that it does not know.
const LAST_OUTPUT: &str = "its last output: error: unknown argument `--bogus` / usage: demo-agent";

/// Starts an agent that dies at its start. Waits until Segue gives up after three attempts.
fn world_with_crash_loop() -> World {
    let world = world();
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "hi", "--", "--bogus"]);
    world.ok(["wait", "fox", "--for", "waiting", "--timeout", "170s"]);
    world
}

#[track_caller]
fn assert_prints(outcome: &CommandOutcome, status: i32, parts: &[&str]) {
    assert_eq!(outcome.status, status, "{outcome:#?}");
    let printed = format!("{}{}", outcome.stdout, outcome.stderr);
    for part in parts {
        assert!(printed.contains(part), "`{part}` is missing: {outcome:#?}");
    }
}

#[test]
fn last_output_of_a_dead_agent_is_in_the_log_and_in_errors() {
    let world = world_with_crash_loop();
    let ended = format!("exit status 2; {LAST_OUTPUT}");
    let gave_up = "gave up after 3 failures in a row; run `segue resume default/fox` to try again";
    assert_prints(&world.segue(["log", "fox"]), 0, &[&ended, gave_up]);
    let cause = format!("caused by: {LAST_OUTPUT}");
    let other_cause = "caused by: it gave up after 3 failures in a row";
    let waited = world.segue(["wait", "fox", "--for", "idle"]);
    assert_prints(&waited, 4, &[&cause, other_cause, "hint: run `segue resume default/fox`"]);
    let waited = world.segue(["wait", "fox", "--for", "ended"]);
    assert_prints(&waited, 0, &["waiting (choice)", LAST_OUTPUT]);
    let resumed = world.segue(["resume", "fox"]);
    assert_prints(&resumed, 8, &["it ended before it showed its conversation", LAST_OUTPUT]);
}

#[test]
fn attach_reports_why_the_agent_ended_and_why_it_does_not_run() {
    let world = world();
    let run = world.command(["run", "--vendor", "demo", "--name", "fox", "hi", "--", "--bogus"]);
    let mut person = Terminal::start(&run, 40, 200);
    person.wait_for("its last output: error: unknown argument `--bogus`");
    assert_eq!(person.wait(), 6);
    world.ok(["wait", "fox", "--for", "waiting", "--timeout", "170s"]);
    let mut person = Terminal::start(&world.command(["attach", "fox"]), 40, 200);
    person.wait_for("caused by: it gave up after 3 failures in a row");
    person.wait_for("its last output: error: unknown argument `--bogus`");
    assert_eq!(person.wait(), 4);
}

#[test]
fn headless_turn_that_fails_at_its_start_reports_standard_error() {
    let world = world();
    let turn = ["run", "--headless", "--vendor", "demo", "--name", "hb", "hi", "--", "--bogus"];
    let failed = world.segue(turn);
    let cause = format!("caused by: {LAST_OUTPUT}");
    assert_prints(&failed, 6, &["error: the turn of `default/hb` failed", &cause]);
    assert_prints(&world.segue(["log", "hb"]), 0, &[&format!("exit status 2; {LAST_OUTPUT}")]);
}

#[test]
fn secrets_of_the_environment_are_not_in_the_last_output() {
    let mut world = world();
    world.set("SHOP_API_KEY", "tr0ub4dor-and-3-horses");
    let option = "--tr0ub4dor-and-3-horses";
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "hi", "--", option]);
    world.ok(["wait", "fox", "--for", "waiting", "--timeout", "170s"]);
    let log = world.ok(["log", "fox"]);
    assert!(log.contains("unknown argument `--[redacted]`"), "{log}");
    assert!(!log.contains("tr0ub4dor"), "{log}");
}

#[test]
fn last_output_is_known_to_a_daemon_that_started_after_the_agent_ended() {
    let world = world_with_crash_loop();
    world.ok(["daemon", "stop"]);
    let waited = world.segue(["wait", "fox", "--for", "idle"]);
    assert_prints(&waited, 4, &[&format!("caused by: {LAST_OUTPUT}")]);
}

#[test]
fn every_command_hints_at_resume_for_a_session_that_gave_up() {
    let world = world_with_crash_loop();
    let hint = "`segue resume default/fox` to try again";
    assert_prints(&world.segue(["ls"]), 0, &["waiting (choice)", hint]);
    let plan = world.segue(["resume", "--plan"]);
    let hint = "hint: `segue resume default/fox` tries again";
    assert_prints(&plan, 0, &["Segue gave up after failures", hint]);
    let bulk = world.segue(["resume"]);
    assert_prints(&bulk, 8, &["gave up after 3 failures in a row", LAST_OUTPUT, "to try again"]);
    let sent = world.segue(["send", "fox", "hello"]);
    assert_prints(&sent, 4, &["hint: run `segue resume default/fox` to deliver it"]);
    assert!(!sent.stderr.contains("segue answer"), "{sent:#?}");
}

#[test]
fn message_to_a_session_that_was_killed_hints_at_resume() {
    let world = world();
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "hello"]);
    world.ok(["wait", "fox", "--for", "idle", "--timeout", "170s"]);
    world.kill_everything();
    assert_eq!(world.session("fox")["status"], "interrupted");
    let sent = world.segue(["send", "fox", "hello"]);
    assert_prints(&sent, 4, &["hint: run `segue resume default/fox` to deliver it"]);
    assert!(!sent.stderr.contains("segue answer"), "{sent:#?}");
}
