//! Benchmarks of Segue. Most are compared with a baseline that is measured in the same run.
//!
//! `bench` runs all benchmarks, `bench WORD…` only those whose name contains one of the words. It
//! uses the `segue` program in its own folder, runs it in temporary worlds, and leaves no files or
//! processes behind.
#![expect(clippy::print_stdout, reason = "the table of results is printed on standard output")]
#![expect(clippy::print_stderr, reason = "a person at a terminal sees the progress")]
#![expect(clippy::expect_used, reason = "a failed benchmark must print the reason and stop")]
#![expect(clippy::panic, reason = "a failed benchmark must print the reason and stop")]

mod alone;
mod archive;
mod bare;
mod conversations;
mod deliveries;
mod figures;
mod fleet;
mod foreign;
mod idle;
mod idle_tasks;
mod lists;
mod mcp;
mod no_credentials;
mod output;
mod past;
mod plans;
mod recording;
mod redaction;
mod restore;
mod screen;
mod starts;
mod streams;
mod table;
mod talk;
mod tasks;
mod timing;
mod web;
mod worktrees;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use table::{Row, Table};

/// A benchmark: the name for the filter, and the function that returns its rows of the table.
type Measure = (&'static str, fn(&Path) -> Vec<Row>);

const MEASURES: [Measure; 22] = [
    ("run", starts::measure),
    ("ls", lists::measure),
    ("past", past::measure),
    ("resume", restore::measure),
    ("idle", idle::measure),
    ("idle tasks", idle_tasks::measure),
    ("output", output::measure),
    ("send hook", talk::measure),
    ("adopt", foreign::measure),
    ("archive", archive::measure),
    ("show", conversations::ends),
    ("requests", conversations::among_requests),
    ("handoff", conversations::conversions),
    ("redaction", redaction::measure),
    ("task", tasks::measure),
    ("plan", plans::measure),
    ("worktree", worktrees::measure),
    ("delivery", deliveries::measure),
    ("streams", streams::measure),
    ("tui", screen::measure),
    ("web", web::measure),
    ("mcp", mcp::measure),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == ["alone", mcp::ECHO] {
        return mcp::serve_echo();
    }
    if let Some((_, rest)) = words.split_first().filter(|(first, _)| *first == "alone") {
        println!("{}", alone::work(&rest.iter().map(String::as_str).collect::<Vec<_>>()));
        return;
    }
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(&**word));
    let chosen: Vec<Measure> = MEASURES.into_iter().filter(|(name, _)| wanted(name)).collect();
    if chosen.is_empty() {
        let names = MEASURES.map(|(name, _)| name);
        println!("no benchmark is called `{}`; there are: {}", words.join(" "), names.join(", "));
        return;
    }
    let program = segue();
    let mut table = Table::default();
    for (name, measure) in chosen {
        if std::io::stderr().is_terminal() {
            eprintln!("measuring {name} …");
        }
        table.extend(measure(&program));
    }
    print!("{table}\n{}", machine_state());
}

/// Describes the machine and its load, because a busy machine yields other results.
fn machine_state() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    format!("{cores} cores, load {load} at the end; times are medians\n")
}

/// Returns the path of the `segue` program, which must be in the same folder as this program.
fn segue() -> PathBuf {
    let own = std::env::current_exe().expect("this program");
    let program = own.with_file_name("segue");
    assert!(program.is_file(), "there is no {}: build it first", program.display());
    program
}
