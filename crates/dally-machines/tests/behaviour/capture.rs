//! Captured states: copies, fingerprints and encodings, over random programs.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use dally_core::{
    Captured, Cut, Env, Event, Fingerprint, MessageId, Observe, Program, StateVisitor, Stop,
    System, Tag, Text, WorkerId,
};
use dally_machines::{
    Addr, Cx, Faults, Granularity, MachineProgram, MachineSystem, Mailbox, Setup,
};
use dally_macros::machine;
use proptest::prelude::*;

use crate::driver::{Deaf, Quiet, Random, states};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Do(u8);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Tick(u8);

/// One thing that a random machine does on an event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Action {
    Send(u8, u8),
    Create,
    Persist(u8),
    After(u8),
    Every(u8),
    Cancel(u8),
    Choose,
    Goto,
    Push,
    Pop,
    Raise(u8),
    Halt,
    Seal,
}

/// A machine whose handler for event `n` does the actions of line `n`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Puppet {
    lines: Vec<Vec<Action>>,
    memory: u8,
    fuel: u8,
    others: Vec<Addr<Puppet>>,
}

#[machine(states(Calm, Wild), durable = u8)]
impl Puppet {
    #[entry(Calm)]
    fn calm(&mut self, cx: &mut Cx<Self>) {
        self.act(cx, 0);
    }
    #[on(_, Do)]
    fn event(&mut self, cx: &mut Cx<Self>, Do(number): Do) {
        self.act(cx, number);
    }
    #[on(_, Tick)]
    fn tick(&mut self, cx: &mut Cx<Self>, Tick(number): Tick) {
        self.act(cx, number + 1);
    }
    fn act(&mut self, cx: &mut Cx<Self>, line: u8) {
        self.fuel = match self.fuel.checked_sub(1) {
            Some(fuel) => fuel,
            None => return,
        };
        let line = line as usize % self.lines.len();
        for action in self.lines[line].clone() {
            match action {
                Action::Send(to, number) => {
                    let to = self.others.get(to as usize).copied().unwrap_or(cx.me());
                    cx.send(to, Do(number));
                }
                Action::Create => {
                    let child = Puppet { fuel: 1, ..self.clone() };
                    cx.create(child);
                }
                Action::Persist(value) => cx.persist(value),
                Action::After(number) => cx.after(Duration::from_secs(1), Tick(number)),
                Action::Every(number) => cx.every(Duration::from_secs(1), Tick(number)),
                Action::Cancel(number) => cx.cancel(&Tick(number)),
                Action::Choose => self.memory = cx.choose(2) as u8,
                Action::Goto => return cx.goto(Wild),
                Action::Push => return cx.push(Wild),
                Action::Pop => return cx.pop(),
                Action::Raise(number) => return cx.raise(Do(number)),
                Action::Halt => return cx.halt(),
                Action::Seal => cx.seal(),
            }
        }
    }
    fn recover(self, durable: Option<u8>) -> Puppet {
        Puppet { memory: durable.unwrap_or(9), fuel: 1, ..self }
    }
}

fn actions() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => (0..3u8, 0..3u8).prop_map(|(to, number)| Action::Send(to, number)),
        1 => Just(Action::Create),
        1 => (0..2u8).prop_map(Action::Persist),
        1 => (0..2u8).prop_map(Action::After),
        1 => (0..2u8).prop_map(Action::Every),
        1 => (0..2u8).prop_map(Action::Cancel),
        1 => Just(Action::Choose),
        1 => Just(Action::Goto),
        1 => Just(Action::Push),
        1 => Just(Action::Pop),
        1 => (0..3u8).prop_map(Action::Raise),
        1 => Just(Action::Halt),
        1 => Just(Action::Seal),
    ]
}

fn programs() -> impl Strategy<Value = MachineProgram> {
    let lines = prop::collection::vec(prop::collection::vec(actions(), 0..4), 1..4);
    let machines = prop::collection::vec((lines, 1..4u8), 1..4);
    let mailbox =
        prop_oneof![Just(Mailbox::Fifo), Just(Mailbox::PerSender), Just(Mailbox::Unordered)];
    let granularity = prop_oneof![Just(Granularity::PerSend), Just(Granularity::Atomic)];
    let faults = (0..2u32, 0..2u32, 0..2u32);
    (machines, mailbox, granularity, faults).prop_map(
        |(machines, mailbox, granularity, (lose, duplicate, crash))| {
            MachineProgram::new("puppets", move |setup: &mut Setup| {
                let mut others = Vec::new();
                for (lines, fuel) in &machines {
                    let (lines, fuel) = (lines.clone(), *fuel);
                    others.push(setup.create(Puppet {
                        lines,
                        memory: 0,
                        fuel,
                        others: others.clone(),
                    }));
                }
                setup.seal_while(|puppet: &Puppet, state| {
                    (state == PuppetState::Wild) != (puppet.memory % 2 == 1)
                });
            })
            .mailbox(mailbox)
            .granularity(granularity)
            .faults(Faults { lose, duplicate, crash })
            .run_twice(false)
        },
    )
}

fn encoding(system: &MachineSystem) -> Vec<u8> {
    let mut bytes = Vec::new();
    system.encode(&mut bytes);
    bytes
}

fn parts(system: &MachineSystem) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    system.parts(&mut |part| parts.push(part.to_vec()));
    parts
}

/// Takes random options, and records which messages there were and what happened.
struct Recording(Random, Vec<String>);

impl Env for Recording {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        self.0.value(of, tag)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.1.push(format!("{candidates:?}"));
        self.0.delivery(candidates)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.1.push(format!("{:?}", event.map(|text| text.to_string())));
        Ok(())
    }
}

/// Everything by which two executions in the same state must agree.
fn face(system: &MachineSystem) -> (Vec<u8>, u64, Vec<WorkerId>) {
    let fingerprint = system.fingerprint();
    assert_eq!(fingerprint, system.fingerprint_from_scratch());
    assert_eq!(system.observe(Observe::Control), system.observe_from_scratch(Observe::Control));
    assert_eq!(system.sealed(), system.sealed_from_scratch());
    (encoding(system), fingerprint.unwrap().0, system.enabled().to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_fingerprint_is_kept_up_to_date_and_steps_in_a_fork_are_steps(
        program in programs(),
        seed: u64,
    ) {
        let mut random = Random::new(seed);
        let mut system = program.start().unwrap();
        let start = face(&system);
        for _ in 0..60 {
            let Some(worker) = random.worker(&system) else { break };
            let before = face(&system);
            let mut fork = system.fork();
            let mut twin = random.twin();
            let stepped = system.step(worker, &mut random);
            prop_assert_eq!(&face(&fork), &before, "a step is not seen in a fork");
            let again = fork.step(worker, &mut twin);
            prop_assert_eq!(stepped.is_ok(), again.is_ok());
            if let Err(Stop::Bug(_)) = stepped {
                break;
            }
            prop_assert_eq!(face(&system), face(&fork));
        }
        program.restart(&mut system).unwrap();
        prop_assert_eq!(face(&system), start);
    }

    #[test]
    fn a_restored_system_is_in_the_saved_state_and_goes_on_like_it(
        program in programs(),
        seed: u64,
        first in 0..30usize,
        second in 0..30usize,
    ) {
        let mut random = Random::new(seed);
        let mut system = program.start().unwrap();
        random.walk(&mut system, first);
        let saved = system.fork();
        random.walk(&mut system, second);
        // Into the memory of an execution that went elsewhere.
        system.restore_from(&saved);
        prop_assert_eq!(face(&system), face(&saved));
        let mut other = saved.fork();
        let mut twin = random.twin();
        random.walk(&mut system, 20);
        twin.walk(&mut other, 20);
        prop_assert_eq!(face(&system), face(&other));
    }

    #[test]
    fn a_condensed_state_is_what_it_was_down_to_the_ids_of_messages(
        program in programs(),
        seed: u64,
    ) {
        let (mut plain, mut condensed) = (program.start().unwrap(), program.start().unwrap());
        let mut kept = Vec::new();
        for round in 0..6 {
            program.restart(&mut plain).unwrap();
            program.restart(&mut condensed).unwrap();
            let recording = || Recording(Random::new(seed ^ round), Vec::new());
            let (mut one, mut other) = (recording(), recording());
            for _ in 0..20 {
                let Some(worker) = one.0.worker(&plain) else { break };
                prop_assert_eq!(other.0.worker(&condensed), Some(worker));
                let stepped = plain.step(worker, &mut one).is_ok();
                prop_assert_eq!(condensed.step(worker, &mut other).is_ok(), stepped);
                prop_assert_eq!(&one.1, &other.1);
                if !stepped {
                    break;
                }
                condensed.condense();
                prop_assert_eq!(face(&condensed), face(&plain));
                kept.push((condensed.fork(), face(&plain)));
            }
        }
        for (state, then) in kept {
            prop_assert_eq!(face(&state), then, "states that share memory do not change each other");
        }
    }

    #[test]
    fn states_have_equal_encodings_exactly_if_they_have_equal_fingerprints(program in programs()) {
        let mut random = Random::new(0);
        let mut by_encoding: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        let mut by_fingerprint: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        let mut by_parts: BTreeMap<Vec<Vec<u8>>, Vec<u8>> = BTreeMap::new();
        for _ in 0..30 {
            let mut system = program.start().unwrap();
            for _ in 0..30 {
                let (bytes, fingerprint, _) = face(&system);
                prop_assert_eq!(*by_encoding.entry(bytes.clone()).or_insert(fingerprint), fingerprint);
                prop_assert_eq!(by_fingerprint.entry(fingerprint).or_insert(bytes.clone()), &bytes);
                let parts = parts(&system);
                prop_assert_eq!(by_parts.entry(parts).or_insert(bytes.clone()), &bytes);
                if !random.walk(&mut system, 1) {
                    break;
                }
            }
        }
        prop_assert_eq!(by_parts.len(), by_encoding.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_foreseen_of_a_step_is_what_comes_of_it(program in programs(), seed: u64) {
        let mut random = Deaf(Random::new(seed));
        let mut system = program.start().unwrap();
        for _ in 0..20 {
            program.restart(&mut system).unwrap();
            for _ in 0..30 {
                let Some(worker) = random.0.worker(&system) else { break };
                let before = face(&system);
                let foreseen = system.foresee(worker, &mut Deaf(random.0.twin())).unwrap();
                prop_assert_eq!(face(&system), before, "to foresee changes nothing");
                let stepped = system.step(worker, &mut random);
                if stepped.is_err() {
                    prop_assert_eq!(foreseen, None, "a step that fails has no end");
                    break;
                }
                let there = system.fingerprint();
                prop_assert!(foreseen.is_none() || foreseen == there);
            }
        }
    }
}

#[test]
fn a_step_whose_parts_have_all_been_seen_before_is_foreseen() {
    let program = MachineProgram::new("two pairs", |setup: &mut Setup| {
        let lines = vec![vec![Action::Choose, Action::Send(0, 1)], vec![]];
        for _ in 0..2 {
            let puppet = Puppet { lines: lines.clone(), memory: 0, fuel: 2, others: vec![] };
            let to = setup.create(puppet.clone());
            setup.create(Puppet { others: vec![to], ..puppet });
        }
    });
    let program = program.granularity(Granularity::Atomic).run_twice(false);
    let mut system = program.start().unwrap();
    let ahead = |system: &mut MachineSystem, worker| -> Option<Fingerprint> {
        system.foresee(WorkerId::root(worker), &mut Deaf(Random::new(0))).unwrap()
    };
    let step = |system: &mut MachineSystem, worker| {
        system.step(WorkerId::root(worker), &mut Deaf(Random::new(0))).unwrap();
        system.fingerprint()
    };
    assert_eq!(ahead(&mut system, 1), None, "nobody has stepped yet");
    step(&mut system, 1);
    // What the other pair does makes no difference.
    program.restart(&mut system).unwrap();
    step(&mut system, 3);
    step(&mut system, 2);
    let foreseen = ahead(&mut system, 1);
    assert!(foreseen.is_some());
    assert_eq!(foreseen, step(&mut system, 1));
    // What the receiver has become does.
    program.restart(&mut system).unwrap();
    step(&mut system, 0);
    assert_eq!(ahead(&mut system, 1), None);
}

#[test]
fn states_of_small_programs_are_told_apart_by_fingerprints_as_by_encodings() {
    for mailbox in [Mailbox::Fifo, Mailbox::PerSender, Mailbox::Unordered] {
        let program = MachineProgram::new("small", |setup: &mut Setup| {
            let lines =
                vec![vec![Action::Send(0, 1), Action::Send(0, 2)], vec![Action::Choose], vec![]];
            let first = Puppet { lines: lines.clone(), memory: 0, fuel: 3, others: vec![] };
            let to = setup.create(first);
            for _ in 0..2 {
                setup.create(Puppet { lines: lines.clone(), memory: 0, fuel: 1, others: vec![to] });
            }
        });
        let mut fingerprints = std::collections::BTreeSet::new();
        let count = states(&program.mailbox(mailbox), |system| {
            assert_eq!(system.fingerprint(), system.fingerprint_from_scratch());
            fingerprints.insert(system.fingerprint());
        });
        assert_eq!(fingerprints.len(), count, "{mailbox:?}");
    }
}

#[test]
fn the_order_in_which_independent_workers_came_to_be_leaves_no_trace() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Parent;

    #[machine(states(Start))]
    impl Parent {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            cx.create(Parent2);
        }
    }
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Parent2;

    #[machine(states(Start))]
    impl Parent2 {}

    let program = MachineProgram::new("parents", |setup: &mut Setup| {
        setup.create(Parent);
        setup.create(Parent);
    });
    let after = |order: [u32; 4]| {
        let mut system = program.start().unwrap();
        for root in order {
            system.step(WorkerId::root(root), &mut Quiet).unwrap();
        }
        face(&system)
    };
    assert_eq!(after([0, 0, 1, 1]), after([1, 1, 0, 0]));
}

/// Counts how often it is copied, per thread.
#[derive(PartialEq, Eq, Debug)]
struct Copies;

thread_local! {
    static COPIES: Cell<usize> = const { Cell::new(0) };
    static HASHES: Cell<usize> = const { Cell::new(0) };
}

impl Clone for Copies {
    fn clone(&self) -> Copies {
        COPIES.set(COPIES.get() + 1);
        Copies
    }
}

impl Hash for Copies {
    fn hash<H: Hasher>(&self, _: &mut H) {
        HASHES.set(HASHES.get() + 1);
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Counted(Copies, Option<Addr<Counted>>);

#[machine(states(Start))]
impl Counted {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        if let Some(to) = self.1 {
            cx.send(to, Do(0));
        }
    }
    #[on(Start, Do)]
    fn event(&mut self) {}
}

#[test]
fn a_step_copies_and_rehashes_only_the_workers_that_it_touched() {
    let program = MachineProgram::new("counted", |setup: &mut Setup| {
        let to = setup.create(Counted(Copies, None));
        setup.create(Counted(Copies, Some(to)));
        for _ in 0..20 {
            setup.create(Counted(Copies, None));
        }
    });
    let program = program.run_twice(false);
    let counted = |code: &mut dyn FnMut()| {
        COPIES.set(0);
        HASHES.set(0);
        code();
        (COPIES.get(), HASHES.get())
    };
    let mut system = program.start().unwrap();
    let (receiver, sender) = (WorkerId::root(0), WorkerId::root(1));
    system.fingerprint();
    assert_eq!(counted(&mut || system = system.fork()), (0, 0), "a fork copies pointers");
    let saved = system.fork();
    let touched = counted(&mut || {
        system.step(receiver, &mut Quiet).unwrap();
        system.fingerprint();
    });
    assert_eq!(touched, (1, 1));
    let touched = counted(&mut || {
        system.step(sender, &mut Quiet).unwrap();
        system.fingerprint();
    });
    assert_eq!(touched, (1, 1), "the handler runs, the send waits");
    let touched = counted(&mut || {
        system.step(sender, &mut Quiet).unwrap();
        system.fingerprint();
    });
    assert_eq!(touched, (0, 0), "no longer shared, and only the inbox and the effects change");
    let restored = counted(&mut || system.restore_from(&saved));
    assert_eq!(restored, (0, 0), "to go back is to share again");
    let again = counted(&mut || {
        system.fingerprint();
    });
    assert_eq!(again, (0, 0), "the fingerprint comes back with the state");
}

#[test]
fn a_step_changes_the_parts_of_the_workers_that_it_touched_and_no_others() {
    let program = MachineProgram::new("counted", |setup: &mut Setup| {
        let to = setup.create(Counted(Copies, None));
        setup.create(Counted(Copies, Some(to)));
        setup.create(Counted(Copies, None));
    });
    let mut system = program.start().unwrap();
    let before = parts(&system);
    assert_eq!(before.len(), 4, "three workers and the rest");
    let mut changed = |worker: u32| {
        system.step(WorkerId::root(worker), &mut Quiet).unwrap();
        let now = parts(&system);
        (0..4).filter(|&at| now[at] != before[at]).collect::<Vec<_>>()
    };
    assert_eq!(changed(1), [2], "its handler has run");
    assert_eq!(changed(1), [1, 2], "and its message is sent");
}

/// Why the states of a program are not copied.
struct WhyReplayed;

impl StateVisitor<MachineProgram> for WhyReplayed {
    type Output = Option<String>;

    fn copied(self, _: Arc<MachineProgram>) -> Option<String> {
        None
    }

    fn replayed(self, _: Arc<MachineProgram>, why: Option<String>) -> Option<String> {
        why
    }
}

#[test]
fn an_uncaptured_machine_is_named_as_why_states_are_replayed_and_still_runs() {
    #[derive(Debug)]
    struct Raw(f64);

    #[derive(Debug)]
    struct Loose(f64);

    #[machine(uncaptured, states(Start))]
    impl Loose {
        #[on(Start, Raw)]
        fn raw(&mut self, cx: &mut Cx<Self>, Raw(value): Raw) {
            self.0 += value;
            cx.note(self.0);
        }
    }
    let program = Arc::new(MachineProgram::new("loose", |setup: &mut Setup| {
        let loose = setup.create(Loose(1.0));
        setup.send(loose, Raw(0.5));
    }));
    let mut system = program.start().unwrap();
    assert_eq!(system.fingerprint(), None);
    insta::assert_snapshot!(program.clone().states(WhyReplayed).unwrap(), @"machine `Loose` is declared `uncaptured`: its state cannot be copied and compared. Derive `Clone, PartialEq, Eq, Hash` for it and its events, and drop `uncaptured`");
    for _ in 0..2 {
        let mut steps = 0;
        while let Some(&worker) = system.enabled().first() {
            system.step(worker, &mut Quiet).unwrap();
            steps += 1;
        }
        assert_eq!(steps, 2);
        program.restart(&mut system).unwrap();
    }
    let mut fork = system.fork();
    let Err(Stop::Bug(bug)) = fork.step(WorkerId::root(0), &mut Quiet) else { panic!("it ran") };
    assert!(dally_report::text::bug(&bug).contains("uncaptured"));
}
