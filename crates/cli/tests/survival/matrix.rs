//! SIGKILL at every failpoint of every scenario.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use segue_testkit::is_soak;

use crate::failpoints::{self, Point};
use crate::scenarios::{self, Scenario};
use crate::{invariants, unpassed, world};

/// A scenario in which one process dies at one failpoint.
#[derive(Clone)]
struct KillCase {
    scenario: Scenario,
    point: Point,
    hit: usize,
}

/// The result of a case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CaseResult {
    Survived,
    /// The failpoint was not passed. Not every run passes it: concurrent events may be handled
    /// together.
    NotReached,
    Failed,
}

/// The number of cases that run in parallel. They wait for the disk more than they compute.
const PARALLEL_CASES: usize = 4;

#[test]
fn sigkill_at_any_failpoint_of_any_scenario_loses_nothing() {
    let all = scenarios::all();
    let passed = in_parallel(all.clone(), list);
    let names = passed.iter().flat_map(BTreeMap::keys).map(|point| point.name.as_str());
    println!("no scenario passes: {:?}", unpassed::without(names));
    let passed: Vec<_> = all.into_iter().zip(passed).collect();
    let cases = if is_soak() { all_cases(&passed) } else { some_cases(&passed) };
    let cases: Vec<KillCase> = cases.into_iter().filter(KillCase::is_chosen).collect();
    let results = in_parallel(cases.clone(), |case| {
        let survived = catch_unwind(AssertUnwindSafe(|| case.run_until_reached()));
        survived.unwrap_or_else(|_| {
            println!("FAILED: SEGUE_CASE={}", case.name());
            CaseResult::Failed
        })
    });
    let failed: Vec<String> = cases
        .iter()
        .zip(&results)
        .filter(|(_, it)| **it == CaseResult::Failed)
        .map(|(case, _)| case.name())
        .collect();
    assert_eq!(failed, Vec::<String>::new(), "run one of them alone with SEGUE_CASE=…");
    let reached = cases.iter().zip(&results).filter(|(_, it)| **it == CaseResult::Survived);
    let points: BTreeSet<&Point> = reached.clone().map(|(case, _)| &case.point).collect();
    let missed = cases.iter().map(|case| &case.point).find(|point| !points.contains(point));
    assert!(missed.is_none(), "no case reached {missed:?}");
    let names: BTreeSet<&str> = reached.clone().map(|(case, _)| case.point.name.as_str()).collect();
    println!("{} kills at {} points: {names:?}", reached.count(), names.len());
    assert!(names.len() >= 40 || chosen().is_some(), "{} points", names.len());
}

/// Runs a scenario without a kill. Returns the failpoints that were passed, and how often.
fn list(scenario: Scenario) -> BTreeMap<Point, usize> {
    let mut world = world();
    let _server = (scenario.serve)(&world);
    failpoints::list_all(&mut world);
    (scenario.prepare)(&world);
    failpoints::open_gate(&world);
    let outcome = (scenario.act)(&world);
    (scenario.settle)(&world);
    failpoints::disarm(&mut world);
    (scenario.check)(&world, &outcome);
    assert!(outcome.status <= 0, "{}: {outcome:#?}", scenario.name);
    invariants::check_all(&world);
    let mut passed = failpoints::passed(&world);
    // In other scenarios the archive is written in parallel, at no fixed time. Its failpoints are
    // left out.
    let is_of_archive = scenario.name.starts_with("archive");
    passed.retain(|point, _| is_of_archive || !point.name.starts_with("archive."));
    passed
}

/// Returns a case for every failpoint of every scenario, at its first hit, and one for its second
/// hit if there is one.
fn all_cases(passed: &[(Scenario, BTreeMap<Point, usize>)]) -> Vec<KillCase> {
    let mut cases = Vec::new();
    for (scenario, points) in passed {
        for (point, &hits) in points {
            let case = |hit| KillCase { scenario: *scenario, point: point.clone(), hit };
            cases.extend((1..=hits.min(2)).map(case));
        }
    }
    cases
}

/// Returns one case for every failpoint, and all cases of the scenarios that send a message.
fn some_cases(passed: &[(Scenario, BTreeMap<Point, usize>)]) -> Vec<KillCase> {
    let (messages, others): (Vec<_>, Vec<_>) =
        passed.iter().cloned().partition(|(scenario, _)| scenario.name.starts_with("send"));
    let mut cases = one_case_each(&others);
    cases.extend(all_cases(&messages));
    cases
}

/// Returns one case for every failpoint. Of the scenarios that pass the failpoint, it takes the one
/// that was used least so far.
fn one_case_each(passed: &[(Scenario, BTreeMap<Point, usize>)]) -> Vec<KillCase> {
    let mut used: BTreeMap<&str, usize> = BTreeMap::new();
    let mut cases = Vec::new();
    let points: BTreeSet<&Point> = passed.iter().flat_map(|(_, points)| points.keys()).collect();
    for point in points {
        let all = passed.iter().filter(|(_, points)| points.contains_key(point));
        let least = all.min_by_key(|(scenario, _)| used.get(scenario.name).copied().unwrap_or(0));
        let (scenario, _) = least.unwrap();
        *used.entry(scenario.name).or_default() += 1;
        cases.push(KillCase { scenario: *scenario, point: point.clone(), hit: 1 });
    }
    cases
}

impl KillCase {
    fn name(&self) -> String {
        format!("{}/{}/{}/{}", self.scenario.name, self.point.role, self.point.name, self.hit)
    }

    fn is_chosen(&self) -> bool {
        chosen().is_none_or(|chosen| self.name().starts_with(&chosen))
    }

    /// Runs a case for a first hit up to three times: if two events were handled together, the
    /// failpoint may be passed only in another attempt.
    fn run_until_reached(&self) -> CaseResult {
        let attempts = if self.hit == 1 { 3 } else { 1 };
        let mut results = (0..attempts).map(|_| self.run());
        results.find(|it| *it == CaseResult::Survived).unwrap_or(CaseResult::NotReached)
    }

    fn run(&self) -> CaseResult {
        let mut world = world();
        let _server = (self.scenario.serve)(&world);
        failpoints::kill_at(&mut world, &self.point, self.hit);
        (self.scenario.prepare)(&world);
        failpoints::open_gate(&world);
        let outcome = (self.scenario.act)(&world);
        if !failpoints::has_killed(&world) {
            (self.scenario.settle)(&world);
        }
        let has_killed = failpoints::has_killed(&world);
        failpoints::disarm(&mut world);
        (self.scenario.check)(&world, &outcome);
        if outcome.status != 0 {
            (self.scenario.repeat)(&world);
        }
        invariants::check_all(&world);
        if has_killed { CaseResult::Survived } else { CaseResult::NotReached }
    }
}

/// Returns the prefix of the names of the cases to which the run is restricted.
fn chosen() -> Option<String> {
    std::env::var_os("SEGUE_CASE").and_then(|value| value.into_string().ok())
}

/// Applies `work` to all items, a few in parallel. Returns the results in order.
fn in_parallel<T: Send, R: Send>(all: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let all: Vec<Mutex<Option<T>>> = all.into_iter().map(|it| Mutex::new(Some(it))).collect();
    let done: Vec<Mutex<Option<R>>> = all.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|threads| {
        for _ in 0..PARALLEL_CASES {
            threads.spawn(|| {
                while let Some(slot) = all.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let number = all.iter().position(|it| std::ptr::eq(it, slot)).unwrap();
                    let item = slot.lock().unwrap().take().unwrap();
                    *done[number].lock().unwrap() = Some(work(item));
                }
            });
        }
    });
    done.into_iter().map(|it| it.into_inner().unwrap().unwrap()).collect()
}
