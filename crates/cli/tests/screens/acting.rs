//! Every action of the UI with the demo agent, from its key to its effect.

use std::fs;
use std::path::PathBuf;

use segue_testkit::repositories::make_repository;
use segue_testkit::{Terminal, World, conversation, scene};
use serde_json::Value;

use crate::{ENTER, ESCAPE, open, start, wait_gone, wait_row, world};

const ROWS: u16 = 40;
const COLUMNS: u16 = 120;
const F2: &str = "\x1bOQ";
/// Deletes the line before the cursor.
const CLEAR: &str = "\x15";
const TAB: &str = "\t";

/// Fills the focused field of a form with this text, instead of what it has.
fn fill(person: &mut Terminal, text: &str) {
    person.write(CLEAR);
    person.write(text);
}

fn wait_status(world: &World, name: &str, status: &str) -> Value {
    scene::wait_session(world, name, |it| it["status"] == status)
}

/// Returns all user messages in the conversations of this world.
fn received(world: &World) -> Vec<String> {
    let all = conversation::transcripts(world);
    all.iter().flat_map(|transcript| conversation::user_messages(transcript)).collect()
}

#[test]
fn session_is_renamed_and_a_taken_name_is_reported() {
    let world = world();
    start(&world, "fox");
    start(&world, "owl");
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["owl", "idle"]);
    person.write(F2);
    person.wait_for("Rename fox");
    fill(&mut person, "owl");
    person.write(ENTER);
    person.wait_for("the name `owl` is taken in fleet `default`; choose another name");
    person.write(F2);
    person.wait_for("Rename fox");
    fill(&mut person, "red-fox");
    person.write(ENTER);
    wait_row(&mut person, &["○ red-fox", "idle"]);
    person.wait_for("default/fox is called default/red-fox now");
    assert_eq!(world.session("red-fox")["status"], "idle");
}

#[test]
fn turn_is_interrupted_after_its_consequence_was_shown() {
    let world = world();
    start(&world, "fox");
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["○ fox", "idle"]);
    person.write("i");
    person.wait_for("fox does not work now: it is idle");
    world.ok(["send", "fox", "--no-wait", "/hang"]);
    wait_row(&mut person, &["● fox", "working"]);
    person.write("i");
    person.wait_for("ends the turn of fox; the agent keeps running");
    person.write(ENTER);
    wait_row(&mut person, &["○ fox", "idle"]);
    assert_eq!(scene::event_texts(&world, "fox", "turn_interrupted").len(), 1);
    // With a message, the agent goes on at once.
    world.ok(["send", "fox", "--no-wait", "/hang"]);
    wait_row(&mut person, &["● fox", "working"]);
    person.write("I");
    person.wait_for("Interrupt and tell fox");
    person.write("what is the word?\r");
    person.wait_for("The word is amber.");
}

#[test]
fn agents_are_scaled_and_the_surplus_is_named_before_it_is_stopped() {
    let world = world();
    scene::write_shop(&world, "");
    world.ok(["up"]);
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["○ coder", "idle"]);
    person.write("+");
    person.wait_for("1 of coder run now");
    fill(&mut person, "3");
    person.write(ENTER);
    wait_row(&mut person, &["○ coder-2", "idle"]);
    wait_row(&mut person, &["○ coder-3", "idle"]);
    person.write("+");
    person.wait_for("3 of coder run now");
    fill(&mut person, "1");
    person.write(ENTER);
    person.wait_for("stops coder-2, coder-3");
    assert_eq!(world.session("coder-3")["status"], "idle");
    person.write(ENTER);
    wait_row(&mut person, &["coder-3", "ended (stopped)"]);
    wait_row(&mut person, &["coder-2", "ended (stopped)"]);
    wait_row(&mut person, &["○ coder ", "idle"]);
}

#[test]
fn conversation_that_was_started_without_segue_is_adopted() {
    let world = world();
    scene::turn_without_segue(&world, "remember the word heron");
    let mut person = open(&world, ROWS, COLUMNS);
    person.wait_for("adopt one of 1 conversation");
    person.write("A");
    person.wait_for("Adopt one of 1 conversation");
    person.wait_for("remember the word heron");
    person.write(ENTER);
    person.wait_for("adopted default/");
    wait_row(&mut person, &["· ", "ended (quit)"]);
    person.write("r");
    person.wait_for("Resume 1 session");
    person.write(ENTER);
    wait_row(&mut person, &["○ ", "idle"]);
    let sessions = world.sessions();
    assert_eq!(sessions.len(), 1, "{sessions:#?}");
    scene::assert_knows(&world, scene::text(&sessions[0], "name"), "heron");
}

#[test]
fn all_sessions_are_resumed_after_their_plan_was_shown() {
    let world = world();
    start(&world, "fox");
    start(&world, "owl");
    world.kill_everything();
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["◇ owl", "interrupted"]);
    person.write("R");
    person.wait_for("Resume 2 sessions");
    wait_row(&mut person, &["default/fox", "resume"]);
    wait_row(&mut person, &["default/owl", "resume"]);
    person.write(ESCAPE);
    wait_gone(&mut person, "Resume 2 sessions");
    assert_eq!(world.session("fox")["launches"], 1);
    person.write("R");
    person.wait_for("Resume 2 sessions");
    person.write(ENTER);
    wait_row(&mut person, &["○ fox", "idle"]);
    wait_row(&mut person, &["○ owl", "idle"]);
}

#[test]
fn form_starts_a_session_with_a_name_and_a_prompt() {
    let world = world();
    start(&world, "fox");
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["fox", "idle"]);
    person.write("c");
    person.wait_for("New session");
    person.write("remember the word heron");
    person.write([TAB, TAB, TAB].concat());
    person.write("bird");
    person.write(ENTER);
    wait_row(&mut person, &["○ bird", "idle"]);
    // The new session is selected.
    person.wait_for("I will remember heron.");
    scene::assert_knows(&world, "bird", "heron");
}

#[test]
fn form_adds_a_task_that_an_agent_carries_out() {
    let world = world();
    scene::share_environment(&world);
    scene::write_shop(&world, "");
    start(&world, "fox");
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["fox", "idle"]);
    person.write("T");
    person.wait_for("New task");
    person.write("remember the word heron");
    person.write(TAB);
    fill(&mut person, "coder");
    person.write(ENTER);
    person.wait_for("added task");
    // A task that has ended is shown on demand.
    person.write("E");
    wait_row(&mut person, &["done", "coder", "remember the word heron"]);
    person.write(ENTER);
    person.wait_for("state     done");
    person.write(ESCAPE);
    wait_gone(&mut person, "state     done");
}

#[test]
fn marked_sessions_get_a_message_and_are_stopped_together() {
    let world = world();
    start(&world, "fox");
    start(&world, "owl");
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["owl", "idle"]);
    person.write("  ");
    person.wait_for("2 marked");
    person.write("s");
    person.wait_for("Message to fox, owl");
    person.write("said to both\r");
    person.wait_for("recorded for 2 agents");
    for name in ["fox", "owl"] {
        conversation::wait_turns(&world, &world.session(name), 2);
    }
    assert_eq!(received(&world).iter().filter(|it| *it == "said to both").count(), 2);
    person.write("x");
    wait_row(&mut person, &["stops fox", "conversation"]);
    wait_row(&mut person, &["stops owl", "conversation"]);
    person.write(ENTER);
    wait_row(&mut person, &["fox", "ended (stopped)"]);
    wait_row(&mut person, &["owl", "ended (stopped)"]);
}

#[test]
fn usage_limit_is_in_needs_you_until_the_agent_goes_on() {
    let world = world();
    start(&world, "fox");
    start(&world, "owl");
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["owl", "idle"]);
    world.ok(["send", "owl", "/limit 2100-01-01T00:00:00Z"]);
    person.wait_for("1 needs you");
    wait_row(&mut person, &["owl", "usage_limit", "the usage limit is reached", "h hand over"]);
    person.write("n");
    person.wait_for("default/owl");
    world.ok(["send", "owl", "--wait", "go on"]);
    wait_gone(&mut person, "Needs you");
}

/// Starts an agent in a worktree with a changed and a new file. Returns its folder.
fn start_in_worktree(world: &World, name: &str, branch: &str) -> PathBuf {
    make_repository(&world.project());
    let prompt = "remember the word amber";
    world.ok(["run", "-d", "--vendor", "demo", "--name", name, "--worktree", branch, prompt]);
    let session = world.session(name);
    conversation::wait_turns(world, &session, 1);
    let folder = PathBuf::from(scene::text(&session, "cwd"));
    fs::write(folder.join("main.rs"), "fn main() {\n    let word = \"amber\"; // kept\n}\n")
        .unwrap();
    folder
}

#[test]
fn worktree_is_salvaged_removed_and_restored() {
    let world = world();
    let folder = start_in_worktree(&world, "fox", "feature/fox");
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["fox", "idle"]);
    person.write("w");
    wait_row(&mut person, &["feature/fox", "present"]);
    person.write("v");
    person.wait_for("keeps its uncommitted work in a ref; the folder stays as it is");
    person.write(ENTER);
    person.wait_for("salvaged feature/fox");
    assert!(folder.join("main.rs").exists());
    world.ok(["stop", "fox"]);
    person.write("D");
    person.wait_for("Remove feature/fox");
    person.write(ENTER);
    person.wait_for("removed feature/fox");
    assert!(!folder.exists());
    person.write("u");
    person.wait_for("makes the folder again, with its salvaged work");
    person.write(ENTER);
    person.wait_for("restored feature/fox");
    let text = fs::read_to_string(folder.join("main.rs")).unwrap();
    assert!(text.contains("amber"), "{text}");
}

#[test]
fn comments_on_lines_reach_the_agent_as_one_message() {
    let world = world();
    let folder = start_in_worktree(&world, "fox", "feature/fox");
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["fox", "idle"]);
    person.write("3");
    wait_row(&mut person, &["+fn main() {"]);
    person.write(TAB);
    // Goes to the line with the word.
    person.write("G");
    person.write("k");
    person.write("m");
    person.wait_for("Comment on +    let word");
    person.write("use a constant\r");
    person.wait_for("1 comment: M sends");
    // The agent changes a file meanwhile: the comment stays at its line.
    fs::write(folder.join("a.txt"), "new\n").unwrap();
    person.write("\x1b[15~");
    wait_row(&mut person, &["+new"]);
    wait_row(&mut person, &["let word", "◂ use a constant"]);
    person.write("M");
    person.wait_for("Send 1 comment to fox");
    person.write(ENTER);
    person.wait_for("the message is recorded");
    wait_gone(&mut person, "◂ use a constant");
    conversation::wait_turns(&world, &world.session("fox"), 2);
    let message = received(&world).pop().unwrap();
    assert!(message.contains("main.rs") && message.contains("use a constant"), "{message}");
}

#[test]
fn conversation_is_searched_and_its_tool_calls_unfold() {
    let world = world();
    start(&world, "fox");
    world.ok(["send", "fox", "--wait", "/tool 0"]);
    wait_status(&world, "fox", "idle");
    let mut person = open(&world, ROWS, COLUMNS);
    person.write("2");
    wait_row(&mut person, &["▸ shell sleep 0"]);
    person.write(TAB);
    person.write("f");
    wait_row(&mut person, &["▾ shell result"]);
    person.write("/nothing like this\r");
    person.wait_for("no further match in the turns that were read");
    person.write("/");
    fill(&mut person, "amber");
    person.write(ENTER);
    wait_gone(&mut person, "no further match");
    wait_row(&mut person, &["amber"]);
}

#[test]
fn budget_of_a_handoff_is_checked_before_anything_happens() {
    let world = world();
    start(&world, "fox");
    let mut person = open(&world, ROWS, COLUMNS);
    person.wait_for("I will remember amber.");
    person.write("h");
    person.wait_for("Hand fox over");
    person.write([TAB, TAB].concat());
    person.write("much");
    person.write(ENTER);
    person.wait_for("`much` is not a number");
    fill(&mut person, "20000");
    person.write(ENTER);
    person.wait_for("Enter hand over");
    person.write(ESCAPE);
    wait_gone(&mut person, "Enter hand over");
    assert_eq!(world.sessions().len(), 1);
}
