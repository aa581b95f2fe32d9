//! The orders of the bundled explorers, and that no worker is out of reach in any of them.

use dally_core::WorkerId;
use proptest::prelude::*;

use super::ExplorerKind;
use crate::strata::{Explorer, Stepped};

fn w(n: u32) -> WorkerId {
    WorkerId::root(n)
}

fn workers(numbers: &[u32]) -> Vec<WorkerId> {
    numbers.iter().copied().map(w).collect()
}

/// An explorer and who can step, with steps told in short.
struct Tale<E> {
    explorer: E,
    enabled: Vec<WorkerId>,
}

impl<E: Explorer> Tale<E> {
    fn new(mut explorer: E, started: &[u32]) -> Tale<E> {
        let enabled = workers(started);
        enabled.iter().for_each(|&worker| explorer.started(worker, "Worker"));
        Tale { explorer, enabled }
    }

    /// A step of the next worker, which sends to these; then these can step.
    fn step(&mut self, sent: &[u32], enabled: &[u32]) {
        let worker = self.explorer.next(&self.enabled).unwrap();
        self.step_of(worker, &workers(sent), workers(enabled), &[]);
    }

    fn step_of(
        &mut self,
        worker: WorkerId,
        sent: &[WorkerId],
        enabled: Vec<WorkerId>,
        hints: &[String],
    ) {
        let less = |a: &[WorkerId], b: &[WorkerId]| -> Vec<WorkerId> {
            a.iter().copied().filter(|worker| !b.contains(worker)).collect()
        };
        let (woken, blocked) = (less(&enabled, &self.enabled), less(&self.enabled, &enabled));
        self.enabled = enabled;
        let enabled = &self.enabled;
        let (woken, blocked) = (&woken, &blocked);
        self.explorer.stepped(&Stepped { worker, enabled, sent, woken, blocked, hints });
    }

    fn delay(&mut self) {
        self.explorer.delay(&self.enabled);
    }

    /// The next worker and those whom one delay after another would offer.
    fn order(&self) -> String {
        let mut explorer = self.explorer.clone();
        let mut order = Vec::new();
        for _ in &self.enabled {
            order.extend(explorer.next(&self.enabled).map(|worker| worker.to_string()));
            explorer.delay(&self.enabled);
        }
        order.join(" ")
    }
}

#[test]
fn round_robin_goes_on_with_a_worker_until_it_blocks() {
    let mut tale = Tale::new(super::RoundRobin::default(), &[0, 1, 2]);
    assert_eq!(tale.order(), "0 1 2");
    tale.step(&[2], &[0, 1, 2]);
    assert_eq!(tale.order(), "0 1 2");
    // It blocks, and waits at the tail for its turn, also when it is woken at once.
    tale.step(&[], &[1, 2]);
    assert_eq!(tale.order(), "1 2");
    tale.step(&[0], &[0, 1, 2]);
    assert_eq!(tale.order(), "1 2 0");
    // A new one goes to the tail.
    tale.explorer.started(w(3), "Worker");
    tale.step(&[], &[0, 1, 2, 3]);
    assert_eq!(tale.order(), "1 2 0 3");
    tale.delay();
    assert_eq!(tale.order(), "2 0 3 1");
    // A finished one leaves.
    tale.explorer.finished(w(2));
    tale.step(&[], &[0, 1, 3]);
    assert_eq!(tale.order(), "0 3 1");
}

#[test]
fn round_robin_passes_over_the_blocked_without_moving_them() {
    let mut tale = Tale::new(super::RoundRobin::default(), &[0, 1, 2]);
    tale.step_of(w(2), &[], workers(&[1, 2]), &[]); // 2 takes the lock that 0 wants
    assert_eq!(tale.order(), "1 2");
    tale.delay();
    assert_eq!(tale.order(), "2 1");
    tale.step(&[], &[0, 1, 2]);
    assert_eq!(tale.order(), "2 0 1");
}

#[test]
fn run_to_completion_follows_what_was_sent_last() {
    let mut tale = Tale::new(super::RunToCompletion::default(), &[0]);
    // 0 creates 1 and 2, which wait for messages: the last one is on top.
    tale.explorer.started(w(1), "Worker");
    tale.step(&[], &[0, 1]);
    tale.explorer.started(w(2), "Worker");
    tale.step_of(w(0), &[], workers(&[0, 1, 2]), &[]);
    assert_eq!(tale.order(), "2 1 0");
    // 2 sends to 1 and goes on waiting; 1 runs, sends to 0, and 0 runs.
    tale.step(&[1], &[0, 1]);
    assert_eq!(tale.order(), "1 0");
    tale.step(&[0], &[0, 1]);
    assert_eq!(tale.order(), "0 1");
    // A broadcast: the receiver of the last of its messages is first.
    tale.step(&[1, 2], &[0, 1, 2]);
    assert_eq!(tale.order(), "2 1 0");
    tale.delay();
    assert_eq!(tale.order(), "1 0 2");
    // 1 sends to 2, which was late: it is on top again. And when it blocks, 1 goes on.
    tale.step(&[2], &[0, 1, 2]);
    assert_eq!(tale.order(), "2 1 0");
    tale.step(&[], &[0, 1]);
    assert_eq!(tale.order(), "1 0");
}

#[test]
fn run_to_completion_lets_timers_and_faults_wait_for_all_others() {
    let timer = w(0).timer(0);
    let mut tale = Tale::new(super::RunToCompletion::default(), &[0, 1]);
    tale.explorer.started(WorkerId::FAULTS, "faults");
    tale.explorer.started(timer, "timer");
    tale.step_of(w(0), &[], vec![WorkerId::FAULTS, w(0), timer, w(1)], &[]);
    assert_eq!(tale.order(), "1 0 faults 0.t0");
    // Set again after it has fired.
    tale.step_of(timer, &[w(0)], vec![w(0), w(1)], &[]);
    tale.step_of(w(0), &[], vec![w(0), timer, w(1)], &[]);
    assert_eq!(tale.order(), "0 1 0.t0");
}

#[test]
fn probabilistic_round_robin_is_round_robin_in_another_order() {
    let order = |seed| {
        let tale = Tale::new(super::ProbabilisticRoundRobin::new(seed), &[0, 1, 2, 3]);
        tale.order()
    };
    let mut orders: Vec<String> = (0..400).map(order).collect();
    assert_eq!(order(7), order(7));
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 24);

    let mut tale = Tale::new(super::ProbabilisticRoundRobin::new(1), &[0, 1, 2, 3]);
    let before = tale.order();
    tale.step(&[0, 1], &[0, 1, 2, 3]);
    assert_eq!(tale.order(), before);
    tale.delay();
    assert_eq!(tale.order(), format!("{} {}", &before[2..], &before[..1]));
}

#[test]
fn random_order_is_another_one_after_every_step_and_on_every_way() {
    let mut tale = Tale::new(super::RandomOrder::new(1), &[0, 1, 2, 3]);
    let mut orders = vec![tale.order()];
    for _ in 0..400 {
        tale.step(&[], &[0, 1, 2, 3]);
        orders.push(tale.order());
    }
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 24);

    let mut ways: Vec<String> = (0..4)
        .map(|worker| {
            let mut way = Tale { explorer: tale.explorer.clone(), enabled: tale.enabled.clone() };
            way.step_of(w(worker), &[], tale.enabled.clone(), &[]);
            way.order()
        })
        .collect();
    ways.dedup();
    assert_eq!(ways.len(), 4, "{ways:?}");
    // Within a state a delay skips one and changes nothing else.
    let before = tale.order();
    tale.delay();
    assert_eq!(tale.order(), format!("{} {}", &before[2..], &before[..1]));
}

/// The custom explorer of Desai, Qadeer and Seshia, "Systematic Testing of Asynchronous Reactive
/// Systems", section 6.3: round-robin, in an order that the program changes. At first servers go
/// before the master and the faults; when the program says
/// `ready`, these go first.
#[derive(Clone, Hash, Default)]
struct ChangeOrder {
    /// Whether it is a server, and who it is.
    queue: Vec<(bool, WorkerId)>,
    ready: bool,
}

impl ChangeOrder {
    fn change_order(&mut self) {
        self.queue.sort_by_key(|&(server, _)| server == self.ready);
    }
}

impl Explorer for ChangeOrder {
    fn name(&self) -> String {
        "change-order".into()
    }
    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        self.queue.iter().map(|entry| entry.1).find(|worker| enabled.contains(worker))
    }
    fn delay(&mut self, enabled: &[WorkerId]) {
        if let Some(place) = self.queue.iter().position(|entry| enabled.contains(&entry.1)) {
            self.queue[place..].rotate_left(1);
        }
    }
    fn started(&mut self, worker: WorkerId, name: &str) {
        self.queue.push((name == "Server", worker));
        self.change_order();
    }
    fn finished(&mut self, worker: WorkerId) {
        self.queue.retain(|entry| entry.1 != worker);
    }
    fn stepped(&mut self, step: &Stepped<'_>) {
        if step.hints.iter().any(|hint| hint == "ready") {
            self.ready = true;
            self.change_order();
        }
    }
}

#[test]
fn a_custom_explorer_changes_its_order_by_hints() {
    let mut explorer = ChangeOrder::default();
    for (n, name) in [(0, "Master"), (1, "Server"), (2, "Server"), (3, "Faults")] {
        explorer.started(w(n), name);
    }
    let mut tale = Tale { explorer, enabled: workers(&[0, 1, 2, 3]) };
    assert_eq!(tale.order(), "1 2 0 3");
    tale.step_of(w(1), &[], workers(&[0, 1, 2, 3]), &["topology known".into()]);
    assert_eq!(tale.order(), "1 2 0 3");
    tale.step_of(w(0), &[], workers(&[0, 1, 2, 3]), &["ready".into()]);
    assert_eq!(tale.order(), "0 3 1 2");
    tale.delay();
    assert_eq!(tale.order(), "3 1 2 0");
}

#[test]
fn names_are_read_and_written_back() {
    for (name, kind) in ExplorerKind::NAMES.into_iter().zip(ExplorerKind::ALL) {
        assert_eq!(name.parse(), Ok(kind));
        assert_eq!(kind.to_string(), name);
        assert_eq!(kind.build(1).name().parse(), Ok(kind));
    }
    insta::assert_snapshot!("round".parse::<ExplorerKind>().unwrap_err(), @"no explorer `round`. There are rr (round-robin), rtc (run-to-completion), prr (probabilistic-round-robin), random (random-order)");
}

/// What happens to an explorer: (who steps, who can step then, who is sent to, delays before,
/// who finishes), workers as bits.
type Happening = (usize, u8, Vec<u32>, usize, u8);

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let sent = prop::collection::vec(0..8u32, 0..4);
    prop::collection::vec((0..8usize, 1..=u8::MAX, sent, 0..9usize, any::<u8>()), 1..30)
}

/// As the on_path_explorer does it: starts who is new, forgets who has finished.
fn everybody_is_offered(kind: ExplorerKind, seed: u64, happenings: &[Happening]) {
    let mut explorer = kind.build(seed);
    let mut copy = kind.build(seed + 1);
    explorer.started(w(0), "Worker");
    let mut tale = Tale { explorer, enabled: vec![w(0)] };
    let mut known = vec![w(0)];
    for (stepping, mask, sent, delays, finishing) in happenings {
        let id = |n: u32| if n == 7 { WorkerId::FAULTS } else { w(n) };
        let mut enabled: Vec<WorkerId> = (0..8).filter(|n| mask >> n & 1 == 1).map(id).collect();
        enabled.sort();
        (0..*delays).for_each(|_| tale.delay());
        let worker = tale.enabled[stepping % tale.enabled.len()];
        for n in (0..8).filter(|n| finishing >> n & 1 == 1).map(id) {
            if !enabled.contains(&n) && known.contains(&n) {
                known.retain(|&other| other != n);
                tale.explorer.finished(n);
            }
        }
        for &new in &enabled {
            if !known.contains(&new) {
                known.push(new);
                tale.explorer.started(new, "Worker");
            }
        }
        tale.step_of(worker, &sent.iter().copied().map(id).collect::<Vec<_>>(), enabled, &[]);
        // A search goes on with copies.
        copy.clone_from(&tale.explorer);
        std::mem::swap(&mut copy, &mut tale.explorer);

        let mut explorer = tale.explorer.clone();
        let mut offered: Vec<WorkerId> = Vec::new();
        for _ in &tale.enabled {
            offered.extend(explorer.next(&tale.enabled));
            explorer.delay(&tale.enabled);
        }
        offered.sort();
        assert_eq!(offered, tale.enabled, "{kind}");
    }
}

proptest! {
    #[test]
    fn next_and_delays_offer_every_worker_that_can_step(
        seed in 0..9u64,
        happenings in happenings(),
    ) {
        for kind in ExplorerKind::ALL {
            everybody_is_offered(kind, seed, &happenings);
        }
    }
}
