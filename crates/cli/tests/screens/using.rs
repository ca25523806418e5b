//! What a person does with the UI, from the first agent to a handoff.

use segue_testkit::{Terminal, scene};

use crate::{DETACH, ENTER, ESCAPE, open, row_with, start, wait_gone, wait_row, world};

const ROWS: u16 = 40;
const COLUMNS: u16 = 120;

#[test]
fn empty_screen_starts_three_demo_agents_of_which_one_asks() {
    let world = world();
    let mut person = open(&world, ROWS, COLUMNS);
    person.wait_for("1 try three demo agents");
    person.write("1");
    person.wait_for("Needs you");
    wait_row(&mut person, &["owl", "permission", "1 yes"]);
    wait_row(&mut person, &["fox", "idle"]);
    person.write("q");
    assert_eq!(person.wait(), 0);
    assert_eq!(world.sessions().len(), 3);
}

#[test]
fn question_is_answered_from_the_list_after_it_was_shown() {
    let world = world();
    start(&world, "fox");
    world.ok(["run", "-d", "--name", "owl", "/ask"]);
    let mut person = open(&world, ROWS, COLUMNS);
    person.wait_for("1 needs you");
    person.write("n1");
    person.wait_for("Answer owl");
    wait_row(&mut person, &["yes", "to:"]);
    person.write(ESCAPE);
    wait_gone(&mut person, "Answer owl");
    assert_eq!(world.session("owl")["status"], "waiting");
    person.write("1");
    person.wait_for("Answer owl");
    person.write(ENTER);
    wait_gone(&mut person, "Needs you");
    scene::wait_session(&world, "owl", |it| it["status"] == "idle");
    assert_eq!(scene::event_texts(&world, "owl", "answered").len(), 1);
}

#[test]
fn exclamation_mark_denies_at_once() {
    let world = world();
    world.ok(["run", "-d", "--name", "owl", "/ask"]);
    let mut person = open(&world, ROWS, COLUMNS);
    person.wait_for("1 needs you");
    person.write("!d");
    wait_gone(&mut person, "Needs you");
    let answered = scene::event_texts(&world, "owl", "answered");
    assert!(answered[0].contains("no"), "{answered:?}");
}

#[test]
fn message_reaches_the_agent_and_stop_and_resume_show_what_they_do() {
    let world = world();
    start(&world, "fox");
    let mut person = open(&world, ROWS, COLUMNS);
    person.wait_for("I will remember amber.");
    person.write("s");
    person.wait_for("Message to fox");
    person.write("what is the word?");
    person.wait_for("what is the word?");
    person.write(ENTER);
    person.wait_for("The word is amber.");
    person.write("x");
    person.wait_for("stops fox; its conversation stays");
    person.write(ENTER);
    wait_row(&mut person, &["fox", "ended (stopped)"]);
    person.write("r");
    person.wait_for("Resume 1 session");
    person.write(ENTER);
    wait_row(&mut person, &["○ fox", "idle"]);
    person.wait_for("resumed after");
    assert_eq!(world.session("fox")["launches"], 2);
}

#[test]
fn attach_and_detach_return_to_the_same_place() {
    let world = world();
    start(&world, "fox");
    start(&world, "owl");
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["owl", "idle"]);
    person.write("j2");
    person.wait_for("default/owl");
    wait_row(&mut person, &["you"]);
    person.write(ENTER);
    person.wait_for("detach with");
    person.write("what is the word?\r");
    person.wait_for("The word is amber.");
    person.write(DETACH);
    person.wait_for("detached from default/owl");
    person.wait_for("default/owl");
    // The conversation is still shown, with the new turn.
    wait_row(&mut person, &["The word is amber."]);
    assert!(row_with(person.screen(), "2 talk").contains("default/owl"));
    person.write("q");
    assert_eq!(person.wait(), 0);
}

#[test]
fn narrow_screen_shows_the_list_alone_and_enter_opens_the_session() {
    let world = world();
    start(&world, "fox");
    let mut person = open(&world, 24, 80);
    wait_row(&mut person, &["fox", "idle"]);
    assert!(!person.contents().contains("1 screen"), "{}", person.contents());
    person.write(ENTER);
    person.wait_for("I will remember amber.");
    person.wait_for("1 screen");
    person.write(ESCAPE);
    wait_gone(&mut person, "1 screen");
    wait_row(&mut person, &["fox", "idle"]);
}

#[test]
fn handoff_shows_what_is_carried_and_continues_in_another_session() {
    let world = world();
    start(&world, "fox");
    let mut person = open(&world, ROWS, COLUMNS);
    person.wait_for("I will remember amber.");
    person.write("h");
    person.wait_for("Hand fox over");
    person.write(ENTER);
    person.wait_for("Enter hand over");
    person.wait_for("no secrets were found in it");
    person.write(ENTER);
    person.wait_for("goes on as");
    wait_row(&mut person, &["○ fox-", "idle"]);
    let handed = world.sessions().into_iter().find(|it| it["name"] == "fox").unwrap();
    assert_eq!(handed["goes_on_as"], "default/fox-demo", "{handed:#}");
}

#[test]
fn palette_and_help_list_the_actions_with_their_keys() {
    let world = world();
    start(&world, "fox");
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["fox", "idle"]);
    person.write("?");
    person.wait_for("before a key: act at once");
    person.write(ESCAPE);
    wait_gone(&mut person, "before a key: act at once");
    person.write(":");
    person.wait_for("type to find");
    person.write("show the log");
    wait_row(&mut person, &["5", "show the log with its evidence"]);
    person.write(ENTER);
    person.wait_for("session_created");
    wait_row(&mut person, &["bound"]);
}

#[test]
fn editor_of_the_user_writes_the_message() {
    let mut world = world();
    world.set("EDITOR", "printf 'what is the word?' >");
    start(&world, "fox");
    let mut person = open(&world, ROWS, COLUMNS);
    person.wait_for("I will remember amber.");
    person.write("s");
    person.wait_for("Message to fox");
    person.write("\x05");
    wait_row(&mut person, &["│ what is the word?"]);
    person.write(ENTER);
    person.wait_for("The word is amber.");
}

#[test]
fn mouse_click_selects_a_session() {
    let world = world();
    start(&world, "fox");
    start(&world, "owl");
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["owl", "idle"]);
    let line = person.contents().lines().position(|it| it.contains("○ owl")).unwrap();
    click(&mut person, 6, line + 1);
    person.wait_for("default/owl");
    let tab = row_with(person.screen(), "5 log");
    let column = tab.chars().count() - "5 log ".chars().count();
    let line = person.contents().lines().position(|it| it.contains("5 log")).unwrap();
    click(&mut person, column, line + 1);
    person.wait_for("session_created");
}

/// Clicks at a column and a row, both counted from 1.
fn click(person: &mut Terminal, column: usize, row: usize) {
    person.write(format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"));
}

#[test]
fn segue_status_prints_the_overview_on_a_terminal() {
    let world = world();
    start(&world, "fox");
    let mut person = Terminal::start(&world.command(["status"]), ROWS, COLUMNS);
    assert_eq!(person.wait(), 0);
    assert!(person.contents().contains("1 session in"), "{}", person.contents());
    assert!(world.ok([]).contains("1 session in"));
}
