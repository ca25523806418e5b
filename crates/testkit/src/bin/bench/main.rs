//! What things cost, each against a baseline that is measured in the same run.
//!
//! `bench` measures everything, `bench WORD…` only the measures whose name holds one of the words.
//! It runs the `segue` beside it in worlds of their own, and leaves nothing behind.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(clippy::print_stderr, reason = "a person at a terminal sees what takes its time")]
#![expect(clippy::expect_used, reason = "a measure that cannot be taken shall say why and stop")]
#![expect(clippy::panic, reason = "a measure that cannot be taken shall say why and stop")]

mod alone;
mod archive;
mod bare;
mod conversations;
mod figures;
mod fleet;
mod foreign;
mod idle;
mod lists;
mod output;
mod recording;
mod restore;
mod starts;
mod table;
mod talk;
mod timing;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use table::{Row, Table};

/// One thing that is measured: its name for the filter, and how.
type Measure = (&'static str, fn(&Path) -> Vec<Row>);

const MEASURES: [Measure; 11] = [
    ("run", starts::measure),
    ("ls", lists::measure),
    ("resume", restore::measure),
    ("idle", idle::measure),
    ("output", output::measure),
    ("send hook", talk::measure),
    ("adopt", foreign::measure),
    ("archive", archive::measure),
    ("show", conversations::ends),
    ("requests", conversations::among_requests),
    ("handoff", conversations::conversions),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((_, rest)) = words.split_first().filter(|(first, _)| *first == "alone") {
        println!("{}", alone::work(&rest.iter().map(String::as_str).collect::<Vec<_>>()));
        return;
    }
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(&**word));
    let chosen: Vec<Measure> = MEASURES.into_iter().filter(|(name, _)| wanted(name)).collect();
    if chosen.is_empty() {
        let names = MEASURES.map(|(name, _)| name);
        println!("nothing is called `{}`; there are: {}", words.join(" "), names.join(", "));
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
    print!("{table}\n{}", surroundings());
}

/// Says on what it was measured: a machine that is busy with other things gives other figures.
fn surroundings() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    format!("{cores} cores, load {load} at the end; times are medians\n")
}

/// Returns the product's program, which was built beside this one.
fn segue() -> PathBuf {
    let own = std::env::current_exe().expect("this program");
    let program = own.with_file_name("segue");
    assert!(program.is_file(), "there is no {}: build it first", program.display());
    program
}
