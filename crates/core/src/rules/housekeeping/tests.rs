use proptest::prelude::*;

use super::RemovalClass::{
    ArchivedCopy, ClosedWorktree, EndedLaunch, RestingWorktree, UnusedClone, UnusedWorktree,
};
use super::samples::{candidate, day};
use super::*;
use crate::model::DiskLevel;

const CLASSES: [RemovalClass; 6] =
    [UnusedWorktree, ClosedWorktree, ArchivedCopy, EndedLaunch, UnusedClone, RestingWorktree];

#[test]
fn sweep_removes_what_was_not_used_for_the_time_of_its_class() {
    let archives = Some(90 * DAY);
    let ages = SweepAges { archives, ..SweepAges::default() };
    let table = [
        (UnusedWorktree, 14),
        (ClosedWorktree, 7),
        (ArchivedCopy, 90),
        (EndedLaunch, 30),
        (UnusedClone, 30),
    ];
    for (class, days) in table {
        let one = candidate(1, class, (0, 0));
        assert_eq!(one.expiry(&ages, day(days - 1)), None, "{class:?}");
        let reason = one.expiry(&ages, day(days)).unwrap();
        assert!(reason.ends_with(&format!("was not used for {days} days")), "{reason}");
        let held = RemovalCandidate { hold: Some("it is in use".to_owned()), ..one.clone() };
        assert_eq!(held.expiry(&ages, day(1000)), None, "{class:?}");
        assert_eq!(one.expiry(&ages, day(-1000)), None, "the clock was set back");
    }
    let resting = candidate(1, RestingWorktree, (0, 0));
    assert_eq!(resting.expiry(&ages, day(1000)), None);
    let copy = candidate(1, ArchivedCopy, (0, 0));
    assert_eq!(
        copy.expiry(&SweepAges::default(), day(1000)),
        None,
        "copies have no age by default"
    );
}

#[test]
fn level_is_full_from_the_budget_on() {
    let budget = DiskBudget::new(1000, 0.8);
    let table = [
        (0, DiskLevel::Normal),
        (799, DiskLevel::Normal),
        (800, DiskLevel::Warning),
        (999, DiskLevel::Warning),
        (1000, DiskLevel::Full),
        (u64::MAX, DiskLevel::Full),
    ];
    for (used, level) in table {
        assert_eq!(level_of(used, &budget), level, "{used}");
    }
    assert_eq!(level_of(0, &DiskBudget::new(0, 0.8)), DiskLevel::Full);
}

/// Returns the numbers of what is removed, in order. Every removal succeeds.
fn removed(candidates: Vec<RemovalCandidate>, used: u64, budget: u64) -> Vec<String> {
    let ages = SweepAges::default();
    let mut plan = BudgetPlan::new(candidates, (used, budget), (&ages, day(100)));
    let mut names = Vec::new();
    while let Some(next) = plan.take_next() {
        names.push(next.item.name()[35..].to_owned());
        plan.removed(&next);
    }
    names
}

#[test]
fn budget_removes_classes_in_order_and_the_oldest_of_a_class_first() {
    let all = vec![
        candidate(1, RestingWorktree, (1, 10)),
        candidate(2, UnusedClone, (99, 10)),
        candidate(3, EndedLaunch, (60, 10)),
        candidate(4, EndedLaunch, (99, 10)),
        candidate(5, ClosedWorktree, (99, 10)),
        candidate(6, UnusedWorktree, (99, 10)),
        candidate(7, UnusedWorktree, (50, 10)),
        candidate(8, ArchivedCopy, (1, 10)),
    ];
    assert_eq!(removed(all.clone(), 100, 101), Vec::<String>::new());
    assert_eq!(removed(all.clone(), 100, 100), ["7"]);
    assert_eq!(removed(all.clone(), 100, 90), ["7", "6"]);
    // A young launch folder and a copy without an age are not removed.
    assert_eq!(removed(all, 100, 0), ["7", "6", "5", "3", "2", "1"]);
}

#[test]
fn removal_that_failed_makes_no_room_and_the_next_thing_is_tried() {
    let all = vec![candidate(1, UnusedWorktree, (1, 50)), candidate(2, UnusedWorktree, (2, 50))];
    let ages = SweepAges::default();
    let mut plan = BudgetPlan::new(all, (100, 60), (&ages, day(100)));
    let failed = plan.take_next().unwrap();
    let next = plan.take_next().unwrap();
    assert_ne!(failed, next);
    plan.removed(&next);
    assert_eq!(plan.take_next(), None);
}

fn any_candidate() -> impl Strategy<Value = RemovalCandidate> {
    let hold = prop_oneof![3 => Just(None), 1 => Just(Some("it is in use".to_owned()))];
    (0..6_usize, 0..100_i64, 0..1000_u64, hold, any::<u64>()).prop_map(
        |(class, used, bytes, hold, number)| RemovalCandidate {
            hold,
            ..candidate(u128::from(number), CLASSES[class], (used, bytes))
        },
    )
}

proptest! {
    #[test]
    fn budget_never_removes_what_is_held_and_stops_below_the_budget(
        candidates in prop::collection::vec(any_candidate(), 0..40),
        used in 0..20_000_u64,
        budget in 0..20_000_u64,
        fails in prop::collection::vec(any::<bool>(), 40),
    ) {
        let ages = SweepAges { archives: Some(50 * DAY), ..SweepAges::default() };
        let all = candidates.clone();
        let mut plan = BudgetPlan::new(candidates, (used, budget), (&ages, day(100)));
        let (mut rest, mut seen) = (used, Vec::new());
        for fails in fails {
            let Some(next) = plan.take_next() else { break };
            prop_assert!(rest >= budget, "something was removed below the budget");
            prop_assert!(next.hold.is_none(), "{next:?} must stay");
            prop_assert!(all.contains(&next));
            if !fails {
                plan.removed(&next);
                rest = rest.saturating_sub(next.bytes);
            }
            seen.push((next.class, next.last_used));
        }
        prop_assert!(seen.is_sorted(), "{seen:?}");
        let is_over = plan.take_next().is_none();
        prop_assert!(is_over);
        let can_go = |it: &&RemovalCandidate| it.can_make_room(&ages, day(100));
        // It ends because the rest is below the budget, or because nothing is left.
        prop_assert!(rest < budget || seen.len() == all.iter().filter(can_go).count());
    }
}
