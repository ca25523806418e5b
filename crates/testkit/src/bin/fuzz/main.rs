//! A fuzzer for the code that reads foreign data. Its inputs are recorded transcripts with random
//! changes.
//!
//! `fuzz` tests all targets, `fuzz TARGET…` only the named ones. Each case depends only on the
//! seed, the target and the number of the case, so the same seed repeats the same run. The cases
//! run in a child process, so that a panic, a hang or a stack overflow does not end the whole run.
//! A case that fails is minimized and stored, and the command that runs it again is printed.
#![expect(clippy::print_stdout, reason = "the results are printed for a person")]
#![expect(clippy::expect_used, reason = "a failed setup must print the reason and stop")]
#![expect(clippy::panic, reason = "a failed check panics, like a bug in the code under test")]

mod campaign;
mod corpus;
mod json;
mod memory;
mod mutate;
mod shrink;
mod targets;
mod watched;
mod work;

use std::process::ExitCode;

use targets::FuzzTarget;

const USAGE: &str = "fuzz [--seconds N] [--cases N] [--seed N] [TARGET…]
fuzz regressions
fuzz replay TARGET FILE…
fuzz case TARGET SEED NUMBER FILE";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let has_passed = match &words[..] {
        ["work", target, seed, first, most, folder] => {
            let number = |word: &str| word.parse().expect("a number");
            let cases = (number(first), number(most));
            work::cases(FuzzTarget::named(target), number(seed), cases, folder.as_ref());
            true
        }
        ["replay", target, files @ ..] => {
            work::replay(FuzzTarget::named(target), files);
            true
        }
        ["case", target, seed, place, file] => {
            let target = FuzzTarget::named(target);
            let number = |word: &str| word.parse().expect("a number");
            let samples = corpus::samples(target);
            let case = work::case(target, &samples, number(seed), number(place));
            std::fs::write(file, case).expect("a file");
            true
        }
        ["regressions"] => campaign::regressions(),
        words => match campaign::CampaignPlan::read(words) {
            Some(plan) => campaign::run(&plan),
            None => {
                println!("{USAGE}\n\ntargets: {}", FuzzTarget::names().join(" "));
                false
            }
        },
    };
    if has_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
