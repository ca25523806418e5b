//! A fuzzing run: divides the time between the targets, and prints the results.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use segue_testkit::chance::Chance;

use crate::targets::FuzzTarget;
use crate::watched::{End, WatchedChild};
use crate::{corpus, shrink, work};

/// At most this many seconds are spent on one target before the next target gets its turn.
const TURN_SECONDS: u64 = 10;

/// The settings of a run.
pub(crate) struct CampaignPlan {
    seed: u64,
    seconds: u64,
    /// At most this many cases of each target.
    cases: u64,
    targets: Vec<FuzzTarget>,
}

impl CampaignPlan {
    /// Parses the command line. `None` if an argument is unknown or a number is missing or invalid.
    pub(crate) fn read(words: &[&str]) -> Option<Self> {
        let mut plan = Self { seed: 0, seconds: 1800, cases: u64::MAX, targets: Vec::new() };
        let (mut seed, mut words) = (None, words.iter());
        while let Some(word) = words.next() {
            let mut number = || words.next().and_then(|word| word.parse().ok());
            match *word {
                "--seconds" => plan.seconds = number()?,
                "--cases" => plan.cases = number()?,
                "--seed" => seed = Some(number()?),
                name => plan.targets.push(FuzzTarget::find(name)?),
            }
        }
        if plan.targets.is_empty() {
            plan.targets = FuzzTarget::ALL.to_vec();
        }
        plan.seed = seed.unwrap_or_else(|| Chance::new().below(1_000_000_000) as u64);
        Some(plan)
    }
}

/// How far the cases of a target have been run.
#[derive(Clone, Copy)]
struct TargetProgress {
    target: FuzzTarget,
    /// The number of the next case.
    next: u64,
}

/// Runs the cases of all targets of the plan. Returns `true` if none failed.
pub(crate) fn run(plan: &CampaignPlan) -> bool {
    println!("seed {0}: `fuzz --seed {0}` runs the same cases", plan.seed);
    let until = Instant::now() + Duration::from_secs(plan.seconds);
    let progress = plan.targets.iter().map(|target| TargetProgress { target: *target, next: 0 });
    let waiting = Mutex::new(progress.collect::<VecDeque<TargetProgress>>());
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..workers() {
            scope.spawn(|| {
                while let Some(progress) = next_target(&waiting) {
                    match run_for_a_while(plan, progress, until) {
                        Ok(progress) if progress.next < plan.cases && Instant::now() < until => {
                            lock(&waiting).push_back(progress);
                        }
                        Ok(progress) => lock(&done).push((progress, true)),
                        Err(progress) => lock(&done).push((progress, false)),
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(progress, _)| progress.target.name());
    for (TargetProgress { target, next }, has_passed) in &done {
        let result = if *has_passed { "passed" } else { "FAILED" };
        println!("{:<18} {next:>9} cases  {result}", target.name());
    }
    done.iter().all(|(_, has_passed)| *has_passed)
}

fn workers() -> u64 {
    thread::available_parallelism().map_or(1, |count| count.get() as u64)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn next_target(waiting: &Mutex<VecDeque<TargetProgress>>) -> Option<TargetProgress> {
    lock(waiting).pop_front()
}

/// Runs cases of one target for a limited time. `Err` if a case failed.
fn run_for_a_while(
    plan: &CampaignPlan,
    progress: TargetProgress,
    until: Instant,
) -> Result<TargetProgress, TargetProgress> {
    let folder = tempfile::tempdir().expect("a folder");
    let TargetProgress { target, next } = progress;
    let most = plan.cases - next;
    let arguments = ["work", target.name(), &plan.seed.to_string(), &next.to_string()]
        .map(str::to_owned)
        .into_iter()
        .chain([most.to_string(), folder.path().display().to_string()]);
    let mut watched = WatchedChild::start(&arguments.collect::<Vec<_>>());
    let seconds = (plan.seconds * workers() / plan.targets.len() as u64).clamp(1, TURN_SECONDS);
    let end = watched.wait(until.min(Instant::now() + Duration::from_secs(seconds)));
    let last = watched.last.unwrap_or(next);
    match end {
        // The last case may have been interrupted, so it is run again in the next turn.
        End::Stopped => Ok(TargetProgress { target, next: last.max(next) }),
        End::Well => Ok(TargetProgress { target, next: plan.cases }),
        End::Failed(why) => {
            store_failure(plan, target, last, &why, folder.path());
            Err(TargetProgress { target, next: last })
        }
    }
}

/// Minimizes a case that failed, stores it in a file, and prints the command that runs it again.
fn store_failure(
    plan: &CampaignPlan,
    target: FuzzTarget,
    number: u64,
    why: &str,
    folder: &std::path::Path,
) {
    let case = work::case(target, &corpus::samples(target), plan.seed, number);
    let small = shrink::minimize(target, &case, folder);
    let failed = folder_of_failures();
    fs::create_dir_all(&failed).expect("a folder");
    let file = failed.join(format!("{}-{}-{number}", target.name(), plan.seed));
    fs::write(&file, small).expect("a file");
    println!(
        "FAILED {} case {number}: {why}\n  again: cargo run -p segue-testkit --bin fuzz -- replay {} {}\n  \
         to keep the case, move this file to crates/testkit/regressions/{}/",
        target.name(),
        target.name(),
        file.display(),
        target.name(),
    );
}

fn folder_of_failures() -> PathBuf {
    corpus::here().join("../../target/failed")
}

/// Runs all stored regressions. Returns `true` if none fails.
pub(crate) fn regressions() -> bool {
    let mut all_passed = true;
    for target in FuzzTarget::ALL {
        for file in corpus::regressions(target) {
            let shown = file.display().to_string();
            let arguments = ["replay".to_owned(), target.name().to_owned(), shown.clone()];
            let end =
                WatchedChild::start(&arguments).wait(Instant::now() + Duration::from_secs(60));
            if end != End::Well {
                println!("FAILED {} {shown}: {end:?}", target.name());
                all_passed = false;
            }
        }
    }
    all_passed
}
