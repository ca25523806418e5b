//! Tests the demo agent at a terminal.

use rustix::process::Signal;

use super::terminal::AgentTerminal;
use super::trial::{ForeignProcess, Trial};

fn status(trial: &Trial) -> String {
    trial.live_entries()[0]["status"].as_str().unwrap().to_owned()
}

fn id(trial: &Trial) -> String {
    trial.live_entries()[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn ctrl_d_ends_the_agent_and_restores_the_terminal() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["--session-id", "a1"]);
    terminal.wait_for_title("demo: idle");
    assert_eq!((status(&trial).as_str(), id(&trial).as_str()), ("idle", "a1"));
    assert_eq!(trial.live_entries()[0]["pid"], terminal.pid());
    assert_eq!(trial.conversation_count(), 0, "there is no message yet");
    assert!(!terminal.is_cooked() && terminal.screen().bracketed_paste());
    terminal.send_message("remember the wordd\x7f 日本語");
    terminal.wait_for_text("● I will remember 日本語.");
    terminal.wait_for_title("demo: idle");
    terminal.send("\x04");
    assert_eq!(terminal.wait_for_exit().code(), Some(0));
    assert!(trial.live_entries().is_empty());
    assert!(terminal.is_cooked() && !terminal.screen().bracketed_paste());
    let kinds: Vec<_> = trial.records("a1").iter().map(|record| record["type"].clone()).collect();
    assert_eq!(kinds, ["session", "user", "assistant", "turn_end"]);
}

#[test]
fn resume_after_sigkill_remembers_the_conversation() {
    let trial = Trial::new();
    let mut terminal =
        AgentTerminal::open(&trial, &["--session-id", "a1", "remember the word fox"]);
    terminal.wait_for_text("I will remember fox.");
    terminal.send_message("/hang");
    terminal.wait_for_text("working, ctrl-c interrupts");
    terminal.signal(Signal::KILL);
    assert_eq!(terminal.wait_for_exit().code(), None);
    assert_eq!(status(&trial), "working", "a crash leaves the registry entry");
    assert_eq!(trial.records("a1").last().unwrap()["text"], "/hang");
    let mut terminal = AgentTerminal::open(&trial, &["--resume", "a1", "--", "which word?"]);
    terminal.wait_for_text("The word is fox.");
    terminal.send_message("/exit");
    assert_eq!(terminal.wait_for_exit().code(), Some(0));
    assert_eq!(trial.live_entries().len(), 1, "only its own entry is removed");
}

#[test]
fn a_pasted_message_of_many_lines_is_one_message() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["--session-id", "a1"]);
    terminal.wait_for_title("demo: idle");
    terminal.send("\x1b[200~first line\nsecond line\x1b[201~");
    terminal.wait_for_text("> first line⏎second line");
    terminal.send("\r");
    terminal.wait_for_text("1 message from you");
    terminal.wait_for_title("demo: idle");
    assert_eq!(trial.records("a1")[1]["text"], "first line\nsecond line");
}

#[test]
fn permission_and_question_dialogs_wait_for_an_answer() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["/ask"]);
    terminal.wait_for_text("│ Allow? 1 yes 2 no │");
    terminal.wait_for_title("demo: asks");
    assert_eq!(status(&trial), "waiting_permission");
    terminal.send("typed into a dialog: lost".replace(['y', 'n'], ""));
    terminal.send("\x1b");
    terminal.wait_for_text("I left notes.txt as it was.");
    terminal.wait_for_title("demo: idle");
    assert_eq!(status(&trial), "idle");
    terminal.send_message("/question");
    terminal.wait_for_text("│ Which colour? 1 red 2 green 3 blue │");
    assert_eq!(status(&trial), "waiting_question");
    terminal.send("3");
    terminal.wait_for_text("You chose blue.");
}

#[test]
fn trust_question_is_not_asked_again_after_yes() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["--ask-trust", "hi"]);
    terminal.wait_for_text("Do you trust this folder? 1 yes 2 no, exit");
    assert_eq!((status(&trial).as_str(), trial.conversation_count()), ("waiting_trust", 0));
    terminal.send("2");
    assert_eq!(terminal.wait_for_exit().code(), Some(1));
    let mut terminal = AgentTerminal::open(&trial, &["--ask-trust", "hi"]);
    terminal.wait_for_text("Do you trust this folder?");
    terminal.send("\r");
    terminal.wait_for_text("1 message from you");
    drop(terminal);
    let mut terminal = AgentTerminal::open(&trial, &["--ask-trust", "hi"]);
    terminal.wait_for_text("1 message from you");
}

#[test]
fn ctrl_c_and_escape_interrupt_a_turn() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["--session-id", "a1", "/hang"]);
    terminal.wait_for_title("demo: working");
    terminal.send_message("are you there?");
    terminal.send("\x03");
    terminal.wait_for_text("2 messages from you");
    terminal.send_message("/slow 600");
    terminal.wait_for_text("> /slow 600");
    terminal.send("\x1b");
    terminal.wait_for_screen("a second interruption", |terminal| {
        terminal.contents().matches("[interrupted]").count() == 2
    });
    terminal.send_message("/slow 0.05");
    terminal.wait_for_text("● Slowly but surely: This conversation has 4 messages");
    terminal.wait_for_title("demo: idle");
    assert_eq!(trial.records("a1").last().unwrap()["type"], "turn_end");
}

#[test]
fn a_terminated_agent_exits_with_0_and_cleans_up() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["/hang"]);
    terminal.wait_for_title("demo: working");
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.wait_for_exit().code(), Some(0));
    assert!(trial.live_entries().is_empty() && terminal.is_cooked());
}

#[test]
fn agent_exits_when_its_terminal_closes() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &[]);
    terminal.wait_for_title("demo: idle");
    terminal.hang_up().wait_for_exit();
    assert!(trial.live_entries().is_empty());
}

#[test]
fn clear_changes_the_conversation_id_in_the_same_process() {
    let trial = Trial::new();
    let mut terminal =
        AgentTerminal::open(&trial, &["--session-id", "a1", "remember the word fox"]);
    terminal.wait_for_text("I will remember fox.");
    terminal.send_message("/clear");
    terminal.wait_for_text("new conversation");
    let (cleared, live) = (id(&trial), trial.live_entries());
    assert_ne!(cleared, "a1");
    assert_eq!(live[0]["pid"], terminal.pid());
    assert_eq!(trial.conversation_count(), 1);
    terminal.send_message("which word?");
    terminal.wait_for_text("I was told no word");
    assert_eq!(trial.records(&cleared)[0]["id"], cleared.as_str());
    assert_eq!(trial.records("a1").len(), 4);
}

#[test]
fn resize_redraws_the_screen() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["/fill 50"]);
    terminal.wait_for_text("line 00050");
    terminal.wait_for_title("demo: idle");
    terminal.resize(30, 8);
    terminal.wait_for_screen("the last lines in 30 columns", |terminal| {
        let rows: Vec<String> = terminal.screen().rows(0, 30).collect();
        let is_line = |row: &String| row.starts_with("line 000");
        let lines: Vec<bool> = rows.iter().map(is_line).collect();
        lines == [false, true, false, true, false, true, false, false]
            && rows[5].starts_with("line 00050")
            && rows[7].starts_with('>')
    });
}

#[test]
fn exit_resets_the_terminal_modes_that_were_used() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["/alt"]);
    terminal.wait_for_text("alternate screen on");
    assert!(terminal.screen().alternate_screen());
    terminal.send_message("/mouse");
    terminal.wait_for_text("mouse reports on");
    terminal.send("\x1b[<0;10;5M");
    terminal.wait_for_text("mouse 0;10;5M");
    terminal.send_message("/title of my own");
    terminal.wait_for_title("of my own");
    terminal.send_message("/bell");
    terminal.wait_for_screen("a bell", |terminal| terminal.bells() == 1);
    terminal.send_message("/exit");
    assert_eq!(terminal.wait_for_exit().code(), Some(0));
    let screen = terminal.screen();
    assert!(!screen.alternate_screen());
    assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
}

#[test]
fn a_tool_is_ended_when_its_turn_is_interrupted() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["/tool 60"]);
    terminal.wait_for_text("$ sleep 60");
    terminal.wait_for_text("working, ctrl-c interrupts");
    let children = format!("/proc/{0}/task/{0}/children", terminal.pid());
    let process_id = std::fs::read_to_string(&children).unwrap().trim().parse().unwrap();
    let _ended_with_the_test = ForeignProcess::find(process_id);
    terminal.send("\x03");
    terminal.wait_for_text("[interrupted]");
    assert_eq!(std::fs::read_to_string(&children).unwrap(), "");
}
