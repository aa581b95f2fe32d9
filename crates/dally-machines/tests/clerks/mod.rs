//! Random machines that do all that machines can do.

use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use dally_machines::{Addr, Cx, Faults, Granularity, MachineProgram, Mailbox, MonitorCx, Setup};
use dally_macros::{machine, monitor};
use fastrand::Rng;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Letter(pub u8);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Parcel;
/// Of a timer that fires once.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Alarm;
/// Of a timer that fires again and again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Beat;
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Said(u8);

/// Remembers in which order it heard things.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Watch(u32);

#[monitor(states(Only))]
impl Watch {
    #[on(Only, Said)]
    fn said(&mut self, _: &mut MonitorCx<Self>, said: &Said) {
        self.0 = self.0.wrapping_mul(31).wrapping_add(u32::from(said.0));
    }
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Letter(usize),
    Parcel(usize),
    Say,
    SetAlarm,
    CancelAlarm,
    StartBeat,
    StopBeat,
    Persist,
    Create,
    Halt,
    Goto(usize),
    Flip,
}

/// By state, then by event: entry, letter, parcel, alarm, beat, nothing.
type Rules = [[Vec<Action>; 6]; 3];

/// The same all the time, so it is no part of the state.
#[derive(Clone, Debug)]
struct Fixed(Arc<Rules>);

impl PartialEq for Fixed {
    fn eq(&self, _: &Fixed) -> bool {
        true
    }
}

impl Eq for Fixed {}

impl Hash for Fixed {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// Follows its rules until it has no strength left.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Clerk {
    rules: Fixed,
    all: Vec<Addr<Clerk>>,
    state: usize,
    strength: u8,
    seen: u32,
    /// Whether it fails after some orders of events.
    fails: bool,
}

#[machine(states(One, Two, Three), durable = u32)]
impl Clerk {
    #[entry(One)]
    fn begin(&mut self, cx: &mut Cx<Self>) {
        self.act(cx, 0, 1);
    }
    #[on(One | Two | Three, Letter)]
    fn letter(&mut self, cx: &mut Cx<Self>, letter: Letter) {
        self.act(cx, 1, u32::from(letter.0) + 2);
    }
    #[on(One | Two, Parcel)]
    fn parcel(&mut self, cx: &mut Cx<Self>) {
        self.act(cx, 2, 3);
    }
    #[on(One | Three, Alarm)]
    fn alarm(&mut self, cx: &mut Cx<Self>) {
        self.act(cx, 3, 5);
    }
    #[on(One | Two, Beat)]
    fn beat(&mut self, cx: &mut Cx<Self>) {
        self.act(cx, 4, 7);
    }
    #[default(Two)]
    fn idle(&mut self, cx: &mut Cx<Self>) {
        self.act(cx, 5, 11);
    }

    #[defer(Three, Parcel)]
    #[ignore(Two, Alarm)]
    #[ignore(Three, Beat)]
    const RULES: () = ();

    fn recover(self, durable: Option<u32>) -> Clerk {
        Clerk { state: 0, seen: durable.unwrap_or(1), ..self }
    }

    fn act(&mut self, cx: &mut Cx<Self>, event: usize, saw: u32) {
        const SECOND: Duration = Duration::from_secs(1);
        self.seen = self.seen.wrapping_mul(31).wrapping_add(saw);
        match self.seen % 41 {
            7 if self.fails => panic!("one order"),
            19 if self.fails => panic!("another order"),
            29 if self.fails => panic!("a third order"),
            _ => {}
        }
        if self.strength == 0 {
            return;
        }
        self.strength -= 1;
        let rules = Arc::clone(&self.rules.0);
        for &action in &rules[self.state][event] {
            match action {
                Action::Letter(to) => cx.send(self.all[to], Letter(self.strength)),
                Action::Parcel(to) => cx.send(self.all[to], Parcel),
                Action::Say => cx.announce(Said(self.strength)),
                Action::SetAlarm => cx.after(SECOND, Alarm),
                Action::CancelAlarm => cx.cancel(&Alarm),
                Action::StartBeat => cx.every(SECOND, Beat),
                Action::StopBeat => cx.cancel(&Beat),
                Action::Persist => cx.persist(self.seen),
                Action::Create => {
                    let strength = self.strength / 2;
                    cx.create(Clerk { state: 0, strength, seen: 0, ..self.clone() });
                }
                Action::Halt => cx.halt(),
                Action::Flip => self.seen += u32::from(cx.flip()),
                Action::Goto(state) => {
                    self.state = state;
                    cx.goto([One, Two, Three][state]);
                    return;
                }
            }
        }
    }
}

fn random_deeds(rng: &mut Rng, clerks: usize, most: usize) -> Vec<Action> {
    let action = |rng: &mut Rng| match rng.u8(..32) {
        0..10 => Action::Letter(rng.usize(..clerks)),
        10..15 => Action::Parcel(rng.usize(..clerks)),
        15..17 => Action::Say,
        17..20 => Action::SetAlarm,
        20 => Action::CancelAlarm,
        21..23 => Action::StartBeat,
        23 => Action::StopBeat,
        24..26 => Action::Persist,
        26 => Action::Create,
        27 => Action::Halt,
        28 => Action::Flip,
        _ => Action::Goto(rng.usize(..3)),
    };
    (0..rng.usize(..most)).map(|_| action(rng)).collect()
}

/// A random program.
pub fn random(seed: u64) -> MachineProgram {
    of_size(seed, 2..=4, 4, 5, false)
}

/// A small random program of which many fail after some orders.
pub fn failing(seed: u64) -> MachineProgram {
    of_size(seed, 2..=2, 4, 2, true)
}

/// A random program with so few executions that all can be enumerated, more often than not.
pub fn small(seed: u64) -> MachineProgram {
    let strength = 1 + u8::from(seed.is_multiple_of(3));
    of_size(seed, 2..=3, 3, strength, false)
}

/// A small random program with faults of some kinds.
pub fn faulty(seed: u64) -> MachineProgram {
    let kinds = 1 + seed % 7;
    let fault = |kind: u64| u32::from(kinds >> kind & 1 == 1);
    let faults = Faults { lose: fault(0), duplicate: fault(1), crash: fault(2) };
    of_size(seed, 1..=2, 3, 1, false).faults(faults)
}

fn of_size(
    seed: u64,
    clerks: RangeInclusive<usize>,
    actions: usize,
    strength: u8,
    fails: bool,
) -> MachineProgram {
    let mut rng = Rng::with_seed(seed);
    let clerks = rng.usize(clerks);
    let rules: Vec<Arc<Rules>> = (0..clerks)
        .map(|_| {
            let mut actions = || random_deeds(&mut rng, clerks, actions);
            Arc::new(std::array::from_fn(|_| std::array::from_fn(|_| actions())))
        })
        .collect();
    let mailboxes = [Mailbox::Fifo, Mailbox::PerSender, Mailbox::Unordered];
    let mailbox = mailboxes[rng.usize(..mailboxes.len())];
    let granularity = [Granularity::PerSend, Granularity::Atomic][rng.usize(..2)];
    let faulty = strength > 2 || fails || seed.is_multiple_of(4);
    let mut fault = || u32::from(rng.u8(..3) == 0 && faulty);
    let faults = Faults { lose: fault(), duplicate: fault(), crash: fault() };
    let keep = rng.bool();
    MachineProgram::new("clerks", move |setup: &mut Setup| {
        let all: Vec<Addr<Clerk>> = rules.iter().map(|_| setup.reserve()).collect();
        for (&clerk, rules) in all.iter().zip(&rules) {
            let (rules, all) = (Fixed(Arc::clone(rules)), all.clone());
            setup.fill(clerk, Clerk { rules, all, state: 0, strength, seen: 0, fails });
        }
        setup.monitor(Watch(0));
    })
    .mailbox(mailbox)
    .granularity(granularity)
    .faults(faults)
    .keep_inbox(keep)
    .run_twice(false)
}
