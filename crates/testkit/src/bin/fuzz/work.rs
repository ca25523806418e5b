//! Runs cases in this process. A case may crash the process.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use segue_testkit::chance::Chance;
use segue_testkit::memory::peak;

use crate::targets::FuzzTarget;
use crate::{corpus, memory, mutate};

/// The memory that every case may use, in bytes.
const BASE_BYTES: u64 = 48 << 20;

/// A case may also use this many times the length of its longest line, because the line may be
/// parsed into a tree of small values.
const TIMES_LINE_LENGTH: u64 = 48;

/// The memory in bytes that may remain after many cases, because the allocator keeps freed memory
/// for later use.
const REMAINING_BYTES: u64 = 160 << 20;

/// Runs at most `most` cases, starting with the number `first`. Prints the number of each case
/// before it runs.
pub(crate) fn cases(target: FuzzTarget, seed: u64, (first, most): (u64, u64), folder: &Path) {
    let samples = corpus::samples(target);
    let before = memory::reset_peak();
    for number in first..first.saturating_add(most) {
        let mut out = std::io::stdout();
        writeln!(out, "{number}").and_then(|()| out.flush()).expect("the parent process reads");
        run(target, &case(target, &samples, seed, number), folder);
        let remaining = memory::reset_peak().saturating_sub(before);
        assert!(remaining < REMAINING_BYTES, "{remaining} bytes remain after case {number}");
    }
}

/// Returns the case with this number.
pub(crate) fn case(target: FuzzTarget, samples: &[Vec<u8>], seed: u64, number: u64) -> Vec<u8> {
    let place =
        FuzzTarget::names().iter().position(|name| *name == target.name()).unwrap_or_default();
    let mut chance = Chance::of(seed).branch(place as u64).branch(number);
    mutate::changed(samples, &mut chance)
}

/// Runs the cases that are stored in files.
pub(crate) fn replay(target: FuzzTarget, files: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    for file in files {
        run(target, &fs::read(file).expect("a file"), folder.path());
    }
}

/// Runs one case. Panics if a check fails or the case uses too much memory.
fn run(target: FuzzTarget, bytes: &[u8], folder: &Path) {
    let before = memory::reset_peak();
    target.check(bytes, folder);
    let grown = peak().saturating_sub(before);
    let longest = if target.is_of_lines() {
        bytes.split(|byte| *byte == b'\n').map(<[u8]>::len).max().unwrap_or_default()
    } else {
        bytes.len()
    };
    let limit = BASE_BYTES + 2 * bytes.len() as u64 + TIMES_LINE_LENGTH * longest as u64;
    assert!(grown < limit, "{grown} bytes were needed for {} bytes", bytes.len());
}
