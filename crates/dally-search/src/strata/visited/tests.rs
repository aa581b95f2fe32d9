use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn hash(number: u64) -> u64 {
    dally_core::fingerprint::mix(number, 0)
}

/// A state in parts: three workers and their messages.
fn state(number: u64, part: &mut dyn FnMut(&[u8])) {
    for worker in 0..3_u64 {
        part(&[worker, (number >> (4 * worker)) & 15].map(u64::to_le_bytes).concat());
    }
    part(&(number >> 12).to_le_bytes());
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Fingerprint,
    Exact,
    /// With one hash for all states.
    Collided,
}

const WAYS: [Way; 3] = [Way::Fingerprint, Way::Exact, Way::Collided];

impl Way {
    fn cache(self, policy: CachePolicy, budget: u64, threads: usize) -> VisitedStates {
        let exact = matches!(self, Way::Exact | Way::Collided);
        VisitedStates::new(policy, exact, budget, threads)
    }

    fn insert(self, cache: &VisitedStates, slot: &mut ThreadSlot, number: u64) -> Visit {
        match self {
            Way::Fingerprint => cache.insert(slot, hash(number), |_| {}),
            Way::Exact => cache.insert(slot, hash(number), |part| state(number, part)),
            Way::Collided => cache.insert(slot, 7, |part| state(number, part)),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_stored_is_known_and_what_is_new_is_new(
        numbers in prop::collection::vec(0..600_u64, 0..1500),
        budget in prop_oneof![0..600_u64, 600..20_000_u64, Just(1 << 20), Just(1 << 31)],
        threads in 1..4_usize,
    ) {
        for way in WAYS {
            for policy in [CachePolicy::All, CachePolicy::None, CachePolicy::Stop] {
                let cache = way.cache(policy, budget, threads);
                let mut slots: Vec<ThreadSlot> = (0..threads).map(|_| cache.slot()).collect();
                let (mut stored, mut refused) = (BTreeSet::new(), 0);
                for (turn, &number) in numbers.iter().enumerate() {
                    let seen = way.insert(&cache, &mut slots[turn % threads], number);
                    if stored.contains(&number) {
                        prop_assert_eq!(seen, Visit::Known);
                    } else if seen == Visit::New {
                        prop_assert!(policy != CachePolicy::None);
                        stored.insert(number);
                    } else {
                        let all = policy == CachePolicy::All;
                        prop_assert_eq!(seen, if all { Visit::NoRoom } else { Visit::Unstored });
                        refused += u64::from(policy != CachePolicy::None);
                    }
                    prop_assert!(cache.bytes() <= budget);
                }
                prop_assert_eq!(cache.len(), stored.len() as u64);
                prop_assert_eq!(cache.dropped(), refused);
                if budget >= 1 << 20 && policy != CachePolicy::None {
                    prop_assert_eq!(refused, 0);
                }
            }
        }
    }

    #[test]
    fn replacing_forgets_only_when_full_and_never_takes_a_new_state_for_a_known_one(
        numbers in prop::collection::vec(0..600_u64, 0..1500),
        budget in prop_oneof![0..600_u64, 600..20_000_u64, Just(1 << 20)],
        threads in 1..4_usize,
    ) {
        for way in WAYS {
            let cache = way.cache(CachePolicy::Replace, budget, threads);
            let mut slots: Vec<ThreadSlot> = (0..threads).map(|_| cache.slot()).collect();
            let (mut met, mut new) = (BTreeSet::new(), 0);
            for (turn, &number) in numbers.iter().enumerate() {
                let dropped = cache.dropped();
                let slot = &mut slots[turn % threads];
                let seen = way.insert(&cache, slot, number);
                let first = met.insert(number);
                new += u64::from(seen == Visit::New);
                prop_assert!(seen != Visit::NoRoom);
                prop_assert!(!first || seen != Visit::Known);
                prop_assert!(seen != Visit::Unstored || cache.dropped() > dropped);
                if dropped == 0 {
                    prop_assert_eq!(seen == Visit::Known, !first);
                }
                prop_assert!(cache.bytes() <= budget);
                if seen != Visit::Unstored {
                    prop_assert_eq!(way.insert(&cache, slot, number), Visit::Known);
                }
            }
            prop_assert!(cache.len() <= new);
        }
    }
}

#[test]
fn a_budget_of_ten_states_holds_a_bucket_of_eight() {
    for (policy, ninth) in [
        (CachePolicy::All, Visit::NoRoom),
        (CachePolicy::Stop, Visit::Unstored),
        (CachePolicy::Replace, Visit::New),
    ] {
        let cache = VisitedStates::new(policy, false, 80, 1);
        let mut slot = cache.slot();
        let seen =
            [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|number| cache.insert(&mut slot, number, |_| {}));
        assert_eq!(seen[..8], [Visit::New; 8]);
        assert_eq!(seen[8], ninth);
        assert_eq!((cache.len(), cache.bytes(), cache.dropped()), (8, 64, 1));
    }
}

#[test]
fn a_state_takes_at_most_16_bytes() {
    for (threads, states) in [(1, 2_000_000), (2, 400_000)] {
        let cache = VisitedStates::new(CachePolicy::All, false, 1 << 30, threads);
        let mut slot = cache.slot();
        for number in 1..=states {
            assert_eq!(cache.insert(&mut slot, hash(number), |_| {}), Visit::New);
            if number >= 10_000 && number % 64 == 0 {
                let bytes = cache.bytes() as f64 / number as f64;
                assert!(bytes <= 16.0, "{bytes} a state with {number} states, {threads} threads");
            }
        }
        assert!((1..=states).all(|n| cache.insert(&mut slot, hash(n), |_| {}) == Visit::Known));
        assert_eq!(cache.len(), states);
    }
}

#[test]
fn a_budget_is_used_and_respected() {
    for threads in [1, 4] {
        for budget in [1_000, 10_000, 100_000, 1_000_000, 3_333_333] {
            let cache = VisitedStates::new(CachePolicy::Stop, false, budget, threads);
            let mut slots: Vec<ThreadSlot> = (0..threads).map(|_| cache.slot()).collect();
            for number in 0..budget / 6 {
                cache.insert(&mut slots[number as usize % threads], hash(number), |_| {});
            }
            assert!(cache.bytes() <= budget);
            assert!(cache.bytes() > budget * 9 / 10, "{} of {budget}", cache.bytes());
            assert!(cache.len() > budget / 8 * 3 / 4, "{} in {budget}", cache.len());
        }
    }
}

#[test]
fn fingerprints_may_be_as_poor_as_counters() {
    for step in [1, 64, 1 << 20, 1 << 40] {
        for threads in [1, 2] {
            let cache = VisitedStates::new(CachePolicy::All, false, 1 << 24, threads);
            let mut slot = cache.slot();
            for round in [Visit::New, Visit::Known] {
                let mut insert = |number| cache.insert(&mut slot, number * step, |_| {});
                assert!((0..100_000_u64).all(|number| insert(number) == round));
            }
        }
    }
}

#[test]
fn of_several_threads_exactly_one_finds_a_state_new() {
    let states = 40_000;
    for (exact, policy) in [
        (false, CachePolicy::All),
        (false, CachePolicy::Stop),
        (false, CachePolicy::Replace),
        (true, CachePolicy::All),
    ] {
        let cache = VisitedStates::new(policy, exact, 1 << 23, 4);
        let run = |start: u64| {
            let mut slot = cache.slot();
            let order = (0..states).map(|number| (number + start) % states);
            let mut seen =
                |number| cache.insert(&mut slot, hash(number), |part| state(number, part));
            order.filter(|&number| seen(number) == Visit::New).count()
        };
        let new: usize = std::thread::scope(|scope| {
            // Two start together, two are ahead.
            let threads = [0, 0, 3, 5_000].map(|start| scope.spawn(move || run(start)));
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(new as u64, states);
        assert_eq!((cache.len(), cache.dropped()), (states, 0));
    }
}

#[test]
fn threads_share_a_cache_that_is_full() {
    let states = 20_000;
    for (exact, policy) in [CachePolicy::All, CachePolicy::Stop, CachePolicy::Replace]
        .into_iter()
        .flat_map(|policy| [(false, policy), (true, policy)])
    {
        let cache = VisitedStates::new(policy, exact, 1 << 16, 4);
        let (new, known): (u64, u64) = std::thread::scope(|scope| {
            let run = || {
                let mut slot = cache.slot();
                let seen =
                    |number| cache.insert(&mut slot, hash(number), |part| state(number, part));
                let seen: Vec<Visit> = (0..states).map(seen).collect();
                let count = |what| seen.iter().filter(|&&seen| seen == what).count() as u64;
                (count(Visit::New), count(Visit::Known))
            };
            let threads = [0; 4].map(|_| scope.spawn(run));
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        });
        assert!(cache.bytes() <= 1 << 16);
        if policy == CachePolicy::Replace {
            assert_eq!(cache.len() + cache.dropped(), new);
        } else {
            assert_eq!((cache.len(), cache.dropped()), (new, 4 * states - new - known));
        }
    }
}

#[test]
fn exact_storage_takes_few_bytes_and_omits_nothing() {
    let cache = VisitedStates::new(CachePolicy::All, true, 1 << 26, 1);
    let mut slot = cache.slot();
    for number in 0..100_000 {
        cache.insert(&mut slot, hash(number), |part| state(number, part));
    }
    let bytes = cache.bytes() as f64 / cache.len() as f64;
    assert!(bytes < 32.0, "{bytes} bytes a state");
    assert_eq!(cache.expected_omissions(), 0.0);
}

#[test]
fn parts_are_told_apart_by_where_they_end_and_by_their_order() {
    let cache = VisitedStates::new(CachePolicy::All, true, 1 << 20, 1);
    let mut slot = cache.slot();
    let long = vec![b'a'; 300_000];
    let states: [&[&[u8]]; 8] = [
        &[b"ab", b"c"],
        &[b"a", b"bc"],
        &[b"abc"],
        &[b"c", b"ab"],
        &[],
        &[b""],
        &[b"", b""],
        &[&long],
    ];
    for round in [Visit::New, Visit::Known] {
        for parts in states {
            let all = |part: &mut dyn FnMut(&[u8])| parts.iter().for_each(|bytes| part(bytes));
            let seen = cache.insert(&mut slot, 1, all);
            assert_eq!(seen, round);
        }
    }
}

#[test]
fn omissions_are_the_pairs_of_states_among_the_fingerprints_there_are() {
    let cache = VisitedStates::new(CachePolicy::All, false, 1 << 20, 1);
    assert_eq!(cache.expected_omissions(), 0.0);
    let mut slot = cache.slot();
    (0..1000).for_each(|number| _ = cache.insert(&mut slot, hash(number), |_| {}));
    assert_eq!(cache.expected_omissions(), 499_500.0 / 18_446_744_073_709_551_616.0);
}
