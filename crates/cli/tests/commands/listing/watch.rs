//! `segue ls --watch`.

use std::io::{BufRead as _, BufReader};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};

use segue_testkit::world::DEADLINE;
use segue_testkit::{Terminal, World, processes, scene};
use serde_json::Value;

use super::agents;

const CTRL_C: &str = "\u{3}";

/// A running `segue ls --watch` whose output a test reads.
struct RunningWatch {
    child: Child,
    lines: Receiver<String>,
}

impl RunningWatch {
    fn start<const N: usize>(world: &World, arguments: [&str; N]) -> Self {
        let mut child = world.start(arguments);
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// Waits for the first line that `is_wanted` accepts, and returns it.
    fn wait_for(&self, what: &str, is_wanted: impl Fn(&str) -> bool) -> String {
        loop {
            let line = self.lines.recv_timeout(DEADLINE);
            let line = line.unwrap_or_else(|error| panic!("no line with {what}: {error}"));
            if is_wanted(&line) {
                return line;
            }
        }
    }

    fn wait_status(&self, name: &str, status: &str) -> Value {
        let is_wanted = |line: &str| {
            let session: Value = serde_json::from_str(line).unwrap();
            session["name"] == name && session["status"] == status
        };
        serde_json::from_str(&self.wait_for(status, is_wanted)).unwrap()
    }

    /// Sends SIGINT. Returns the exit status.
    fn interrupt(mut self) -> i32 {
        processes::send(self.child.id(), rustix::process::Signal::INT);
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for RunningWatch {
    fn drop(&mut self) {
        // The process has ended already if the test got that far.
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

#[test]
fn ls_watch_prints_a_line_for_each_change_and_survives_a_daemon_restart() {
    let world = agents(&["fox"]);
    let watch = RunningWatch::start(&world, ["ls", "--watch", "--json"]);
    let first = watch.wait_status("fox", "idle");
    assert_eq!(first["address"], "default/fox");
    watch.wait_for("the end of the list", |line| line == r#"{"daemon":"running"}"#);
    world.ok(["run", "-d", "--name", "owl", "hello"]);
    watch.wait_status("owl", "idle");
    scene::kill_daemon(&world);
    watch.wait_for("the end", |line| line == r#"{"daemon":"ended"}"#);
    world.ok(["stop", "owl"]);
    watch.wait_status("owl", "ended");
    world.ok(["rm", "owl", "--yes"]);
    let gone = watch.wait_for("gone", |line| line.contains("\"outcome\":\"gone\""));
    let gone: Value = serde_json::from_str(&gone).unwrap();
    assert_eq!(gone["address"], "default/owl");
    assert_eq!(watch.interrupt(), 0);
}

#[test]
fn following_commands_end_with_the_program_that_reads_them_although_nothing_changes() {
    let world = agents(&["fox"]);
    for command in [["ls", "--watch", "--json"], ["show", "fox", "--follow"]] {
        let mut child = world.start(command);
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut String::new()).unwrap();
        drop(output);
        assert!(child.wait().unwrap().success(), "{command:?}");
    }
}

#[test]
fn ls_json_reports_why_a_session_needs_a_person() {
    let world = agents(&["fox"]);
    let watch = RunningWatch::start(&world, ["ls", "--watch", "--json"]);
    assert_eq!(watch.wait_status("fox", "idle")["attention"], Value::Null);
    world.ok(["send", "fox", "--no-wait", "/ask"]);
    assert_eq!(watch.wait_status("fox", "waiting")["attention"], "permission");
    let listed = world.json(["ls", "--json"]);
    assert_eq!(listed["sessions"][0]["attention"], "permission");
    assert_eq!(watch.interrupt(), 0);
}

#[test]
fn ls_watch_reports_that_the_daemon_has_ended_and_starts_none() {
    let world = agents(&["fox"]);
    let mut person = Terminal::start(&world.command(["ls", "--watch"]), 10, 80);
    person.wait_for("default/fox");
    world.ok(["daemon", "stop"]);
    person.wait_for("the daemon has ended: any other command starts it");
    assert!(person.contents().contains("default/fox"), "{person:?}");
    assert_eq!(world.json(["daemon", "status", "--json"])["running"], false);
    world.ok(["stop", "fox"]);
    person.wait_until("the list of the next daemon", |screen| {
        let shown = screen.contents();
        shown.contains("ended (stopped)") && !shown.contains("the daemon has ended")
    });
    person.write(CTRL_C);
    assert_eq!(person.wait(), 0, "{person:?}");
}

#[test]
fn ls_watch_without_a_terminal_prints_text_and_applies_filters() {
    let world = agents(&["fox"]);
    let watch = RunningWatch::start(&world, ["ls", "--watch", "--status", "idle"]);
    let first = watch.wait_for("fox", |line| line.contains("default/fox"));
    assert!(first.starts_with("default/fox  demo  idle  "), "{first}");
    world.ok(["stop", "fox"]);
    assert_eq!(watch.wait_for("gone", |line| line.contains("gone")), "default/fox  gone");
    assert_eq!(watch.interrupt(), 0);
}

#[test]
fn ls_watch_redraws_in_place_and_restores_the_terminal() {
    let world = agents(&["fox"]);
    let mut person = Terminal::start(&world.command(["ls", "--watch"]), 10, 80);
    let before = person.settings();
    person.wait_until("the list", |screen| screen.contents().contains("idle"));
    assert!(person.screen().alternate_screen() && person.screen().hide_cursor(), "{person:?}");
    world.ok(["stop", "fox"]);
    person.wait_until("the change", |screen| screen.contents().contains("ended (stopped)"));
    assert_eq!(person.contents().matches("default/fox").count(), 1, "{person:?}");
    person.write(CTRL_C);
    assert_eq!(person.wait(), 0, "{person:?}");
    assert!(!person.screen().alternate_screen() && !person.screen().hide_cursor(), "{person:?}");
    assert_eq!(person.settings().local_modes, before.local_modes);
}

#[test]
fn ls_watch_reports_an_invalid_filter_before_it_draws() {
    let world = agents(&["fox"]);
    let mut person =
        Terminal::start(&world.command(["ls", "--watch", "--fleet", "nobody"]), 10, 80);
    assert_eq!(person.wait(), 3, "{person:?}");
    assert!(person.contents().contains("there is no fleet `nobody`"), "{person:?}");
}
