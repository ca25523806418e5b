//! Runs cases in this process. A case may crash the process.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use segue_testkit::chance::Chance;

use crate::targets::FuzzTarget;
use crate::{corpus, memory, mutate};

/// The memory that every case may use, in bytes.
const FREE: u64 = 48 << 20;

/// A case may also use this many times the length of its longest line, because the line may be
/// parsed into a tree of small values.
const OF_LINE: u64 = 48;

/// The memory in bytes that may remain after many cases, because the allocator keeps freed memory
/// for later use.
const LEFT_OVER: u64 = 160 << 20;

/// Runs at most `most` cases, starting with the number `first`. Prints the number of each case
/// before it runs.
pub(crate) fn cases(target: FuzzTarget, seed: u64, (first, most): (u64, u64), folder: &Path) {
    let samples = corpus::samples(target);
    let begun = memory::forget_peak();
    for number in first..first.saturating_add(most) {
        let mut out = std::io::stdout();
        writeln!(out, "{number}").and_then(|()| out.flush()).expect("the parent process reads");
        one(target, &case(target, &samples, seed, number), folder);
        let left = memory::forget_peak().saturating_sub(begun);
        assert!(left < LEFT_OVER, "{left} bytes are left over after case {number}");
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
        one(target, &fs::read(file).expect("a file"), folder.path());
    }
}

fn one(target: FuzzTarget, bytes: &[u8], folder: &Path) {
    let before = memory::forget_peak();
    target.check(bytes, folder);
    let grown = memory::peak().saturating_sub(before);
    let longest = if target.is_of_lines() {
        bytes.split(|byte| *byte == b'\n').map(<[u8]>::len).max().unwrap_or_default()
    } else {
        bytes.len()
    };
    let limit = FREE + 2 * bytes.len() as u64 + OF_LINE * longest as u64;
    assert!(grown < limit, "{grown} bytes were needed for {} bytes", bytes.len());
}
