//! What a program tells the search by strata: hints, and regions in which no delay is spent.

use std::collections::BTreeSet;

use dally_core::{BugKind, Captured, Event, Program, System, WorkerId};
use dally_machines::{Addr, Cx, Faults, Granularity, MachineProgram, MachineSystem, Setup};
use dally_macros::machine;

use crate::driver::{Quiet, first, schedules};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Go;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Item(u8);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Sink;

#[machine(states(Start))]
impl Sink {
    #[on(Start, Item)]
    fn item(&mut self) {}
}

/// What the handler of [`Sealer`] does, in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Do {
    Seal,
    Unseal,
    Send,
    Halt,
}

use Do::{Halt, Seal, Send, Unseal};

/// Does one list in its first step, and the other on an event that it sends itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Sealer {
    to: Addr<Sink>,
    lists: [Vec<Do>; 2],
}

#[machine(states(Start), durable = ())]
impl Sealer {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        self.act(cx, 0);
    }
    #[on(Start, Go)]
    fn go(&mut self, cx: &mut Cx<Self>) {
        self.act(cx, 1);
    }
    fn act(&mut self, cx: &mut Cx<Self>, list: usize) {
        for (at, what) in self.lists[list].clone().into_iter().enumerate() {
            match what {
                Seal => cx.seal(),
                Unseal => cx.unseal(),
                Send => cx.send(self.to, Item(at as u8)),
                Halt => cx.halt(),
            }
        }
    }
    fn recover(self, _: Option<()>) -> Sealer {
        self
    }
}

const FAULTS: WorkerId = WorkerId::FAULTS;

fn program(first: &[Do], second: &[Do]) -> MachineProgram {
    let lists = [first.to_vec(), second.to_vec()];
    MachineProgram::new("sealer", move |setup: &mut Setup| {
        let to = setup.create(Sink);
        let sealer = setup.create(Sealer { to, lists: lists.clone() });
        setup.send(sealer, Go);
    })
    .run_twice(false)
}

/// Whether the state is sealed at first and after each step of the sealer alone.
fn seals(program: &MachineProgram) -> Vec<bool> {
    let mut system = program.start().unwrap();
    let mut seals = vec![system.sealed()];
    while system.enabled().contains(&WorkerId::root(1)) {
        system.step(WorkerId::root(1), &mut Quiet).unwrap();
        seals.push(system.sealed());
    }
    seals
}

#[test]
fn the_state_is_sealed_from_the_effect_before_to_the_effect_after_and_no_step_is_added() {
    let sealed = program(&[Send, Seal, Send, Send, Unseal, Send], &[]);
    // Start; the handler has run; the first send, and with it the seal; the second; the third,
    // and with it the end of the seal; the last; and the event to itself.
    assert_eq!(seals(&sealed), [false, false, true, true, false, false, false]);
    let plain = program(&[Send, Send, Send, Send], &[]);
    assert_eq!(seals(&plain).len(), 7);
    assert_eq!(schedules(&sealed).len(), schedules(&plain).len());
}

#[test]
fn a_seal_at_the_beginning_of_a_handler_holds_before_its_first_send() {
    assert_eq!(seals(&program(&[Seal, Send, Unseal], &[])), [false, true, false, false]);
}

#[test]
fn seals_nest_and_last_into_later_handlers() {
    let program = program(&[Seal, Seal, Send, Unseal], &[Send, Unseal]);
    assert_eq!(seals(&program), [false, true, true, true, false]);
}

#[test]
fn a_sealed_atomic_handler_leaves_no_sealed_state() {
    let program = program(&[Seal, Send, Unseal], &[Send]).granularity(Granularity::Atomic);
    assert_eq!(seals(&program), [false, false, false]);
}

#[test]
fn halting_and_crashing_give_back_all_seals() {
    assert_eq!(seals(&program(&[Seal, Seal, Send, Halt], &[])), [false, true, false]);
    let mortal = program(&[Seal, Send], &[]).faults(Faults { crash: 1, ..Faults::NONE });
    let mut system = mortal.start().unwrap();
    system.step(WorkerId::root(1), &mut Quiet).unwrap();
    assert!(system.sealed());
    system.step(FAULTS, &mut Quiet).unwrap();
    assert!(!system.sealed());
    system.step(FAULTS, &mut Quiet).unwrap();
    system.step(WorkerId::root(1), &mut Quiet).unwrap();
    assert!(system.sealed(), "it starts again");
}

#[test]
fn the_state_is_sealed_while_any_machine_holds_a_seal() {
    let program = MachineProgram::new("two", |setup: &mut Setup| {
        let to = setup.create(Sink);
        for _ in 0..2 {
            setup.create(Sealer { to, lists: [vec![Seal, Send, Unseal], vec![]] });
        }
    });
    let mut system = program.start().unwrap();
    let mut after = |worker: u32| {
        system.step(WorkerId::root(worker), &mut Quiet).unwrap();
        system.sealed()
    };
    assert_eq!([1, 2, 1, 2].map(&mut after), [true, true, true, false]);
}

#[test]
fn unsealing_what_was_not_sealed_is_a_bug_at_the_call() {
    let run = first(&program(&[Seal, Unseal, Send, Unseal], &[]));
    assert!(run.has(|event| matches!(event, Event::Sent { .. })), "what came before is seen");
    let bug = run.bug.unwrap();
    assert_eq!(bug.kind(), BugKind::Panic);
    assert!(bug.location.as_ref().unwrap().file.ends_with("sealing.rs"));
    insta::assert_snapshot!(dally_report::text::bug(&bug), @"`Sealer` calls `unseal` and holds no seal; call `seal` before it");
}

fn encoding(system: &MachineSystem) -> Vec<u8> {
    let mut bytes = Vec::new();
    system.encode(&mut bytes);
    bytes
}

#[test]
fn a_seal_is_part_of_the_state_and_of_its_copies() {
    let mut twice = program(&[Seal], &[Seal]).start().unwrap();
    let unsealed = twice.fork();
    twice.step(WorkerId::root(1), &mut Quiet).unwrap();
    let held = twice.fork();
    assert!(held.sealed() && !unsealed.sealed());
    twice.step(WorkerId::root(1), &mut Quiet).unwrap();
    let states = [&unsealed, &held, &twice];
    assert_eq!(states.map(encoding).into_iter().collect::<BTreeSet<_>>().len(), 3);
    assert_eq!(states.map(|s| s.fingerprint()).into_iter().collect::<BTreeSet<_>>().len(), 3);
    twice.restore_from(&unsealed);
    assert!(!twice.sealed());
    assert_eq!(twice.fingerprint(), twice.fingerprint_from_scratch());
}

#[test]
fn a_hint_is_told_at_once() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Hinter(Addr<Sink>);

    #[machine(states(Start))]
    impl Hinter {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            cx.send(self.0, Item(0));
            cx.hint("set up");
        }
    }
    let run = first(&MachineProgram::new("hints", |setup: &mut Setup| {
        let to = setup.create(Sink);
        setup.create(Hinter(to));
    }));
    let place = |wanted: fn(&Event<String>) -> bool| {
        run.events.iter().position(|(_, event)| wanted(event)).unwrap()
    };
    let hinted = place(|event| matches!(event, Event::Hinted { hint } if hint == "set up"));
    assert!(hinted < place(|event| matches!(event, Event::Sent { .. })));
}
