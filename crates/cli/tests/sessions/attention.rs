//! Segue runs the attention command if a session needs a person: once for each reason, in parallel to
//! all other work, and without a shell.

use std::fs;
use std::path::PathBuf;

use segue_testkit::{World, conversation, files, launches, scene};

/// The name of the attention command. The space shows that no shell splits it.
const SCRIPT: &str = "tell me";

/// Creates a world whose attention command appends one line per call to a file. Returns both.
fn world() -> (World, PathBuf) {
    let world = crate::world();
    let (script, calls) = (world.root().join(SCRIPT), world.root().join("calls"));
    fs::create_dir(&calls).unwrap();
    let file = calls.join("all");
    let text = format!(
        "#!/bin/sh\necho \"$1|$SEGUE_SESSION|$SEGUE_NAME|$SEGUE_AGENT|$SEGUE_FLEET|$SEGUE_REASON\" >> '{}'\n",
        file.display()
    );
    files::write_program(&script, &text);
    let settings = format!(
        "[attention]\ndesktop = false\ncommand = [\"{}\", \"$(touch broken)\"]\n",
        script.display()
    );
    fs::write(world.segue_home().join("config.toml"), settings).unwrap();
    (world, file)
}

fn calls(file: &PathBuf) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Waits until there are at least `count` calls; returns all of them.
fn wait_calls(file: &PathBuf, count: usize) -> Vec<String> {
    let folder = file.parent().unwrap();
    launches::wait_until(&[folder], "a call", || calls(file).len() >= count);
    calls(file)
}

#[test]
fn each_question_calls_the_attention_command_once() {
    let (world, file) = world();
    world.ok(["run", "-d", "--name", "a", "/ask"]);
    let before = wait_calls(&file, 1);
    let id = world.session("a")["id"].as_str().unwrap().to_owned();
    assert_eq!(before, [format!("$(touch broken)|{id}|default/a||default|permission")]);
    world.ok(["answer", "a", "yes"]);
    world.ok(["wait", "a", "--for", "idle"]);
    // A new daemon does not call about a session that is still as the previous daemon left it.
    scene::kill_daemon(&world);
    world.ok(["send", "a", "/ask"]);
    let before = wait_calls(&file, 2);
    scene::kill_daemon(&world);
    world.ok(["wait", "a", "--for", "waiting"]);
    world.ok(["answer", "a", "no"]);
    world.ok(["wait", "a", "--for", "idle"]);
    assert_eq!(calls(&file), before);
    assert!(!world.project().join("broken").exists(), "a shell evaluated the argument");
}

#[test]
fn refused_account_and_crash_loop_call_the_attention_command() {
    let (mut world, file) = world();
    world.ok(["run", "-d", "--name", "loop", "hello"]);
    for launches in 1..=3 {
        let session = scene::wait_session(&world, "loop", |session| {
            session["launches"] == launches && session["status"] == "idle"
        });
        conversation::type_text(&world, &session, "/crash\r");
    }
    let calls = wait_calls(&file, 1);
    assert!(calls[0].ends_with("|default/loop||default|choice"), "{calls:?}");
    world.set("SEGUE_DEMO_KEY", "rejected");
    world.segue(["run", "--headless", "--name", "key", "hello"]);
    let calls = wait_calls(&file, 2);
    assert!(calls[1].ends_with("|default/key||default|account"), "{calls:?}");
}

#[test]
fn missing_attention_command_does_not_disturb_the_session() {
    let (world, _) = world();
    let settings = "[attention]\ncommand = [\"/nowhere/at-all\"]\n";
    fs::write(world.segue_home().join("config.toml"), settings).unwrap();
    world.ok(["run", "-d", "--name", "a", "/ask"]);
    world.ok(["wait", "a", "--for", "waiting"]);
    world.ok(["answer", "a", "yes"]);
    world.ok(["wait", "a", "--for", "idle"]);
}

#[test]
fn question_is_sent_to_notify_send_if_it_is_installed() {
    let (mut world, _) = world();
    fs::remove_file(world.segue_home().join("config.toml")).unwrap();
    let (bin, shown) = (world.root().join("bin"), world.root().join("calls/shown"));
    let text = format!("#!/bin/sh\nprintf '%s|' \"$@\" > '{}'\n", shown.display());
    files::write_program(&bin.join("notify-send"), &text);
    world.set("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
    world.ok(["run", "-d", "--name", "a", "/ask"]);
    let folder = shown.parent().unwrap();
    let arguments = || fs::read_to_string(&shown).unwrap_or_default();
    launches::wait_until(&[folder], "a notification", || arguments().ends_with("]|"));
    let question = world.session("a")["dialog"]["question"].as_str().unwrap().to_owned();
    assert!(!question.is_empty());
    let body = format!("{question} [1 yes, 2 no]");
    assert_eq!(arguments(), format!("--app-name=segue|--|default/a asks for permission|{body}|"));
}

#[test]
fn command_gets_the_question_its_choices_and_the_command_that_answers_it() {
    let (world, file) = world();
    let script = world.root().join(SCRIPT);
    let text = format!(
        "#!/bin/sh\nprintf '%s|' \"$SEGUE_DETAIL\" \"$SEGUE_QUESTION\" \"$SEGUE_CHOICES\" \
         \"$SEGUE_ANSWER\" > '{0}.tmp'; mv '{0}.tmp' '{0}'\n",
        file.display()
    );
    fs::write(script, text).unwrap();
    world.ok(["run", "-d", "--name", "a", "/question"]);
    wait_calls(&file, 1);
    let dialog = world.session("a")["dialog"].clone();
    let question = dialog["question"].as_str().unwrap();
    let command = format!("segue answer default/a 1 --question {}", dialog["id"].as_str().unwrap());
    let expected =
        format!("{question} [1 red, 2 green, 3 blue]|{question}|red\ngreen\nblue|{command}|");
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
}
