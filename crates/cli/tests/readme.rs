//! The README's tour, word for word, as a person at a shell runs it.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

use segue_testkit::{Terminal, World, isolated};

const README: &str = include_str!("../../../README.md");
const TOUR: &str = "## A tour in sixty seconds";
const VENDORS: [&str; 6] = ["claude", "codex", "copilot", "gemini", "opencode", "pi"];
const DETACH: &str = "\x1cd";

/// A command of the tour, and the lines that the README shows below it.
#[derive(Debug)]
struct Step {
    command: String,
    shown: Vec<String>,
}

/// Returns the steps of the tour's first block.
fn steps() -> Vec<Step> {
    let (_, tour) = README.split_once(TOUR).unwrap();
    let (_, block) = tour.split_once("```console\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let mut steps: Vec<Step> = Vec::new();
    for line in block.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("$ ") {
            Some(command) => {
                steps.push(Step { command: command.to_owned(), shown: Vec::new() });
            }
            None => steps.last_mut().unwrap().shown.push(line.to_owned()),
        }
    }
    steps
}

/// A shell in `~/src/shop`, with `segue` and the programs of vendors on its `PATH`.
struct Shell {
    world: World,
    folder: PathBuf,
}

impl Shell {
    fn new(vendors: &[&str]) -> Self {
        let mut world = World::new(env!("CARGO_BIN_EXE_segue"));
        let programs = world.root().join("bin");
        let folder = world.home().join("src/shop");
        fs::create_dir(&programs).unwrap();
        fs::create_dir_all(&folder).unwrap();
        symlink(world.program(), programs.join("segue")).unwrap();
        for vendor in vendors {
            let program = programs.join(vendor);
            fs::write(&program, "#!/bin/sh\ntouch ~/a-vendor-was-started\n").unwrap();
            fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        world.set("PATH", format!("{}:/usr/bin:/bin", programs.display()));
        Self { world, folder }
    }

    fn command(&self, text: &str) -> Command {
        let mut shell = Command::new("bash");
        shell.args(["-c", &format!("{{ {text}\n}} 2>&1")]).current_dir(&self.folder);
        shell.env_clear().envs(self.world.environment());
        shell
    }

    /// Returns the lines that a command prints. Every age in them is replaced by the README's `0s`.
    fn lines(&self, text: &str) -> Vec<String> {
        let output = self.command(text).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        printed.lines().map(|line| without_age(line.trim_end())).collect()
    }
}

/// Replaces the seconds in the column `SINCE`. On a loaded machine they are more than zero.
fn without_age(line: &str) -> String {
    let is_age = |word: &&str| {
        word.strip_suffix('s').is_some_and(|count| count.parse::<u32>().is_ok_and(|it| it < 60))
    };
    match line.split(' ').find(is_age) {
        Some(age) => {
            let width = age.len();
            line.replacen(&format!(" {age} "), &format!(" {:width$} ", "0s"), 1)
        }
        None => line.to_owned(),
    }
}

fn take_the_tour(vendors: &[&str]) {
    let shell = Shell::new(vendors);
    let steps = steps();
    let (attach, others) = steps.split_last().unwrap();
    for Step { command, shown } in others {
        assert_eq!(shell.lines(command), *shown, "$ {command}");
        if command.starts_with("segue run ") {
            // A person types more slowly than this test, so the agent is idle by then.
            shell.lines("segue wait fox --for idle");
        }
    }
    assert!(attach.command.starts_with("segue attach fox "), "{attach:?}");
    let mut person = Terminal::start(&shell.command(&attach.command), 24, 80);
    person.wait_for("resumed after");
    person.write("what is the word?\r");
    person.wait_for("The word is amber.");
    person.write(DETACH);
    assert_eq!(person.wait(), 0);
    assert!(!shell.world.home().join("a-vendor-was-started").exists());
}

#[test]
fn tour_runs_word_for_word_with_no_vendor_installed() {
    isolated(|| take_the_tour(&[]));
}

#[test]
fn tour_runs_word_for_word_with_one_vendor_installed() {
    isolated(|| take_the_tour(&VENDORS[..1]));
}

#[test]
fn tour_runs_word_for_word_with_six_vendors_installed() {
    isolated(|| take_the_tour(&VENDORS));
}
