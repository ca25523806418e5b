//! Mistakes of users: each error message names the mistake, its reason and a remedy. Nothing is
//! started or lost.

mod control_sequences;
mod folders;
mod full_disk;
mod names;
mod project_file;
mod prompts;
mod secrets;
mod segue_home;
mod settings;
mod unprivileged;

use std::fs;

use segue_testkit::{CommandOutcome, Terminal, World};

/// Checks that a command was refused: its exit status, the beginning of its error message, and that
/// a hint follows.
#[track_caller]
fn assert_refused(outcome: &CommandOutcome, status: i32, error: &str) {
    assert_eq!((outcome.status, outcome.stdout.as_str()), (status, ""), "{outcome:#?}");
    assert!(outcome.stderr.starts_with(&format!("error: {error}")), "{outcome:#?}");
    assert!(outcome.stderr.contains("\nhint: "), "{outcome:#?}");
}

/// Checks that there is no session, no launch folder, and no process except one daemon.
#[track_caller]
fn assert_nothing_started(world: &World) {
    assert_eq!(world.sessions(), Vec::<serde_json::Value>::new());
    let launches = fs::read_dir(world.state().join("launches")).unwrap();
    assert_eq!(launches.count(), 0);
    assert_eq!(world.processes().len(), 1, "{:?}", world.processes());
}

/// Attaches to a session, asks for its word, and detaches. The question must not have been asked
/// before.
#[track_caller]
fn assert_answers(world: &World, name: &str, question: &str, word: &str) {
    let mut terminal = Terminal::start(&world.command(["attach", name]), 24, 80);
    terminal.wait_for("> ");
    terminal.write(format!("{question}\r"));
    let answer = format!("The word is {word}.");
    terminal.wait_until(&answer, |screen| {
        let contents = screen.contents();
        contents.split_once(question).is_some_and(|(_, after)| after.contains(&answer))
    });
    terminal.write("\u{1c}d");
    assert_eq!(terminal.wait(), 0, "{}", terminal.contents());
}
