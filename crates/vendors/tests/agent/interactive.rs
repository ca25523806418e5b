//! The demo agent at a terminal.

use rustix::process::Signal;

use super::terminal::AgentTerminal;
use super::trial::{ForeignProcess, Trial};

fn status(trial: &Trial) -> String {
    trial.live()[0]["status"].as_str().unwrap().to_owned()
}

fn id(trial: &Trial) -> String {
    trial.live()[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn ctrl_d_ends_the_agent_and_restores_the_terminal() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["--session-id", "a1"]);
    terminal.until_title("demo: idle");
    assert_eq!((status(&trial).as_str(), id(&trial).as_str()), ("idle", "a1"));
    assert_eq!(trial.live()[0]["pid"], terminal.pid());
    assert_eq!(trial.conversations(), 0, "nothing was said yet");
    assert!(!terminal.is_cooked() && terminal.screen().bracketed_paste());
    terminal.say("remember the wordd\x7f 日本語");
    terminal.until("● I will remember 日本語.");
    terminal.until_title("demo: idle");
    terminal.send("\x04");
    assert_eq!(terminal.end().code(), Some(0));
    assert!(trial.live().is_empty());
    assert!(terminal.is_cooked() && !terminal.screen().bracketed_paste());
    let kinds: Vec<_> = trial.records("a1").iter().map(|record| record["type"].clone()).collect();
    assert_eq!(kinds, ["session", "user", "assistant", "turn_end"]);
}

#[test]
fn resume_after_sigkill_remembers_the_conversation() {
    let trial = Trial::new();
    let mut terminal =
        AgentTerminal::open(&trial, &["--session-id", "a1", "remember the word fox"]);
    terminal.until("I will remember fox.");
    terminal.say("/hang");
    terminal.until("working, ctrl-c interrupts");
    terminal.signal(Signal::KILL);
    assert_eq!(terminal.end().code(), None);
    assert_eq!(status(&trial), "working", "a crash leaves the registry entry");
    assert_eq!(trial.records("a1").last().unwrap()["text"], "/hang");
    let mut terminal = AgentTerminal::open(&trial, &["--resume", "a1", "--", "which word?"]);
    terminal.until("The word is fox.");
    terminal.say("/exit");
    assert_eq!(terminal.end().code(), Some(0));
    assert_eq!(trial.live().len(), 1, "only its own entry is removed");
}

#[test]
fn a_pasted_message_of_many_lines_is_one_message() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["--session-id", "a1"]);
    terminal.until_title("demo: idle");
    terminal.send("\x1b[200~first line\nsecond line\x1b[201~");
    terminal.until("> first line⏎second line");
    terminal.send("\r");
    terminal.until("1 message from you");
    terminal.until_title("demo: idle");
    assert_eq!(trial.records("a1")[1]["text"], "first line\nsecond line");
}

#[test]
fn permission_and_question_dialogs_wait_for_an_answer() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["/ask"]);
    terminal.until("│ Allow? 1 yes 2 no │");
    terminal.until_title("demo: asks");
    assert_eq!(status(&trial), "waiting_permission");
    terminal.send("typed into a dialog: lost".replace(['y', 'n'], ""));
    terminal.send("\x1b");
    terminal.until("I left notes.txt as it was.");
    terminal.until_title("demo: idle");
    assert_eq!(status(&trial), "idle");
    terminal.say("/question");
    terminal.until("│ Which colour? 1 red 2 green 3 blue │");
    assert_eq!(status(&trial), "waiting_question");
    terminal.send("3");
    terminal.until("You chose blue.");
}

#[test]
fn trust_question_is_not_asked_again_after_yes() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["--ask-trust", "hi"]);
    terminal.until("Do you trust this folder? 1 yes 2 no, exit");
    assert_eq!((status(&trial).as_str(), trial.conversations()), ("waiting_trust", 0));
    terminal.send("2");
    assert_eq!(terminal.end().code(), Some(1));
    let mut terminal = AgentTerminal::open(&trial, &["--ask-trust", "hi"]);
    terminal.until("Do you trust this folder?");
    terminal.send("\r");
    terminal.until("1 message from you");
    drop(terminal);
    let mut terminal = AgentTerminal::open(&trial, &["--ask-trust", "hi"]);
    terminal.until("1 message from you");
}

#[test]
fn ctrl_c_and_escape_interrupt_a_turn() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["--session-id", "a1", "/hang"]);
    terminal.until_title("demo: working");
    terminal.say("are you there?");
    terminal.send("\x03");
    terminal.until("2 messages from you");
    terminal.say("/slow 600");
    terminal.until("> /slow 600");
    terminal.send("\x1b");
    terminal.until_screen("a second interruption", |terminal| {
        terminal.contents().matches("[interrupted]").count() == 2
    });
    terminal.say("/slow 0.05");
    terminal.until("● Slowly but surely: This conversation has 4 messages");
    terminal.until_title("demo: idle");
    assert_eq!(trial.records("a1").last().unwrap()["type"], "turn_end");
}

#[test]
fn a_terminated_agent_exits_with_0_and_cleans_up() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["/hang"]);
    terminal.until_title("demo: working");
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.end().code(), Some(0));
    assert!(trial.live().is_empty() && terminal.is_cooked());
}

#[test]
fn a_terminal_that_goes_away_ends_the_agent() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &[]);
    terminal.until_title("demo: idle");
    terminal.hang_up().end();
    assert!(trial.live().is_empty());
}

#[test]
fn a_cleared_conversation_has_another_id_in_the_same_process() {
    let trial = Trial::new();
    let mut terminal =
        AgentTerminal::open(&trial, &["--session-id", "a1", "remember the word fox"]);
    terminal.until("I will remember fox.");
    terminal.say("/clear");
    terminal.until("new conversation");
    let (cleared, live) = (id(&trial), trial.live());
    assert_ne!(cleared, "a1");
    assert_eq!(live[0]["pid"], terminal.pid());
    assert_eq!(trial.conversations(), 1);
    terminal.say("which word?");
    terminal.until("I was told no word");
    assert_eq!(trial.records(&cleared)[0]["id"], cleared.as_str());
    assert_eq!(trial.records("a1").len(), 4);
}

#[test]
fn resize_redraws_the_screen() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["/fill 50"]);
    terminal.until("line 00050");
    terminal.until_title("demo: idle");
    terminal.resize(30, 8);
    terminal.until_screen("the last lines in 30 columns", |terminal| {
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
    terminal.until("alternate screen on");
    assert!(terminal.screen().alternate_screen());
    terminal.say("/mouse");
    terminal.until("mouse reports on");
    terminal.send("\x1b[<0;10;5M");
    terminal.until("mouse 0;10;5M");
    terminal.say("/title of my own");
    terminal.until_title("of my own");
    terminal.say("/bell");
    terminal.until_screen("a bell", |terminal| terminal.bells() == 1);
    terminal.say("/exit");
    assert_eq!(terminal.end().code(), Some(0));
    let screen = terminal.screen();
    assert!(!screen.alternate_screen());
    assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
}

#[test]
fn a_tool_is_ended_when_its_turn_is_interrupted() {
    let trial = Trial::new();
    let mut terminal = AgentTerminal::open(&trial, &["/tool 60"]);
    terminal.until("$ sleep 60");
    terminal.until("working, ctrl-c interrupts");
    let children = format!("/proc/{0}/task/{0}/children", terminal.pid());
    let number = std::fs::read_to_string(&children).unwrap().trim().parse().unwrap();
    let _ended_with_the_test = ForeignProcess::find(number);
    terminal.send("\x03");
    terminal.until("[interrupted]");
    assert_eq!(std::fs::read_to_string(&children).unwrap(), "");
}
