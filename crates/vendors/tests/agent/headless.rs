//! Tests headless turns of the demo agent over pipes.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rustix::process::{Signal, getsid};
use segue_core::model::Signal as VendorSignal;
use segue_core::ports::Vendors as _;

use super::trial::{ForeignProcess, TestProcess, Trial, run_headless};

#[test]
fn resume_after_a_crash_remembers_the_conversation() {
    let trial = Trial::new();
    let first = trial.turn(&["--session-id", "a1", "--print", "--", "remember the word fox"]);
    assert_eq!(first.answer(), "I will remember fox.");
    let crashed = trial.turn(&["--resume", "a1", "--print", "/crash"]);
    assert_eq!(crashed.status.code(), None);
    assert!(crashed.of_type("result").is_empty());
    assert_eq!(trial.records("a1").last().unwrap()["type"], "user");
    let second = trial.turn(&["--resume", "a1", "--print", "what is the word?"]);
    assert_eq!(second.answer(), "The word is fox.");
    assert_eq!(second.of_type("init")[0]["session_id"], "a1");
    assert_eq!(trial.conversation_count(), 1);
}

#[test]
fn vendor_reads_the_conversation_and_a_failed_turn_from_the_output() {
    let trial = Trial::new();
    let vendor = segue_vendors::all().all().remove(0);
    let turn = trial.turn(&["--print", "--session-id", "a1", "/fail"]);
    assert_eq!(turn.status.code(), Some(0), "the exit code of a failed turn is 0");
    let lines = turn.lines.iter().map(ToString::to_string);
    let sources = vendor.signals().unwrap();
    let signals: Vec<VendorSignal> = lines.flat_map(|line| sources.stream_signals(&line)).collect();
    assert!(
        matches!(&signals[0], VendorSignal::Conversation { id, .. } if id.as_str() == "a1"),
        "{signals:?}"
    );
    let last = signals.last().unwrap();
    assert!(matches!(last, VendorSignal::TurnEnded { ok: false, .. }), "{last:?}");
}

#[test]
fn an_id_in_use_is_refused() {
    let trial = Trial::new();
    assert_eq!(trial.turn(&["--session-id", "a1", "--print", "hi"]).status.code(), Some(0));
    let second = trial.turn(&["--session-id", "a1", "--print", "hi"]);
    assert_eq!(second.status.code(), Some(2));
    assert_eq!(second.errors, "error: session ID a1 is already in use\n");
}

#[test]
fn unknown_id_is_refused_unless_the_agent_starts_blank_on_unknown_ids() {
    let trial = Trial::new();
    let refused = trial.turn(&["--resume", "a1", "--print", "hi"]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(refused.errors, "error: no conversation found with session ID a1\n");
    assert_eq!((refused.lines.len(), trial.conversation_count()), (0, 0));
    let mut command = trial.command();
    command.env("SEGUE_DEMO_BLANK_ON_UNKNOWN", "1").args(["--resume", "a1", "--print", "hi"]);
    let blank = run_headless(&mut command);
    assert_eq!(blank.answer(), "This conversation has 1 message from you.");
    assert_ne!(blank.of_type("init")[0]["session_id"], "a1");
}

#[test]
fn a_conversation_is_not_found_from_another_folder() {
    let trial = Trial::new();
    assert_eq!(trial.turn(&["--session-id", "a1", "--print", "hi"]).status.code(), Some(0));
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = trial.command();
    command.current_dir(elsewhere.path()).args(["--resume", "a1", "--print", "hi"]);
    assert_eq!(run_headless(&mut command).status.code(), Some(1));
}

#[test]
fn prompt_that_looks_like_a_flag_is_recorded_as_a_message() {
    let trial = Trial::new();
    trial.turn(&["--session-id", "a1", "--print", "--", "--resume"]).answer();
    assert_eq!(trial.records("a1")[1]["text"], "--resume");
}

#[test]
fn prompt_of_a_megabyte_in_a_file_is_read_and_remembered() {
    let trial = Trial::new();
    let path = trial.cwd.path().join("prompt");
    std::fs::write(&path, format!("{} remember the word fox", "x ".repeat(500_000))).unwrap();
    let prompt = format!("Read the file {} and do what it says.", path.display());
    let running = trial.turn(&["--session-id", "a1", "--print", "--", &prompt]);
    assert_eq!(running.answer(), "I will remember fox.");
    std::fs::remove_file(path).unwrap();
    let second = trial.turn(&["--resume", "a1", "--print", "which word?"]);
    assert_eq!(second.answer(), "The word is fox.");
}

#[test]
fn a_crash_leaves_the_live_entry_and_a_clean_end_does_not() {
    let trial = Trial::new();
    trial.turn(&["--print", "hi"]).answer();
    assert!(trial.live_entries().is_empty());
    let crashed = trial.turn(&["--session-id", "a1", "--print", "/crash 3"]);
    assert_eq!(crashed.status.code(), Some(3));
    let live = trial.live_entries();
    assert_eq!((&live[0]["id"], &live[0]["status"]), (&"a1".into(), &"working".into()));
    assert!(live[0]["started"].as_u64().unwrap() > 0, "{live:?}");
}

#[test]
fn fork_reports_the_id_of_the_new_conversation() {
    let trial = Trial::new();
    trial.turn(&["--session-id", "a1", "--print", "remember the word fox"]).answer();
    let forked = trial.turn(&["--resume", "a1", "--print", "/fork"]);
    let ids: Vec<&str> =
        forked.of_type("init").iter().map(|line| line["session_id"].as_str().unwrap()).collect();
    assert_eq!(ids[0], "a1");
    let second = trial.turn(&["--resume", ids[1], "--print", "which word?"]);
    assert_eq!(second.answer(), "The word is fox.");
    assert_eq!(trial.records("a1").len(), 4);
}

#[test]
fn a_terminated_turn_exits_with_0_and_without_a_result() {
    let trial = Trial::new();
    let mut command = trial.command();
    command.args(["--print", "/hang"]).stdout(Stdio::piped());
    let mut running = TestProcess::start(&mut command);
    let mut output = BufReader::new(running.child.stdout.take().unwrap()).lines();
    assert!(output.next().unwrap().unwrap().contains("init"));
    running.signal(Signal::TERM);
    assert_eq!(running.wait_for_exit().code(), Some(0));
    assert!(output.next().is_none());
    assert!(trial.live_entries().is_empty());
}

#[test]
fn turn_waits_for_its_tool() {
    let trial = Trial::new();
    let turn = trial.turn(&["--print", "/tool 0.05"]);
    assert_eq!(turn.answer(), "The tool: done.");
    assert_eq!(turn.of_type("tool_call")[0]["text"], "sleep 0.05");
}

#[test]
fn a_daemonized_tool_outlives_the_agent_in_its_own_session() {
    let trial = Trial::new();
    let turn = trial.turn(&["--session-id", "a1", "--print", "/daemonize 600"]);
    let result = turn.of_type("tool_result")[0]["text"].as_str().unwrap();
    let process_id = result.rsplit(' ').next().unwrap().parse().unwrap();
    let tool = ForeignProcess::find(process_id);
    assert_eq!(turn.answer(), format!("The tool: {result}."));
    assert_eq!(getsid(Some(tool.pid)).unwrap(), tool.pid);
    let environment = std::fs::read_to_string(format!("/proc/{process_id}/environ")).unwrap();
    assert!(environment.split('\0').any(|variable| variable == "SEGUE_DEMO_SESSION=a1"));
}

#[test]
fn agent_inside_another_agent_is_refused() {
    let trial = Trial::new();
    let mut command = trial.command();
    command.env("SEGUE_DEMO_SESSION", "outer").args(["--print", "hi"]);
    let refused = run_headless(&mut command);
    assert_eq!(refused.status.code(), Some(1));
    assert!(refused.errors.contains("inside another session"), "{}", refused.errors);
}

#[test]
fn bad_arguments_exit_with_2_and_a_missing_terminal_with_1() {
    let trial = Trial::new();
    let usage = trial.turn(&["--what"]);
    assert_eq!(usage.status.code(), Some(2));
    assert!(usage.errors.contains("usage: demo-agent"), "{}", usage.errors);
    let mut command = trial.command();
    command.stdin(Stdio::null());
    let no_terminal = run_headless(&mut command);
    assert_eq!(no_terminal.status.code(), Some(1));
    assert!(no_terminal.errors.contains("needs a terminal"), "{}", no_terminal.errors);
    assert!(trial.live_entries().is_empty());
}
