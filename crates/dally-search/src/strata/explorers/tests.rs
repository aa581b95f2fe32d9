//! The orders of the bundled explorers, and that each of them offers every worker.

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

struct Scenario<E> {
    explorer: E,
    enabled: Vec<WorkerId>,
}

impl<E: Explorer> Scenario<E> {
    fn new(mut explorer: E, started: &[u32]) -> Scenario<E> {
        let enabled = workers(started);
        enabled.iter().for_each(|&worker| explorer.started(worker, "Worker"));
        Scenario { explorer, enabled }
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

    /// The next worker, and those that one delay after another offers.
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
    let mut scenario = Scenario::new(super::RoundRobin::default(), &[0, 1, 2]);
    assert_eq!(scenario.order(), "0 1 2");
    scenario.step(&[2], &[0, 1, 2]);
    assert_eq!(scenario.order(), "0 1 2");
    // It blocks, and waits at the tail for its turn, also when it is woken at once.
    scenario.step(&[], &[1, 2]);
    assert_eq!(scenario.order(), "1 2");
    scenario.step(&[0], &[0, 1, 2]);
    assert_eq!(scenario.order(), "1 2 0");
    // A new one goes to the tail.
    scenario.explorer.started(w(3), "Worker");
    scenario.step(&[], &[0, 1, 2, 3]);
    assert_eq!(scenario.order(), "1 2 0 3");
    scenario.delay();
    assert_eq!(scenario.order(), "2 0 3 1");
    scenario.explorer.finished(w(2));
    scenario.step(&[], &[0, 1, 3]);
    assert_eq!(scenario.order(), "0 3 1");
}

#[test]
fn round_robin_passes_over_the_blocked_without_moving_them() {
    let mut scenario = Scenario::new(super::RoundRobin::default(), &[0, 1, 2]);
    scenario.step_of(w(2), &[], workers(&[1, 2]), &[]); // 2 takes the lock that 0 wants
    assert_eq!(scenario.order(), "1 2");
    scenario.delay();
    assert_eq!(scenario.order(), "2 1");
    scenario.step(&[], &[0, 1, 2]);
    assert_eq!(scenario.order(), "2 0 1");
}

#[test]
fn run_to_completion_follows_what_was_sent_last() {
    let mut scenario = Scenario::new(super::RunToCompletion::default(), &[0]);
    // 0 creates 1 and 2, which wait for messages: the last one is on top.
    scenario.explorer.started(w(1), "Worker");
    scenario.step(&[], &[0, 1]);
    scenario.explorer.started(w(2), "Worker");
    scenario.step_of(w(0), &[], workers(&[0, 1, 2]), &[]);
    assert_eq!(scenario.order(), "2 1 0");
    // 2 sends to 1 and goes on waiting; 1 runs, sends to 0, and 0 runs.
    scenario.step(&[1], &[0, 1]);
    assert_eq!(scenario.order(), "1 0");
    scenario.step(&[0], &[0, 1]);
    assert_eq!(scenario.order(), "0 1");
    // A broadcast: the receiver of the last of its messages is first.
    scenario.step(&[1, 2], &[0, 1, 2]);
    assert_eq!(scenario.order(), "2 1 0");
    scenario.delay();
    assert_eq!(scenario.order(), "1 0 2");
    // 1 sends to 2, which was late: it is on top again. And when it blocks, 1 goes on.
    scenario.step(&[2], &[0, 1, 2]);
    assert_eq!(scenario.order(), "2 1 0");
    scenario.step(&[], &[0, 1]);
    assert_eq!(scenario.order(), "1 0");
}

#[test]
fn run_to_completion_lets_timers_and_faults_wait_for_all_others() {
    let timer = w(0).timer(0);
    let mut scenario = Scenario::new(super::RunToCompletion::default(), &[0, 1]);
    scenario.explorer.started(WorkerId::FAULTS, "faults");
    scenario.explorer.started(timer, "timer");
    scenario.step_of(w(0), &[], vec![WorkerId::FAULTS, w(0), timer, w(1)], &[]);
    assert_eq!(scenario.order(), "1 0 faults 0.t0");
    // Set again after it has fired.
    scenario.step_of(timer, &[w(0)], vec![w(0), w(1)], &[]);
    scenario.step_of(w(0), &[], vec![w(0), timer, w(1)], &[]);
    assert_eq!(scenario.order(), "0 1 0.t0");
}

#[test]
fn probabilistic_round_robin_is_round_robin_in_another_order() {
    let order = |seed| {
        let scenario = Scenario::new(super::ProbabilisticRoundRobin::new(seed), &[0, 1, 2, 3]);
        scenario.order()
    };
    let mut orders: Vec<String> = (0..400).map(order).collect();
    assert_eq!(order(7), order(7));
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 24);

    let mut scenario = Scenario::new(super::ProbabilisticRoundRobin::new(1), &[0, 1, 2, 3]);
    let before = scenario.order();
    scenario.step(&[0, 1], &[0, 1, 2, 3]);
    assert_eq!(scenario.order(), before);
    scenario.delay();
    assert_eq!(scenario.order(), format!("{} {}", &before[2..], &before[..1]));
}

#[test]
fn random_order_is_another_one_after_every_step_and_on_every_way() {
    let mut scenario = Scenario::new(super::RandomOrder::new(1), &[0, 1, 2, 3]);
    let mut orders = vec![scenario.order()];
    for _ in 0..400 {
        scenario.step(&[], &[0, 1, 2, 3]);
        orders.push(scenario.order());
    }
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 24);

    let mut ways: Vec<String> = (0..4)
        .map(|worker| {
            let mut way =
                Scenario { explorer: scenario.explorer.clone(), enabled: scenario.enabled.clone() };
            way.step_of(w(worker), &[], scenario.enabled.clone(), &[]);
            way.order()
        })
        .collect();
    ways.dedup();
    assert_eq!(ways.len(), 4, "{ways:?}");
    // Within a state a delay skips one and changes nothing else.
    let before = scenario.order();
    scenario.delay();
    assert_eq!(scenario.order(), format!("{} {}", &before[2..], &before[..1]));
}

/// The custom explorer of Desai, Qadeer and Seshia, "Systematic Testing of Asynchronous Reactive
/// Systems", section 6.3: round-robin, with servers before the master and the faults until the
/// program says `ready`, and after them from then on.
#[derive(Clone, Hash, Default)]
struct ChangeOrder {
    /// Whether it is a server, and the worker.
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
    let mut scenario = Scenario { explorer, enabled: workers(&[0, 1, 2, 3]) };
    assert_eq!(scenario.order(), "1 2 0 3");
    scenario.step_of(w(1), &[], workers(&[0, 1, 2, 3]), &["topology known".into()]);
    assert_eq!(scenario.order(), "1 2 0 3");
    scenario.step_of(w(0), &[], workers(&[0, 1, 2, 3]), &["ready".into()]);
    assert_eq!(scenario.order(), "0 3 1 2");
    scenario.delay();
    assert_eq!(scenario.order(), "3 1 2 0");
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

/// (who steps, who can step then, who is sent to, delays before, who finishes), sets as bits.
type Happening = (usize, u8, Vec<u32>, usize, u8);

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let sent = prop::collection::vec(0..8u32, 0..4);
    prop::collection::vec((0..8usize, 1..=u8::MAX, sent, 0..9usize, any::<u8>()), 1..30)
}

/// Starts new workers and forgets finished ones, as `ExplorerOnPath` does.
fn everybody_is_offered(kind: ExplorerKind, seed: u64, happenings: &[Happening]) {
    let mut explorer = kind.build(seed);
    let mut copy = kind.build(seed + 1);
    explorer.started(w(0), "Worker");
    let mut scenario = Scenario { explorer, enabled: vec![w(0)] };
    let mut known = vec![w(0)];
    for (stepping, mask, sent, delays, finishing) in happenings {
        let id = |n: u32| if n == 7 { WorkerId::FAULTS } else { w(n) };
        let mut enabled: Vec<WorkerId> = (0..8).filter(|n| mask >> n & 1 == 1).map(id).collect();
        enabled.sort();
        (0..*delays).for_each(|_| scenario.delay());
        let worker = scenario.enabled[stepping % scenario.enabled.len()];
        for n in (0..8).filter(|n| finishing >> n & 1 == 1).map(id) {
            if !enabled.contains(&n) && known.contains(&n) {
                known.retain(|&other| other != n);
                scenario.explorer.finished(n);
            }
        }
        for &new in &enabled {
            if !known.contains(&new) {
                known.push(new);
                scenario.explorer.started(new, "Worker");
            }
        }
        scenario.step_of(worker, &sent.iter().copied().map(id).collect::<Vec<_>>(), enabled, &[]);
        copy.clone_from(&scenario.explorer);
        std::mem::swap(&mut copy, &mut scenario.explorer);

        let mut explorer = scenario.explorer.clone();
        let mut offered: Vec<WorkerId> = Vec::new();
        for _ in &scenario.enabled {
            offered.extend(explorer.next(&scenario.enabled));
            explorer.delay(&scenario.enabled);
        }
        offered.sort();
        assert_eq!(offered, scenario.enabled, "{kind}");
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
