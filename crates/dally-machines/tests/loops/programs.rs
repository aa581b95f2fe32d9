//! Random machines. What is under way never becomes more, so that there are finitely many states.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use dally_core::{Property, Proposition};
use dally_machines::{Addr, Cx, Faults, Granularity, MachineProgram, Mailbox, Setup};
use dally_macros::{machine, monitor};
use fastrand::Rng;

/// The names of the monitors, by number.
pub const MONITORS: [&str; 2] = ["Answers", "stays lit"];

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Letter;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Parcel;
/// Of a timer that fires once.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Alarm;
/// Of a timer that fires again and again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Beat;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Asked;
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Answered;
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Light(bool);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Answers;

#[monitor(states(cold Idle, hot Waiting))]
impl Answers {
    #[goto(Idle | Waiting, Asked => Waiting)]
    #[goto(Idle | Waiting, Answered => Idle)]
    const RULES: () = ();
}

/// What a machine does with an event: one of these, as it chooses.
type Ways = Vec<Way>;

/// By state, then by event: letter, parcel, alarm, beat.
type Rules = [[Ways; 4]; 3];

#[derive(Clone, Debug)]
struct Way {
    says: Option<Say>,
    does: Action,
    goes_to: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Say {
    Asked,
    Answered,
    Light(bool),
    /// An answer and the next question at once: who waits does not wait all through the step.
    AnsweredAndAsked,
    /// Off and on again at once.
    Flicker,
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Nothing,
    Letter(usize),
    Parcel(usize),
    SetAlarm,
    StartBeat,
    StopBeat,
}

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

/// Follows its rules. In its third state it lets parcels wait.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Clerk {
    rules: Fixed,
    all: Vec<Addr<Clerk>>,
    state: usize,
}

#[machine(states(One, Two, Three))]
impl Clerk {
    #[on(One | Two | Three, Letter)]
    fn letter(&mut self, cx: &mut Cx<Self>) {
        self.act(cx, 0);
    }
    #[on(One | Two, Parcel)]
    fn parcel(&mut self, cx: &mut Cx<Self>) {
        self.act(cx, 1);
    }
    #[on(One | Two | Three, Alarm)]
    fn alarm(&mut self, cx: &mut Cx<Self>) {
        self.act(cx, 2);
    }
    #[on(One | Two | Three, Beat)]
    fn beat(&mut self, cx: &mut Cx<Self>) {
        self.act(cx, 3);
    }

    #[defer(Three, Parcel)]
    const RULES: () = ();

    /// What it chooses is chosen where it is called, a place for each event.
    #[track_caller]
    fn act(&mut self, cx: &mut Cx<Self>, event: usize) {
        const SECOND: Duration = Duration::from_secs(1);
        let rules = Arc::clone(&self.rules.0);
        let ways = &rules[self.state][event];
        let way = if ways.len() == 1 { &ways[0] } else { cx.pick(ways) };
        match way.says {
            Some(Say::Asked) => cx.announce(Asked),
            Some(Say::Answered) => cx.announce(Answered),
            Some(Say::Light(on)) => cx.announce(Light(on)),
            Some(Say::AnsweredAndAsked) => {
                cx.announce(Answered);
                cx.announce(Asked);
            }
            Some(Say::Flicker) => {
                cx.announce(Light(false));
                cx.announce(Light(true));
            }
            None => {}
        }
        match way.does {
            Action::Nothing => {}
            Action::Letter(to) => cx.send(self.all[to], Letter),
            Action::Parcel(to) => cx.send(self.all[to], Parcel),
            Action::SetAlarm => cx.after(SECOND, Alarm),
            Action::StartBeat => cx.every(SECOND, Beat),
            Action::StopBeat => cx.cancel(&Beat),
        }
        if let Some(state) = way.goes_to {
            self.state = state;
            cx.goto([One, Two, Three][state]);
        }
    }
}

const MAILBOXES: [Mailbox; 3] = [Mailbox::Fifo, Mailbox::PerSender, Mailbox::Unordered];

/// Two to four clerks with up to three letters and parcels among them.
pub fn random(seed: u64) -> MachineProgram {
    let mut rng = Rng::with_seed(seed);
    let clerks = rng.usize(2..=4);
    let rules: Vec<_> = (0..clerks).map(|_| Arc::new(random_rules(&mut rng, clerks))).collect();
    let posts: Vec<(usize, bool)> =
        (0..rng.usize(1..=3)).map(|_| (rng.usize(..clerks), rng.bool())).collect();
    let mailbox = MAILBOXES[rng.usize(..MAILBOXES.len())];
    let granularity = [Granularity::PerSend, Granularity::Atomic][rng.usize(..2)];
    let faulty = u32::from(rng.u8(..8) == 0);
    let lit = rng.bool();
    let program = MachineProgram::new("clerks", move |setup: &mut Setup| {
        let all: Vec<Addr<Clerk>> = rules.iter().map(|_| setup.reserve()).collect();
        for (&clerk, rules) in all.iter().zip(&rules) {
            let (rules, all) = (Fixed(Arc::clone(rules)), all.clone());
            setup.fill(clerk, Clerk { rules, all, state: 0 });
        }
        for &(to, parcel) in &posts {
            if parcel { setup.send(all[to], Parcel) } else { setup.send(all[to], Letter) }
        }
        setup.monitor(Answers);
        let light = Proposition::new("light").on(|light: &Light| light.0);
        let light = if lit { light.at_first() } else { light };
        setup.monitor(Property::eventually_always("stays lit", light));
    });
    let faults = Faults { lose: faulty, duplicate: faulty, crash: 0 };
    program.mailbox(mailbox).granularity(granularity).faults(faults).run_twice(false)
}

fn random_rules(rng: &mut Rng, clerks: usize) -> Rules {
    let states = rng.usize(2..=3);
    std::array::from_fn(|_| {
        std::array::from_fn(|event| {
            let ways = if rng.u8(..5) == 0 { 2 } else { 1 };
            (0..ways).map(|_| random_way(rng, clerks, states, event == 3)).collect()
        })
    })
}

/// A beat sends nothing: there would be no end to what is under way.
fn random_way(rng: &mut Rng, clerks: usize, states: usize, beat: bool) -> Way {
    let says = match rng.u8(..10) {
        0 => Some(Say::Asked),
        1 => Some(Say::Answered),
        2 => Some(Say::Light(true)),
        3 => Some(Say::Light(false)),
        4 if rng.bool() => Some(Say::AnsweredAndAsked),
        4 => Some(Say::Flicker),
        _ => None,
    };
    let does = match rng.u8(..16) {
        0 => Action::StopBeat,
        _ if beat => Action::Nothing,
        1 => Action::StartBeat,
        2 | 3 => Action::SetAlarm,
        4 => Action::Nothing,
        5..8 => Action::Parcel(rng.usize(..clerks)),
        _ => Action::Letter(rng.usize(..clerks)),
    };
    let goes_to = (rng.u8(..3) == 0).then(|| rng.usize(..states));
    Way { says, does, goes_to }
}
