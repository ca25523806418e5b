//! Processes that are killed in the middle of a turn, and processes that outlive a stop.

use std::fs;
use std::io::Write as _;

use crate::expectation::{expect, quoted};
use crate::processes;
use crate::trial::{VendorTrial, nudges};
use crate::wait;

pub(super) fn mid_stream(trial: &mut VendorTrial) {
    trial.start("a", "ALPHA [[hold: door]]");
    trial.model.wait_held("door");
    trial.wait_session("a", |it| it["status"] == "working" && !it["vendor_session_id"].is_null());
    trial.world.kill_everything();
    // If the program had not recorded its first message, it gets that message again. The model must
    // not hold that answer, too.
    trial.model.release("door");
    trial.resume_all();
    trial.wait_idle("a");
    let next = trial.ask("a", "and now?");
    let said = next.user_texts();
    let repeated = said.iter().filter(|text| text.contains("ALPHA")).count();
    expect(
        repeated == 1 && said[0].contains("ALPHA") && said.len() == 2 + nudges(&next),
        "the conversation goes on with its first message once and at most one nudge",
        || format!("the request carried {}", quoted(&said)),
    );
    trial.kill_and_resume();
    let last = trial.ask("a", "and then?");
    expect(nudges(&last) == nudges(&next), "an idle agent is not nudged after a resume", || {
        format!("the request carried {}", quoted(&last.user_texts()))
    });
}

pub(super) fn mid_tool(trial: &mut VendorTrial) {
    let tool = start_tool(trial);
    let agent = trial.world.session("b")["pid"].as_u64().expect("an agent");
    processes::kill(u32::try_from(agent).expect("a process"));
    processes::wait_gone(tool);
    // Segue restarts the agent by itself, and the interrupted turn continues once.
    let nudged = trial.wait_answered("b", "started again");
    expect(
        nudges(&nudged) == 1 && nudged.mentions("BETA"),
        "the agent is started again, with its conversation and one nudge",
        || format!("the request carried {}", quoted(&nudged.user_texts())),
    );
    trial.wait_idle("b");
    let launches = &trial.world.session("b")["launches"];
    expect(*launches == 2, "the agent was started again once", || format!("{launches} launches"));
}

/// Starts an agent that runs a long tool, and waits until its conversation is on disk. Returns the
/// process id of the tool.
fn start_tool(trial: &VendorTrial) -> u32 {
    let message = "BETA [[tool: echo $$ > pid; exec sleep 987]]";
    let vendor = trial.vendor();
    let auto = ["run", "-d", "--vendor", vendor, "--permission", "auto", "--name", "b", message];
    trial.world.ok(auto);
    let folder = trial.world.project();
    let pid = || fs::read_to_string(folder.join("pid")).ok()?.trim().parse().ok();
    wait::until(&[&folder], "the tool runs", || pid().is_some());
    // The program acts before it writes its transcript.
    let session = trial.wait_session("b", |it| !it["vendor_session_id"].is_null());
    trial.wait_recorded(&session, "BETA");
    pid().expect("a process")
}

pub(super) fn first_word(trial: &mut VendorTrial) {
    trial.start("a", "remember ALPHA [[hold: door]]");
    trial.world.kill_everything();
    let before = trial.world.session("a");
    let was_recorded =
        !before["vendor_session_id"].is_null() && trial.is_recorded(&before, "remember ALPHA");
    trial.resume_all();
    trial.model.release("door");
    trial.wait_idle("a");
    let next = trial.ask("a", "and now?");
    let said = next.user_texts();
    let times = said.iter().filter(|text| text.contains("ALPHA")).count();
    expect(times == 1, "its first message is in the conversation once", || {
        format!("the request carried {}", quoted(&said))
    });
    if was_recorded {
        trial.expect_same_conversation("a", &before);
    }
}

pub(super) fn torn_tail(trial: &mut VendorTrial) {
    let session = trial.start_and_settle("a", "remember ALPHA");
    trial.world.kill_everything();
    let transcript = trial.transcript(&session);
    let mut file = fs::OpenOptions::new().append(true).open(&transcript).expect("a transcript");
    file.write_all(br#"{"type":"torn","timestamp":"2026-11-16T00:1"#).expect("a torn line");
    drop(file);
    trial.world.resume(["a"]).assert_back("a", "resumed");
    trial.expect_carried("a", &["remember ALPHA"], "which word was it?");
    trial.kill_and_resume();
    trial.expect_carried("a", &["remember ALPHA", "which word was it?"], "and the second time?");
}

pub(super) fn nothing_left(trial: &mut VendorTrial) {
    trial.start_and_settle("a", "remember ALPHA");
    let tool = start_tool(trial);
    trial.world.ok(["stop", "--all"]);
    trial.world.ok(["daemon", "stop"]);
    let left: Vec<String> = trial
        .world
        .processes()
        .into_iter()
        .map(|it| processes::command_line(it).join(" "))
        .collect();
    let is_met = left.is_empty() && !processes::is_alive(tool);
    expect(is_met, "after `segue stop` no process of the agent is left", || {
        if left.is_empty() { "its tool still runs".to_owned() } else { left.join("\n") }
    });
}
