//! The README's tour, word for word, as a person at a shell runs it.

use std::process::Command;

use segue_testkit::readme::{TourStep, TourWorld, steps, without_age};
use segue_testkit::{Terminal, files, isolated};

const PICTURE: &str = include_str!("../../../../docs/images/tour.svg");
const VENDORS: [&str; 6] = ["claude", "codex", "copilot", "gemini", "opencode", "pi"];
const DETACH: &str = "\x1cd";

/// A shell in `~/src/shop`, with `segue` and the programs of vendors on its `PATH`.
struct TourShell(TourWorld);

impl TourShell {
    fn new(vendors: &[&str]) -> Self {
        let tour = TourWorld::new(env!("CARGO_BIN_EXE_segue"));
        for vendor in vendors {
            let script = "#!/bin/sh\ntouch ~/a-vendor-was-started\n";
            files::write_program(&tour.programs().join(vendor), script);
        }
        Self(tour)
    }

    fn command(&self, text: &str) -> Command {
        let mut shell = self.0.command("bash");
        shell.args(["-c", &format!("{{ {text}\n}} 2>&1")]);
        shell
    }

    /// Returns the lines that a command prints. Every age in them is replaced by the README's `0s`.
    fn lines(&self, text: &str) -> Vec<String> {
        let output = self.command(text).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        printed.lines().map(|line| without_age(line.trim_end())).collect()
    }
}

fn take_the_tour(vendors: &[&str]) {
    let shell = TourShell::new(vendors);
    let steps = steps();
    let (attach, others) = steps.split_last().unwrap();
    for TourStep { command, shown } in others {
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
    assert!(!shell.0.world.home().join("a-vendor-was-started").exists());
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

/// Returns the rows of the picture's text, each without its position, colours and repeated spaces.
fn rows_of_picture() -> Vec<String> {
    let rows = PICTURE.lines().filter(|line| line.starts_with("<text "));
    rows.map(|row| {
        let pieces = row.split('<').filter_map(|piece| piece.split_once('>'));
        let text: Vec<&str> = pieces.map(|(_, text)| text).collect();
        let text = text.join(" ").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        with_single_spaces(&text)
    })
    .collect()
}

fn with_single_spaces(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    without_age(&words.join(" "))
}

#[test]
fn picture_shows_the_commands_and_the_output_of_the_tour() {
    let rows = rows_of_picture();
    let steps = steps();
    let (_attach, others) = steps.split_last().unwrap();
    for TourStep { command, shown } in others {
        for line in [format!("$ {command}")].iter().chain(shown) {
            let line = with_single_spaces(line);
            assert!(rows.contains(&line), "run `make picture`: it has no {line:?}: {rows:#?}");
        }
    }
    assert!(rows.iter().any(|row| row == "The word is amber."), "{rows:#?}");
}
