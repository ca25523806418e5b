//! Deaths in the middle of something, and what they leave.

use std::fs;
use std::io::Write as _;

use crate::processes;
use crate::trial::{Trial, nudges};
use crate::wait;

pub(super) fn in_stream(trial: &mut Trial) {
    trial.start("a", "ALPHA [[hold: door]]");
    trial.model.wait_held("door");
    trial.wait_session("a", |it| it["status"] == "working" && !it["vendor_session_id"].is_null());
    trial.world.kill_everything();
    // Where nothing of the first turn was kept it is told again; else it is told to go on.
    trial.model.release("door");
    let report = trial.world.resume(["--all"]);
    assert_eq!(report.status, 0, "{report:#?}");
    trial.wait_idle("a");
    let next = trial.ask("a", "and now?");
    let told = next.user_texts();
    assert!(told[0].contains("ALPHA"), "{told:?}");
    let repeated = told.iter().filter(|text| text.contains("ALPHA")).count();
    assert_eq!((repeated, told.len()), (1, 2 + nudges(&next)), "{told:?}");
    trial.kill_and_resume();
    let last = trial.ask("a", "and then?");
    assert_eq!(
        nudges(&last),
        nudges(&next),
        "an idle agent is not nudged: {:?}",
        last.user_texts()
    );
}

pub(super) fn in_tool(trial: &mut Trial) {
    let tool = start_tool(trial);
    let agent = trial.world.session("b")["pid"].as_u64().expect("an agent");
    processes::kill(u32::try_from(agent).expect("a process"));
    processes::wait_gone(tool);
    // The restart is by itself, and the cut turn goes on once.
    let nudged = trial.model.wait_answered("started again");
    assert_eq!(nudges(&nudged), 1, "{:?}", nudged.user_texts());
    assert!(nudged.mentions("BETA"), "{:?}", nudged.user_texts());
    trial.wait_idle("b");
    assert_eq!(trial.world.session("b")["launches"], 2);
}

/// Starts an agent that runs a long tool; returns the tool's process.
fn start_tool(trial: &Trial) -> u32 {
    let message = "BETA [[tool: echo $$ > pid; exec sleep 987]]";
    let vendor = trial.vendor();
    let auto = ["run", "-d", "--vendor", vendor, "--permission", "auto", "--name", "b", message];
    trial.world.ok(auto);
    let folder = trial.world.project();
    let pid = || fs::read_to_string(folder.join("pid")).ok()?.trim().parse().ok();
    wait::until(&[&folder], "the tool", || pid().is_some());
    pid().expect("a process")
}

pub(super) fn before_first_word(trial: &mut Trial) {
    trial.start("a", "remember ALPHA [[hold: door]]");
    trial.world.kill_everything();
    let before = trial.world.session("a");
    let report = trial.world.resume(["--all"]);
    assert_eq!(report.status, 0, "{report:#?}");
    trial.model.release("door");
    trial.wait_idle("a");
    let next = trial.ask("a", "and now?");
    let told = next.user_texts();
    assert_eq!(told.iter().filter(|text| text.contains("ALPHA")).count(), 1, "{told:?}");
    let after = trial.world.session("a");
    if !before["vendor_session_id"].is_null() {
        assert_eq!(after["vendor_session_id"], before["vendor_session_id"]);
    }
}

pub(super) fn torn_tail(trial: &mut Trial) {
    let session = trial.told("a", "remember ALPHA");
    trial.world.kill_everything();
    let transcript = trial.transcript(&session);
    let mut file = fs::OpenOptions::new().append(true).open(&transcript).expect("a transcript");
    file.write_all(br#"{"type":"torn","timestamp":"2026-11-16T00:1"#).expect("a torn line");
    drop(file);
    trial.world.resume(["a"]).assert_back("a", "resumed");
    trial.assert_carries("a", &["remember ALPHA"], "which word was it?");
    trial.kill_and_resume();
    trial.assert_carries("a", &["remember ALPHA", "which word was it?"], "and the second time?");
}

pub(super) fn nothing_left(trial: &mut Trial) {
    trial.told("a", "remember ALPHA");
    let tool = start_tool(trial);
    trial.world.ok(["stop", "--all"]);
    trial.world.ok(["daemon", "stop"]);
    let left: Vec<_> = trial.world.processes().into_iter().map(processes::command_line).collect();
    assert!(left.is_empty() && !processes::is_alive(tool), "{left:#?}");
}
