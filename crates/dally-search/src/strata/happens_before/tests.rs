use std::collections::{BTreeMap, BTreeSet, VecDeque};

use dally_core::{Discard, MessageId, ObjectId};

use super::*;

fn worker(n: usize) -> WorkerId {
    WorkerId::root(n as u32)
}

fn object(n: usize) -> Resource {
    Resource::Object(ObjectId { creator: worker(0), number: n as u32 })
}

fn reads(n: usize) -> Event<Text<'static>> {
    Event::Accessed { access: Access::read(object(n)), what: Text::Str("cell") }
}

fn writes(n: usize) -> Event<Text<'static>> {
    Event::Accessed { access: Access::write(object(n)), what: Text::Str("cell") }
}

fn wakes(n: usize) -> Event<Text<'static>> {
    Event::Enabled { worker: worker(n) }
}

fn sends(from: usize, number: u32, to: usize) -> Event<Text<'static>> {
    let message = MessageId { sender: worker(from), number };
    Event::Sent { message, to: worker(to), payload: Text::Str("m") }
}

type Step<'a> = (usize, &'a [Event<Text<'static>>]);

fn of(steps: &[Step<'_>]) -> u64 {
    let mut happens_before = HappensBefore::default();
    for (who, events) in steps {
        happens_before.begin(worker(*who));
        events.iter().for_each(|event| happens_before.event(event));
        happens_before.end();
    }
    happens_before.fingerprint()
}

/// Whether two steps of different workers give the same fingerprint in both orders.
fn commute(a: &[Event<Text<'static>>], b: &[Event<Text<'static>>]) -> bool {
    of(&[(0, a), (1, b)]) == of(&[(1, b), (0, a)])
}

#[test]
fn steps_commute_unless_they_touch_the_same_thing_and_one_writes() {
    assert!(commute(&[], &[]));
    assert!(commute(&[writes(0)], &[writes(1)]));
    assert!(commute(&[reads(0)], &[reads(0)]));
    assert!(!commute(&[reads(0)], &[writes(0)]));
    assert!(!commute(&[writes(0)], &[writes(0)]));
    assert!(!commute(&[reads(0), writes(1)], &[reads(1), writes(0)]));
    assert!(commute(&[sends(0, 0, 2)], &[sends(1, 0, 3)]));
    assert!(!commute(&[sends(0, 0, 2)], &[sends(1, 0, 2)]));
    let announces = [Event::Announced { payload: Text::Str("Granted") }];
    assert!(!commute(&announces, &announces));
    assert!(commute(&announces, &[writes(0)]));
}

#[test]
fn it_does_not_matter_who_woke_a_worker_but_that_it_was_woken() {
    let one = of(&[(0, &[writes(0), wakes(2)]), (1, &[writes(1)])]);
    let other = of(&[(1, &[writes(1), wakes(2)]), (0, &[writes(0)])]);
    assert_eq!(one, other);
    assert_ne!(one, of(&[(0, &[writes(0)]), (1, &[writes(1)])]));
    // A step of the woken worker ends that.
    let stepped = of(&[(0, &[writes(0), wakes(2)]), (2, &[])]);
    assert_eq!(stepped, of(&[(2, &[]), (0, &[writes(0)])]));
}

#[test]
fn a_new_worker_steps_after_the_one_that_created_it_and_a_timer_after_the_one_that_set_it() {
    let creates = [Event::Created { worker: worker(1), name: Text::Str("w") }];
    let sets = [Event::TimerSet { timer: worker(1), payload: Text::Str("t") }];
    let cancels = [Event::TimerCancelled { timer: worker(1) }];
    for event in [creates, sets, cancels] {
        assert!(!commute(&event, &[]));
    }
}

#[test]
fn a_crash_is_ordered_with_all_steps_of_its_machine_and_faults_with_each_other() {
    let crash = [Event::Crashed { worker: worker(1) }];
    assert!(!commute(&crash, &[]));
    let lost = |n| {
        let message = MessageId { sender: worker(n), number: 0 };
        [Event::Discarded { message, why: Discard::Lost }]
    };
    assert!(!commute(&lost(0), &lost(1)));
    let asked = |order: [usize; 2], index: u32| {
        let mut happens_before = HappensBefore::default();
        for n in order {
            happens_before.begin(worker(n));
            happens_before.value(index, 2, Tag::Fault);
            happens_before.end();
        }
        happens_before.fingerprint()
    };
    assert_eq!(asked([0, 1], 0), asked([1, 0], 0), "two that lose nothing");
    assert_ne!(asked([0, 1], 1), asked([1, 0], 1), "two that take from the budget");
}

#[test]
fn after_clear_it_is_as_new() {
    let mut happens_before = HappensBefore::default();
    for _ in 0..2 {
        happens_before.clear();
        happens_before.begin(worker(0));
        happens_before.event(&writes(0));
        happens_before.event(&wakes(1));
        happens_before.end();
        assert_eq!(happens_before.fingerprint(), of(&[(0, &[writes(0), wakes(1)])]));
    }
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    /// Reads a cell into the worker's register.
    Read(usize),
    /// Writes the register, changed, into a cell.
    Write(usize),
    /// Sends the register.
    Send(usize),
    /// Receives into the register; waits while there is nothing.
    Receive,
    /// Waits while the lock is held.
    Lock(usize),
    Unlock(usize),
    Choose,
}

const CELLS: usize = 2;
const LOCKS: usize = 1;

#[derive(Clone, PartialEq, Eq, Debug)]
struct State {
    at: Vec<usize>,
    registers: Vec<u64>,
    cells: [u64; CELLS],
    held: [Option<usize>; LOCKS],
    inboxes: Vec<VecDeque<(MessageId, u64)>>,
    sent: Vec<u32>,
}

impl State {
    fn new(workers: usize) -> State {
        State {
            at: vec![0; workers],
            registers: vec![0; workers],
            cells: [0; CELLS],
            held: [None; LOCKS],
            inboxes: vec![VecDeque::new(); workers],
            sent: vec![0; workers],
        }
    }

    fn can_step(&self, who: usize, program: &[Vec<Operation>]) -> bool {
        match program[who].get(self.at[who]) {
            None => false,
            Some(Operation::Receive) => !self.inboxes[who].is_empty(),
            Some(Operation::Lock(lock)) => self.held[*lock].is_none(),
            Some(_) => true,
        }
    }

    /// Takes a step; `value` answers a choice. Returns the message that it sends or receives.
    fn step(
        &mut self,
        who: usize,
        operation: Operation,
        value: u32,
        happens_before: &mut HappensBefore,
    ) -> Option<MessageId> {
        let mut passed = None;
        happens_before.begin(worker(who));
        self.at[who] += 1;
        let register = &mut self.registers[who];
        match operation {
            Operation::Read(cell) => {
                *register = self.cells[cell];
                happens_before.event(&reads(cell));
            }
            Operation::Write(cell) => {
                *register = *register * 10 + who as u64 + 1;
                self.cells[cell] = *register;
                happens_before.event(&writes(cell));
            }
            Operation::Send(to) => {
                let message = MessageId { sender: worker(who), number: self.sent[who] };
                self.sent[who] += 1;
                self.inboxes[to].push_back((message, *register));
                happens_before.event(&sends(who, message.number, to));
                passed = Some(message);
            }
            Operation::Receive => {
                if let Some((message, content)) = self.inboxes[who].pop_front() {
                    *register = *register * 100 + content;
                    let payload = Text::Str("m");
                    happens_before.event(&Event::Received { message, payload });
                    passed = Some(message);
                }
            }
            Operation::Lock(lock) => {
                self.held[lock] = Some(who);
                happens_before.event(&writes(CELLS + lock));
            }
            Operation::Unlock(lock) => {
                if self.held[lock] == Some(who) {
                    self.held[lock] = None;
                }
                happens_before.event(&writes(CELLS + lock));
            }
            Operation::Choose => {
                *register = *register * 10 + 7 + u64::from(value);
                happens_before.value(value, 2, Tag::Program);
            }
        }
        happens_before.end();
        passed
    }
}

/// A step: whose, which one, what, the value chosen, and the message.
#[derive(Clone, Copy)]
struct Taken {
    who: usize,
    number: usize,
    operation: Operation,
    value: u32,
    message: Option<MessageId>,
}

/// The definition of dependence, as plainly as possible.
fn dependent(a: Taken, b: Taken) -> bool {
    use Operation::{Lock, Read, Receive, Send, Unlock, Write};
    a.who == b.who
        || match (a.operation, b.operation) {
            (Read(x), Write(y)) | (Write(x), Read(y) | Write(y)) => x == y,
            (Send(x), Send(y)) => x == y,
            (Send(_), Receive) | (Receive, Send(_)) => a.message == b.message,
            (Lock(x) | Unlock(x), Lock(y) | Unlock(y)) => x == y,
            _ => false,
        }
}

type Class = BTreeSet<(usize, usize, u32, Vec<(usize, usize)>)>;

/// The class of a sequence: its steps, each with all earlier ones that it depends on.
fn class_of(sequence: &[Taken]) -> Class {
    let dependencies = |at: usize| {
        let earlier = sequence[..at].iter().filter(|&&one| dependent(one, sequence[at]));
        let mut found: Vec<_> = earlier.map(|one| (one.who, one.number)).collect();
        found.sort_unstable();
        found
    };
    let steps = sequence.iter().enumerate();
    steps.map(|(at, step)| (step.who, step.number, step.value, dependencies(at))).collect()
}

#[derive(Default)]
struct Seen {
    by_class: BTreeMap<Class, u64>,
    by_fingerprint: BTreeMap<u64, (Class, State)>,
    prefixes: usize,
}

fn enumerate(
    program: &[Vec<Operation>],
    state: &State,
    happens_before: &HappensBefore,
    sequence: &mut Vec<Taken>,
    seen: &mut Seen,
) {
    seen.prefixes += 1;
    let fingerprint = happens_before.fingerprint();
    let class = class_of(sequence);
    let known = *seen.by_class.entry(class.clone()).or_insert(fingerprint);
    assert_eq!(known, fingerprint, "one class, two fingerprints: {program:?} {class:?}");
    let (known, same) =
        seen.by_fingerprint.entry(fingerprint).or_insert_with(|| (class.clone(), state.clone()));
    assert_eq!(*known, class, "two classes, one fingerprint: {program:?}");
    assert_eq!(same, state, "two states, one fingerprint: {program:?} {class:?}");
    for who in 0..program.len() {
        if !state.can_step(who, program) {
            continue;
        }
        let number = state.at[who];
        let operation = program[who][number];
        let values = if matches!(operation, Operation::Choose) { 0..2 } else { 0..1 };
        for value in values {
            let (mut state, mut happens_before) = (state.clone(), happens_before.clone());
            let message = state.step(who, operation, value, &mut happens_before);
            sequence.push(Taken { who, number, operation, value, message });
            enumerate(program, &state, &happens_before, sequence, seen);
            sequence.pop();
        }
    }
}

fn random_program(random: &mut fastrand::Rng) -> Vec<Vec<Operation>> {
    let workers = random.usize(2..=3);
    let longest = if workers == 2 { 4 } else { 3 };
    let operation = |random: &mut fastrand::Rng| match random.u8(0..9) {
        0 | 1 => Operation::Read(random.usize(0..CELLS)),
        2 | 3 => Operation::Write(random.usize(0..CELLS)),
        4 => Operation::Send(random.usize(0..workers)),
        5 => Operation::Receive,
        6 => Operation::Lock(random.usize(0..LOCKS)),
        7 => Operation::Unlock(random.usize(0..LOCKS)),
        _ => Operation::Choose,
    };
    let list = |random: &mut fastrand::Rng| {
        let length = random.usize(1..=longest);
        (0..length).map(|_| operation(random)).collect()
    };
    (0..workers).map(|_| list(random)).collect()
}

#[test]
fn fingerprints_are_equal_exactly_for_equal_partial_orders_and_then_states_are_equal() {
    let mut random = fastrand::Rng::with_seed(3);
    let (mut prefixes, mut classes) = (0, 0);
    for _ in 0..2_000 {
        let program = random_program(&mut random);
        let mut seen = Seen::default();
        let state = State::new(program.len());
        enumerate(&program, &state, &HappensBefore::default(), &mut Vec::new(), &mut seen);
        prefixes += seen.prefixes;
        classes += seen.by_class.len();
        assert_eq!(seen.by_class.len(), seen.by_fingerprint.len());
    }
    assert_eq!((prefixes, classes), (633_784, 57_571));
}
