//! Reads what was never meant to be read: recorded transcripts, changed by chance.
//!
//! `fuzz` tries every target, `fuzz TARGET…` only these. Each case is made from the seed, the target
//! and its number alone, so that the same seed is the same run. A process of its own tries them, so
//! that nothing it does ends the run: a panic, a hang, or an overflow of the stack. What fails is
//! made smaller, kept, and told with the command that tries it again.
#![expect(clippy::print_stdout, reason = "what was tried and what failed is told to a person")]
#![expect(clippy::expect_used, reason = "a run that cannot be set up shall say why and stop")]
#![expect(clippy::panic, reason = "a broken promise is a panic, like a fault in what is tried")]

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

use targets::Target;

const USAGE: &str = "fuzz [--seconds N] [--cases N] [--seed N] [TARGET…]
fuzz regressions
fuzz replay TARGET FILE…
fuzz case TARGET SEED NUMBER FILE";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_well = match &words[..] {
        ["work", target, seed, first, most, folder] => {
            let number = |word: &str| word.parse().expect("a number");
            let cases = (number(first), number(most));
            work::cases(Target::named(target), number(seed), cases, folder.as_ref());
            true
        }
        ["replay", target, files @ ..] => {
            work::replay(Target::named(target), files);
            true
        }
        ["case", target, seed, place, file] => {
            let target = Target::named(target);
            let number = |word: &str| word.parse().expect("a number");
            let samples = corpus::samples(target);
            let case = work::case(target, &samples, number(seed), number(place));
            std::fs::write(file, case).expect("a file");
            true
        }
        ["regressions"] => campaign::regressions(),
        words => match campaign::Plan::read(words) {
            Some(plan) => campaign::run(&plan),
            None => {
                println!("{USAGE}\n\ntargets: {}", Target::names().join(" "));
                false
            }
        },
    };
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
