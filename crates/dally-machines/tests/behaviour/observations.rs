//! What strategies observe of machines.

use std::hash::Hash;
use std::time::Duration;

use dally_core::{Captured, Observe, Program, System, WorkerId};
use dally_machines::{Addr, Cx, Faults, MachineProgram, MachineSystem};
use dally_macros::machine;

use crate::driver::Quiet;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Up;

/// Counts what it sends to itself, and shows half of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Counter {
    count: u8,
}

#[machine(states(Counting))]
impl Counter {
    #[observe]
    fn half(&self) -> impl Hash {
        self.count / 2
    }
    #[entry(Counting)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        cx.send(cx.me(), Up);
    }
    #[on(Counting, Up)]
    fn up(&mut self, cx: &mut Cx<Self>) {
        self.count += 1;
        match self.count {
            4 => cx.halt(),
            _ => cx.send(cx.me(), Up),
        }
    }
}

const KINDS: [Observe; 3] = [Observe::Inboxes, Observe::Control, Observe::Custom];

fn counters(count: usize) -> MachineSystem {
    let program = MachineProgram::new("counters", move |setup| {
        for _ in 0..count {
            setup.create(Counter { count: 0 });
        }
    });
    program.start().unwrap()
}

/// So many steps of a counter.
fn steps(system: &mut MachineSystem, counter: u32, steps: usize) {
    for _ in 0..steps {
        system.step(WorkerId::root(counter), &mut Quiet).unwrap();
    }
}

#[test]
fn ids_are_left_out_so_what_two_machines_have_swapped_looks_the_same() {
    let (mut one, mut other) = (counters(2), counters(2));
    steps(&mut one, 0, 5);
    steps(&mut one, 1, 2);
    steps(&mut other, 0, 2);
    steps(&mut other, 1, 5);
    assert_ne!(one.fingerprint(), other.fingerprint());
    for how in KINDS {
        assert_eq!(one.observe(how), other.observe(how), "{how:?}");
    }
    steps(&mut one, 1, 1);
    assert_ne!(one.observe(Observe::Control), other.observe(Observe::Control));
}

#[test]
fn a_machine_shows_what_its_function_answers_until_it_is_over() {
    let mut system = counters(1);
    // Entry, then for each count: the message is taken, and the next sent.
    steps(&mut system, 0, 2);
    let mut seen: Vec<[Option<u64>; 3]> = Vec::new();
    for _ in 0..3 {
        seen.push(KINDS.map(|how| system.observe(how)));
        steps(&mut system, 0, 2);
    }
    // The count is 0, 1, 2 with the next message in the inbox, of which half is 0, 0, 1.
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[1][..2], seen[2][..2]);
    assert_ne!(seen[1][2], seen[2][2]);
    let running = system.observe(Observe::Custom);
    steps(&mut system, 0, 1);
    assert!(system.enabled().is_empty());
    assert_ne!(system.observe(Observe::Custom), running);
}

#[test]
fn asking_for_one_kind_after_another_gives_each_its_own_also_in_copies() {
    let mut system = counters(3);
    let mut saved = system.fork();
    for step in 0..12 {
        let how = KINDS[step % 3];
        assert_eq!(system.observe(how), system.observe_from_scratch(how));
        steps(&mut system, step as u32 % 3, 1);
        saved.observe(KINDS[(step + 1) % 3]);
        if step % 4 == 3 {
            saved.restore_from(&system);
        }
        if step % 5 == 4 {
            system.restore_from(&saved);
        }
        for how in KINDS {
            assert_eq!(system.observe(how), system.observe_from_scratch(how), "{step}");
            assert_eq!(saved.observe(how), saved.observe_from_scratch(how), "{step}");
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ring;

/// Has its alarm set or not, in the same state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Clock {
    set: bool,
}

#[machine(states(Ticking))]
impl Clock {
    #[entry(Ticking)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        if self.set {
            cx.after(Duration::from_secs(1), Ring);
        }
    }
    #[on(Ticking, Ring)]
    fn ring(&mut self, _cx: &mut Cx<Self>) {}
}

fn clock(set: bool, faults: Faults) -> [Option<u64>; 3] {
    let program = MachineProgram::new("clock", move |setup| {
        setup.create(Clock { set });
    });
    let mut system = program.faults(faults).start().unwrap();
    steps(&mut system, 0, 1);
    KINDS.map(|how| system.observe(how))
}

#[test]
fn states_that_differ_in_an_armed_timer_are_told_apart_by_control_alone() {
    let ([inboxes, control, custom], without) =
        (clock(true, Faults::NONE), clock(false, Faults::NONE));
    assert_eq!((inboxes, custom), (without[0], without[2]));
    assert_ne!(control, without[1]);
}

#[test]
fn states_that_differ_in_the_faults_left_are_told_apart_by_control_alone() {
    let one = clock(false, Faults { lose: 1, ..Faults::NONE });
    for other in [Faults::NONE, Faults { lose: 2, ..Faults::NONE }] {
        let [inboxes, control, custom] = clock(false, other);
        assert_eq!((inboxes, custom), (one[0], one[2]));
        assert_ne!(control, one[1]);
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Digit(u8);

/// Takes digits and shows the last one, and nothing of its inbox.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Display {
    last: u8,
}

#[machine(states(On))]
impl Display {
    #[observe(only)]
    fn last(&self) -> impl Hash {
        self.last
    }
    #[on(On, Digit)]
    fn take(&mut self, _: &mut Cx<Self>, Digit(digit): Digit) {
        self.last = digit;
    }
}

/// Sends two digits, and calls the second rare.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Keypad {
    to: Addr<Display>,
}

#[machine(states(Typing))]
impl Keypad {
    #[entry(Typing)]
    fn type_digits(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.to, Digit(1));
        cx.send(self.to, Digit(2));
        cx.rare();
        cx.send(self.to, Digit(2));
    }
}

fn display() -> MachineSystem {
    let program = MachineProgram::new("display", |setup| {
        let to = setup.create(Display { last: 0 });
        setup.create(Keypad { to });
    });
    program.start().unwrap()
}

#[test]
fn a_machine_that_shows_a_value_only_is_observed_without_its_inbox() {
    let mut system = display();
    let mut seen = vec![KINDS.map(|how| system.observe(how))];
    // Entry of the keypad and of the display; a send; its receipt; two sends; their receipts.
    for worker in [1, 0, 1, 0, 1, 1, 0, 0] {
        steps(&mut system, worker, 1);
        seen.push(KINDS.map(|how| system.observe(how)));
        assert_eq!(seen.last(), Some(&KINDS.map(|how| system.observe_from_scratch(how))));
    }
    let custom: Vec<bool> = seen.windows(2).map(|pair| pair[0][2] != pair[1][2]).collect();
    assert_eq!(custom, [false, false, false, true, false, false, true, false]);
    let inboxes: Vec<bool> = seen.windows(2).map(|pair| pair[0][0] != pair[1][0]).collect();
    assert_eq!(inboxes, [false, false, true, true, true, true, true, true]);
}

#[test]
fn the_step_that_sends_what_is_rare_is_rare_and_no_other() {
    let mut system = display();
    let rare = [1, 0, 1, 1, 1, 0].map(|worker| {
        steps(&mut system, worker, 1);
        system.rare()
    });
    assert_eq!(rare, [false, false, false, true, false, false]);
}
