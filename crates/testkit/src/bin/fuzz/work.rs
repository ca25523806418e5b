//! Trying cases, in a process that may come to an end by it.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use segue_testkit::chance::Chance;

use crate::targets::Target;
use crate::{corpus, memory, mutate};

/// What any case may need.
const FREE: u64 = 48 << 20;

/// Times the longest line, which may be held as a tree of small values.
const OF_LINE: u64 = 48;

/// What may be left over after many cases: what was freed is kept for the next ones.
const LEFT_OVER: u64 = 160 << 20;

/// Tries cases from a number on, and says which one before it does.
pub(crate) fn cases(target: Target, seed: u64, (first, most): (u64, u64), folder: &Path) {
    let samples = corpus::samples(target);
    let begun = memory::forget_peak();
    for number in first..first.saturating_add(most) {
        let mut out = std::io::stdout();
        writeln!(out, "{number}").and_then(|()| out.flush()).expect("somebody listens");
        one(target, &case(target, &samples, seed, number), folder);
        let left = memory::forget_peak().saturating_sub(begun);
        assert!(left < LEFT_OVER, "{left} bytes are left over after case {number}");
    }
}

/// Returns the case with this number.
pub(crate) fn case(target: Target, samples: &[Vec<u8>], seed: u64, number: u64) -> Vec<u8> {
    let place = Target::names().iter().position(|name| *name == target.name()).unwrap_or_default();
    let mut chance = Chance::of(seed).branch(place as u64).branch(number);
    mutate::changed(samples, &mut chance)
}

/// Tries what is in files.
pub(crate) fn replay(target: Target, files: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    for file in files {
        one(target, &fs::read(file).expect("a file"), folder.path());
    }
}

fn one(target: Target, bytes: &[u8], folder: &Path) {
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
