//! `Int` in executions that are recorded: what is a branch, what is not, and what is refused.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use dally_concolic::recorder::{self, Pinned};
use dally_concolic::{Answer, ConcolicInputs, Int, Recorder};
use dally_core::{Input, WorkerId};
use dally_search::reduction::InputDriver;

/// Runs a program of one step for all paths that its inputs can take; answers its results.
fn paths<R>(ranges: &[(&str, i64, i64)], program: impl Fn(&[Int]) -> R) -> Vec<R> {
    let coverage = Arc::default();
    let mut driver = ConcolicInputs::new(Arc::clone(&coverage));
    let mut results = Vec::new();
    // Depth first: each entry is an assignment and the number of branches that are settled by it.
    let mut left = vec![(None, 0)];
    while let Some((inputs, settled)) = left.pop() {
        driver.begin_execution(inputs.as_ref(), 0);
        driver.begin_step(0, WorkerId::root(0));
        let given: Vec<Int> = (ranges.iter())
            .map(|&(name, least, most)| {
                let value = driver.input(Input::named(name).within(least..=most));
                Int::given(name, value)
            })
            .collect();
        results.push(program(&given));
        for branch in settled..driver.branches().len() {
            if let Some(inputs) = driver.flip(0, branch) {
                left.push((Some(inputs), branch + 1));
            }
        }
    }
    drop(driver);
    assert_eq!(coverage.lock().unwrap().unknown, 0);
    results
}

const ALL: (i64, i64) = (i64::MIN, i64::MAX);

#[test]
fn every_outcome_of_comparisons_is_reached_once() {
    let orders = paths(&[("a", ALL.0, ALL.1), ("b", ALL.0, ALL.1), ("c", ALL.0, ALL.1)], |all| {
        let [a, b, c] = *all else { unreachable!() };
        (a < b, b < c, a < c)
    });
    // Two of the eight combinations contradict themselves.
    assert_eq!(orders.len(), 6);
    assert_eq!(orders.iter().collect::<BTreeSet<_>>().len(), 6);
}

#[test]
fn sorting_and_sets_branch_as_their_comparisons_do() {
    let sorted = paths(&[("a", 0, 9), ("b", 0, 9), ("c", 0, 9)], |all| {
        let mut all = all.to_vec();
        all.sort();
        let shown: Vec<i64> = all.iter().map(|value| value.shown()).collect();
        assert!(shown.is_sorted());
        shown
    });
    // At least one path for each order, at most one for each order with ties: which of the two is up to
    // the standard library.
    assert!((6..=13).contains(&sorted.len()));
    let sizes = paths(&[("a", 0, 9), ("b", 0, 9)], |all| {
        all.iter().copied().collect::<BTreeSet<Int>>().len()
    });
    assert_eq!(sizes.iter().collect::<BTreeSet<_>>(), BTreeSet::from([&1, &2]));
    assert_eq!(sizes.len(), 3);
    let most =
        paths(&[("a", 0, 9), ("b", 0, 9)], |all| all[0].max(all[1]).clamp(2.into(), 5.into()));
    assert!(most.len() <= 6 && most.iter().all(|most| (2..=5).contains(&most.shown())));
}

#[test]
fn overflow_is_a_branch_of_its_own() {
    let sums = paths(&[("a", ALL.0, ALL.1), ("b", ALL.0, ALL.1)], |all| {
        all[0].checked_add(all[1]).is_some()
    });
    // It fits, it is too large, it is too small.
    assert_eq!(sums.len(), 3);
    assert_eq!(sums.iter().filter(|fits| **fits).count(), 1);
    let narrow = paths(&[("a", 0, 100), ("b", 0, 100)], |all| (all[0] + all[1]).shown());
    assert_eq!(narrow.len(), 1, "what cannot overflow is no branch");
    let wrapped = paths(&[("a", ALL.0, ALL.1)], |all| all[0].wrapping_add(1) < all[0]);
    assert_eq!(wrapped.iter().filter(|wraps| **wraps).count(), 1);
}

#[test]
fn products_quotients_and_bits_are_solved() {
    let squares = paths(&[("x", -1_000, 1_000)], |x| x[0] * x[0] == 144);
    assert_eq!(squares.len(), 2);
    let halves = paths(&[("x", -9, 9)], |x| x[0] / 2 == -3);
    assert_eq!(halves.len(), 2);
    let odd = paths(&[("x", ALL.0, ALL.1)], |x| (x[0] & 1 == 1, x[0] % 2 == -1));
    // A negative odd number, a positive odd one, an even one.
    assert_eq!(odd.len(), 3);
    let bits = paths(&[("x", 0, 255)], |x| ((x[0] << 3) ^ 0x50) >> 1 == 0x14);
    assert_eq!(bits.iter().filter(|found| **found).count(), 1);
    let by_zero =
        paths(&[("x", 0, 10)], |x| catch_unwind(AssertUnwindSafe(|| 100 / x[0])).is_err());
    assert_eq!(by_zero.iter().filter(|failed| **failed).count(), 1);
}

#[test]
fn to_select_without_a_branch_explores_both_together() {
    let selected = paths(&[("x", 0, 100)], |x| {
        let fee = x[0].if_below(50.into(), 1.into(), 2.into());
        fee == 2
    });
    assert_eq!(selected.len(), 2);
}

#[test]
#[expect(clippy::disallowed_types, reason = "a map of users, which is never gone through")]
fn to_hash_pins_and_to_show_does_not() {
    let coverage: Arc<Mutex<dally_concolic::Coverage>> = Arc::default();
    let mut driver = ConcolicInputs::new(coverage.clone());
    driver.begin_execution(None, 0);
    driver.begin_step(0, WorkerId::root(0));
    let value = driver.input(Input::named("key").within(3..=9));
    let key = Int::given("key", value);
    assert_eq!(format!("{key} {key:?}"), "3 3");
    assert_eq!(recorder::with(|recorder| recorder.path().len()), Some(0));
    let names = std::collections::HashMap::from([(key, "three")]);
    assert_eq!(names.get(&Int::from(3)), Some(&"three"));
    // After it was pinned it can have no other value.
    assert!(key < 4);
    assert_eq!(driver.branches(), [false; 0]);
    drop(driver);
    let covered = coverage.lock().unwrap().covered.clone();
    assert_eq!(covered.pinned.keys().map(|(_, why)| *why).collect::<Vec<_>>(), [Pinned::Hashed]);
}

#[test]
fn a_number_of_another_execution_is_refused() {
    let mut recorder = Box::new(Recorder::default());
    recorder.begin();
    recorder.step();
    let variable = recorder.next_input(0, 0, 9);
    recorder.answered(0, "x", variable, 5);
    recorder::enter(recorder);
    let kept = Int::given("x", 5);
    assert!(kept > 4);
    let message = |used: std::thread::Result<bool>| {
        let payload = used.unwrap_err();
        payload
            .downcast_ref::<String>()
            .cloned()
            .or(payload.downcast_ref::<&str>().map(|s| s.to_string()))
            .unwrap()
    };
    recorder::with(Recorder::begin);
    let used = catch_unwind(|| kept > 4);
    assert!(
        message(used).starts_with("an `Int` of another execution is used: it was kept in a static")
    );
    recorder::leave();
    let used = catch_unwind(|| kept > 4);
    assert!(message(used).starts_with("an `Int` is used outside of its execution"));
    // To show it is always allowed.
    assert_eq!(format!("{kept:?}"), "5");
}

#[test]
fn the_solver_is_asked_only_for_what_can_be() {
    let mut recorder = Box::new(Recorder::default());
    recorder.begin();
    recorder.step();
    let variable = recorder.next_input(0, 0, 9);
    recorder.answered(0, "x", variable, 5);
    recorder::enter(recorder);
    let x = Int::given("x", 5);
    let asked = [x > 4, x >= 5, x < 10, x != 20];
    assert_eq!(asked, [true; 4]);
    let mut recorder = recorder::leave().unwrap();
    // `x >= 5` follows from `x > 4`; the rest from the range.
    assert_eq!(recorder.path().len(), 1);
    assert_eq!(recorder.flip(0), Answer::Inputs(vec![(variable, 4)]));
}

#[test]
fn a_term_that_grows_without_end_is_kept_at_its_value() {
    // 2^200 times the number: the wraps are branches, and beyond what terms can have it is kept.
    let doubled = paths(&[("x", 0, 3)], |x| {
        let mut y = x[0];
        for _ in 0..200 {
            y = y.wrapping_add(y);
        }
        y == 0
    });
    assert!(doubled.iter().all(|zero| *zero) && (1..=4).contains(&doubled.len()), "{doubled:?}");
}
