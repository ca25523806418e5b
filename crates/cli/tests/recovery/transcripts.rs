//! Transcripts that are deleted, replaced by a new conversation, or not found by the agent.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use segue_testkit::events::Events;
use segue_testkit::hold::Hold;
use segue_testkit::scene::{
    assert_knows, event_texts, finish, pid, pids_running, start_with_word, text, transcript,
    wait_event,
};
use segue_testkit::{Report, World, conversation, launches, processes};
use serde_json::Value;

use crate::world;

/// Starts a session, sends a second message, and kills all processes. Returns the session from before
/// the kill.
fn killed_session(world: &World) -> Value {
    let session = start_with_word(world, "coder", "fox");
    conversation::ask(world, &session, "hello");
    world.kill_everything();
    session
}

fn assert_message_count(world: &World, count: usize) {
    let answer = conversation::ask(world, &world.session("coder"), "how many?");
    assert_eq!(answer, format!("This conversation has {count} messages from you."));
}

#[test]
fn transcript_deleted_while_nothing_runs_is_restored() {
    let world = world();
    let session = killed_session(&world);
    fs::remove_file(transcript(&world, &session)).unwrap();
    let report = world.resume(["coder"]);
    report.assert_back("coder", "restored");
    assert_eq!(report.agent("coder")["vendor_session_id"], session["vendor_session_id"]);
    assert!(report.note("coder").contains("guard"), "{report:?}");
    assert_message_count(&world, 3);
    assert_knows(&world, "coder", "fox");
    assert_eq!(event_texts(&world, "coder", "transcript_restored").len(), 1);
}

#[test]
fn transcript_deleted_while_its_agent_runs_is_restored_with_later_messages() {
    let world = world();
    let session = start_with_word(&world, "coder", "fox");
    let path = transcript(&world, &session);
    let guard = launches::guard(&launches::newest(&world, &session).0, &path);
    fs::remove_file(&path).unwrap();
    conversation::type_text(&world, &session, "remember the word owl\r");
    let has_message = || conversation::user_messages(&guard).len() == 2;
    // The kernel reports no writes to a file whose name was deleted. So the test watches the
    // agent's registry, which the agent updates after it has written.
    let live = world.home().join(".segue-demo/live");
    launches::wait_until(&[&live], "the second message", has_message);
    world.kill_everything();
    world.resume(["coder"]).assert_back("coder", "restored");
    assert_knows(&world, "coder", "owl");
    assert!(path.is_file());
}

#[test]
fn crashed_agent_with_a_deleted_transcript_is_restored_automatically() {
    let world = world();
    let session = start_with_word(&world, "coder", "fox");
    fs::remove_file(transcript(&world, &session)).unwrap();
    let mut events = Events::of(&world);
    processes::kill(pid(&session, "pid"));
    wait_event(&mut events, "transcript_restored", "");
    wait_event(&mut events, "launch_planned", "launch 2 (resume)");
    wait_event(&mut events, "status_changed", "idle");
    assert_knows(&world, "coder", "fox");
}

#[test]
fn deletion_of_all_vendor_files_loses_no_conversation() {
    let world = world();
    let first = killed_session(&world);
    fs::remove_dir_all(world.home().join(".segue-demo")).unwrap();
    world.resume(["coder"]).assert_back("coder", "restored");
    assert_eq!(world.session("coder")["vendor_session_id"], first["vendor_session_id"]);
    assert_knows(&world, "coder", "fox");
}

/// Deletes a session's transcript and all copies of it, while no process runs.
fn delete_all_copies(world: &World, session: &Value) {
    fs::remove_file(transcript(world, session)).unwrap();
    launches::remove_copies(world, session);
}

#[test]
fn session_is_lost_while_no_copy_of_its_conversation_exists() {
    let world = world();
    let session = killed_session(&world);
    let path = transcript(&world, &session);
    let backup = fs::read(&path).unwrap();
    delete_all_copies(&world, &session);
    let status = || world.session("coder")["status"].clone();
    assert_eq!(status(), "interrupted");
    world.ok(["resume", "--all", "--plan"]);
    assert_eq!(status(), "lost");
    let listed = world.segue(["ls", "--status", "lost"]);
    assert!(listed.stderr.contains("run `segue resume default/coder` to see what"), "{listed:#?}");
    fs::write(&path, backup).unwrap();
    world.ok(["resume", "--all", "--plan"]);
    assert_eq!(status(), "interrupted");
    world.resume(["coder"]).assert_back("coder", "resumed");
    assert_knows(&world, "coder", "fox");
}

#[test]
fn resume_without_any_copy_of_the_transcript_is_refused_with_choices() {
    let world = world();
    let session = killed_session(&world);
    delete_all_copies(&world, &session);
    for _ in 0..2 {
        let report = world.resume(["--all"]);
        report.assert_not_back("coder", "refused");
        let id = text(&session, "vendor_session_id");
        assert_eq!(report.agent("coder")["vendor_session_id"], id);
        let fresh = "`segue resume default/coder --fresh default/coder`";
        for part in [id, "is gone", "from a backup", fresh] {
            assert!(report.note("coder").contains(part), "{part}: {report:#?}");
        }
    }
    assert_eq!(world.session("coder")["launches"], 1, "a launch was started");
    let found = world.segue(["doctor"]);
    assert!(
        found.status == 1 && found.stdout.contains("the transcript of `default/coder` is gone")
    );
}

#[test]
fn fresh_start_after_a_loss_keeps_the_old_vendor_session_id_in_the_log() {
    let world = world();
    let session = killed_session(&world);
    delete_all_copies(&world, &session);
    let report = world.resume(["--fresh", "coder"]);
    report.assert_not_back("coder", "fresh");
    let fresh = world.session("coder");
    assert_eq!((&fresh["id"], &fresh["launches"]), (&session["id"], &Value::from(2)));
    let bound = event_texts(&world, "coder", "bound");
    let ids = [&session, &fresh].map(|it| text(it, "vendor_session_id"));
    assert_ne!(ids[0], ids[1]);
    assert!(bound[0].starts_with(ids[0]) && bound.last().unwrap().starts_with(ids[1]), "{bound:?}");
    conversation::type_text(&world, &fresh, "what is the word?\r");
    let answer = conversation::wait_turns(&world, &fresh, 1);
    assert_eq!(answer, "I was told no word in this conversation.");
}

#[test]
fn killed_fresh_start_without_messages_starts_again_with_the_same_id() {
    let world = world();
    let session = killed_session(&world);
    delete_all_copies(&world, &session);
    world.resume(["--fresh", "coder"]).assert_not_back("coder", "fresh");
    let fresh = world.session("coder");
    world.kill_everything();
    let report = world.resume(["coder"]);
    report.assert_back("coder", "started");
    assert_eq!(report.agent("coder")["vendor_session_id"], fresh["vendor_session_id"]);
}

#[test]
fn fresh_resume_of_a_running_agent_ends_it_and_keeps_the_old_transcript() {
    let world = world();
    let session = start_with_word(&world, "coder", "fox");
    world.resume(["--fresh", "coder"]).assert_not_back("coder", "fresh");
    assert!(!processes::is_alive(pid(&session, "pid")));
    assert_ne!(world.session("coder")["vendor_session_id"], session["vendor_session_id"]);
    assert!(transcript(&world, &session).is_file(), "the old transcript is missing");
}

/// Makes the agent change to another conversation. Returns the session when Segue knows the new id.
fn change_conversation(world: &World, before: &Value, command: &str) -> Value {
    let mut events = Events::of(world);
    conversation::type_text(world, before, &format!("{command}\r"));
    let old = text(before, "vendor_session_id").to_owned();
    let is_new = |event: &Value| event["kind"] == "bound" && !text(event, "text").starts_with(&old);
    events.wait_for(is_new).unwrap();
    world.session("coder")
}

#[test]
fn resume_after_clear_uses_the_new_conversation() {
    let world = world();
    let first = start_with_word(&world, "coder", "fox");
    let second = change_conversation(&world, &first, "/clear");
    conversation::type_text(&world, &second, "remember the word owl\r");
    conversation::wait_turns(&world, &second, 1);
    world.kill_everything();
    let report = world.resume(["--all"]);
    report.assert_back("coder", "resumed");
    assert_eq!(report.agent("coder")["vendor_session_id"], second["vendor_session_id"]);
    assert_knows(&world, "coder", "owl");
    let ids = [text(&first, "vendor_session_id"), text(&second, "vendor_session_id")];
    let lines = [
        format!("{} (preset)", ids[0]),
        format!("{} (registry)", ids[0]),
        format!("{} (registry)", ids[1]),
        format!("{} (registry)", ids[1]),
    ];
    assert_eq!(event_texts(&world, "coder", "bound"), lines);
}

#[test]
fn resume_after_clear_without_a_new_message_is_empty() {
    let world = world();
    let first = start_with_word(&world, "coder", "fox");
    let second = change_conversation(&world, &first, "/clear");
    world.kill_everything();
    let report = world.resume(["--all"]);
    report.assert_back("coder", "started");
    assert_eq!(report.agent("coder")["vendor_session_id"], second["vendor_session_id"]);
    let session = world.session("coder");
    conversation::type_text(&world, &session, "what is the word?\r");
    let answer = conversation::wait_turns(&world, &session, 1);
    assert_eq!(answer, "I was told no word in this conversation.");
    assert_eq!(
        conversation::user_messages(&transcript(&world, &first)).len(),
        1,
        "the old one was changed"
    );
}

#[test]
fn resume_after_fork_uses_the_fork() {
    let world = world();
    let first = start_with_word(&world, "coder", "fox");
    let fork = change_conversation(&world, &first, "/fork");
    conversation::ask(&world, &fork, "remember the word owl");
    world.kill_everything();
    world.resume(["--all"]).assert_back("coder", "resumed");
    assert_eq!(world.session("coder")["vendor_session_id"], fork["vendor_session_id"]);
    assert_knows(&world, "coder", "owl");
    assert_eq!(conversation::user_messages(&transcript(&world, &first)).len(), 1);
}

#[test]
fn agent_that_starts_an_empty_conversation_on_resume_is_ended_and_not_bound() {
    let mut world = world();
    let before = killed_session(&world);
    world.set("SEGUE_DEMO_BLANK_ON_UNKNOWN", "1");
    // The daemon has decided to resume the conversation, but has not started the agent yet.
    let hold = Hold::at(&mut world, "launch.record.after");
    let resume = world.start(["resume", "--json", "coder"]);
    hold.meanwhile(&mut world, |world| fs::remove_file(transcript(world, &before)).unwrap());
    let report = Report::of(&finish(resume));
    report.assert_not_back("coder", "refused");
    assert!(report.note("coder").contains("another conversation"), "{report:#?}");
    assert_eq!(report.agent("coder")["vendor_session_id"], before["vendor_session_id"]);

    let after = world.session("coder");
    assert_eq!(after["vendor_session_id"], before["vendor_session_id"]);
    assert_eq!((text(&after, "status"), text(&after, "status_detail")), ("waiting", "choice"));
    assert_eq!((&after["pid"], &after["holder_pid"]), (&Value::Null, &Value::Null));
    let refused = event_texts(&world, "coder", "binding_refused");
    assert!(refused.len() == 1 && refused[0].contains("ended, not bound"), "{refused:?}");
    assert_eq!(pids_running(&world, "demo-agent"), Vec::<u32>::new());

    // The guard has the deleted transcript. After this failure only a resume by name tries again.
    world.resume(["--all"]).assert_not_back("coder", "refused");
    world.resume(["coder"]).assert_back("coder", "restored");
    assert_knows(&world, "coder", "fox");
}

#[test]
fn transcript_deleted_during_a_resume_is_restored_at_the_next_attempt() {
    let mut world = world();
    let before = killed_session(&world);
    let hold = Hold::at(&mut world, "launch.record.after");
    let resume = world.start(["resume", "--json", "coder"]);
    hold.meanwhile(&mut world, |world| fs::remove_file(transcript(world, &before)).unwrap());
    let report = Report::of(&finish(resume));
    report.assert_not_back("coder", "refused");
    let mut events = Events::of(&world);
    wait_event(&mut events, "launch_planned", "launch 3 (resume)");
    wait_event(&mut events, "status_changed", "idle");
    assert_eq!(event_texts(&world, "coder", "transcript_restored").len(), 1);
    assert_knows(&world, "coder", "fox");
}

#[test]
fn resume_of_an_idle_headless_session_restores_its_transcript_without_a_turn() {
    let world = world();
    world.ok(["run", "--headless", "--name", "coder", "remember the word fox"]);
    let session = world.session("coder");
    launches::wait_guarded(&world, &session);
    let path = transcript(&world, &session);
    world.kill_everything();
    fs::remove_file(&path).unwrap();
    world.resume(["coder"]).assert_back("coder", "restored");
    assert_eq!(conversation::user_messages(&path), ["remember the word fox"]);
    let after = world.session("coder");
    assert_eq!((text(&after, "status"), &after["launches"]), ("idle", &Value::from(1)));
}

#[test]
fn partial_last_line_does_not_swallow_later_messages() {
    let world = world();
    let session = killed_session(&world);
    let path = transcript(&world, &session);
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"type\":\"assistant\",\"te").unwrap();
    world.resume(["coder"]).assert_back("coder", "resumed");
    conversation::ask(&world, &world.session("coder"), "remember the word owl");
    world.kill_everything();
    world.resume(["coder"]).assert_back("coder", "resumed");
    assert_message_count(&world, 4);
    assert_knows(&world, "coder", "owl");
}

#[test]
fn unreadable_transcript_ends_the_restarts_and_offers_choices() {
    let world = world();
    let session = killed_session(&world);
    let path = transcript(&world, &session);
    fs::write(&path, "this is no transcript\n").unwrap();
    world.resume(["coder"]).assert_not_back("coder", "refused");
    let mut events = Events::of(&world);
    wait_event(&mut events, "gave_up", "gave up after 3 failures in a row");
    let after = world.session("coder");
    assert_eq!((text(&after, "status"), text(&after, "status_detail")), ("waiting", "choice"));
    assert_eq!(after["vendor_session_id"], session["vendor_session_id"], "its binding changed");
    assert_eq!(after["launches"], 4, "the first one, and three that died at their start");
    let report = world.resume(["--all"]);
    report.assert_not_back("coder", "refused");
    for part in ["`segue log default/coder`", "`segue resume default/coder`", "--fresh"] {
        assert!(report.note("coder").contains(part), "{part}: {report:#?}");
    }
    assert_eq!(world.session("coder")["launches"], 4, "it was tried again");
    assert_eq!(fs::read_to_string(&path).unwrap(), "this is no transcript\n");
}

#[test]
fn transcript_on_another_filesystem_has_no_guard_and_comes_from_the_archive() {
    let mut world = world();
    let Ok(other) = tempfile::tempdir_in("/dev/shm") else { return };
    let device = |path: &Path| path.metadata().unwrap().dev();
    if device(other.path()) == device(world.root()) {
        return;
    }
    world.set("SEGUE_DEMO_HOME", other.path().to_str().unwrap());
    world.ok(["run", "-d", "--name", "coder", "remember the word fox"]);
    let mut events = Events::of(&world);
    wait_event(&mut events, "transcript_unguarded", "");
    world.kill_everything();
    world.resume(["coder"]).assert_back("coder", "resumed");
    world.kill_everything();
    fs::remove_dir_all(other.path().join("conversations")).unwrap();
    let report = world.resume(["coder"]);
    report.assert_back("coder", "restored");
    assert!(report.note("coder").contains("archive"), "{report:?}");
}
