//! Steps of machines whose footprints commute can be exchanged: random machines that send, create,
//! announce, persist, halt, set timers and do nothing in particular, with all mailboxes, both
//! granularities and all faults.

// Generated code names the facade; these tests stand in for it.
extern crate self as dally;
#[allow(unused_imports)]
mod __private {
    pub use dally_core as contract;
    pub use dally_machines as machines;
}

#[path = "../../dally-search/tests/swaps/mod.rs"]
#[expect(dead_code, reason = "tests of systems that are not captured use the rest")]
mod swaps;

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use dally_core::{Bug, BugKind, Program};
use dally_machines::{
    Addr, Cx, Faults, Granularity, MachineProgram, MachineSystem, Mailbox, MonitorCx, Setup,
};
use dally_macros::{machine, monitor};
use dally_search::strata::{Plan, RoundRobin, SearchKind, explore};
use dally_search::{Ended, Options};
use fastrand::Rng;
use swaps::{How, Tally, try_swaps, whole};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Letter(u8);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Parcel;
/// Of a timer that fires once.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Alarm;
/// Of a timer that fires again and again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Beat;
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Said(u8);

/// Remembers in which order it heard things.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Watch(u32);

#[monitor(states(Only))]
impl Watch {
    #[on(Only, Said)]
    fn said(&mut self, _: &mut MonitorCx<Self>, said: &Said) {
        self.0 = self.0.wrapping_mul(31).wrapping_add(u32::from(said.0));
    }
}

#[derive(Clone, Copy, Debug)]
enum Deed {
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
type Rules = [[Vec<Deed>; 6]; 3];

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
struct Clerk {
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
        for &deed in &rules[self.state][event] {
            match deed {
                Deed::Letter(to) => cx.send(self.all[to], Letter(self.strength)),
                Deed::Parcel(to) => cx.send(self.all[to], Parcel),
                Deed::Say => cx.announce(Said(self.strength)),
                Deed::SetAlarm => cx.after(SECOND, Alarm),
                Deed::CancelAlarm => cx.cancel(&Alarm),
                Deed::StartBeat => cx.every(SECOND, Beat),
                Deed::StopBeat => cx.cancel(&Beat),
                Deed::Persist => cx.persist(self.seen),
                Deed::Create => {
                    let strength = self.strength / 2;
                    cx.create(Clerk { state: 0, strength, seen: 0, ..self.clone() });
                }
                Deed::Halt => cx.halt(),
                Deed::Flip => self.seen += u32::from(cx.flip()),
                Deed::Goto(state) => {
                    self.state = state;
                    cx.goto([One, Two, Three][state]);
                    return;
                }
            }
        }
    }
}

fn random_deeds(rng: &mut Rng, clerks: usize) -> Vec<Deed> {
    let deed = |rng: &mut Rng| match rng.u8(..32) {
        0..10 => Deed::Letter(rng.usize(..clerks)),
        10..15 => Deed::Parcel(rng.usize(..clerks)),
        15..17 => Deed::Say,
        17..20 => Deed::SetAlarm,
        20 => Deed::CancelAlarm,
        21..23 => Deed::StartBeat,
        23 => Deed::StopBeat,
        24..26 => Deed::Persist,
        26 => Deed::Create,
        27 => Deed::Halt,
        28 => Deed::Flip,
        _ => Deed::Goto(rng.usize(..3)),
    };
    (0..rng.usize(..4)).map(|_| deed(rng)).collect()
}

fn random(seed: u64, (most, strength): (usize, u8), fails: bool) -> MachineProgram {
    let mut rng = Rng::with_seed(seed);
    let clerks = rng.usize(2..=most);
    let rules: Vec<Arc<Rules>> = (0..clerks)
        .map(|_| {
            let mut deeds = || random_deeds(&mut rng, clerks);
            Arc::new(std::array::from_fn(|_| std::array::from_fn(|_| deeds())))
        })
        .collect();
    let mailboxes = [Mailbox::Fifo, Mailbox::PerSender, Mailbox::Unordered];
    let mailbox = mailboxes[rng.usize(..mailboxes.len())];
    let granularity = [Granularity::PerSend, Granularity::Atomic][rng.usize(..2)];
    let mut fault = || u32::from(rng.u8(..3) == 0);
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

#[test]
fn exchanging_steps_of_machines_that_commute_makes_no_difference() {
    let how = How { state: whole::<MachineSystem>, happens_before: false };
    let mut tally = Tally::default();
    for seed in 0..4_000 {
        let program = random(seed, (4, 5), false);
        for schedule in 0..3 {
            let what = || format!("random({seed}), schedule {schedule}");
            tally += try_swaps(&program, &how, seed << 8 | schedule, &what);
        }
    }
    assert!(tally.swaps > 20_000, "{tally:?}");
    assert!(tally.foreseen > 20_000, "{tally:?}");
}

/// The same program, whose states are had by running prefixes again.
struct Replayed(MachineProgram);

impl Program for Replayed {
    type System = MachineSystem;

    fn start(&self) -> Result<MachineSystem, Bug> {
        self.0.start()
    }
}

/// What a search finds; `None` if it does not come to its end.
fn causes<P: Program + 'static>(program: P, search: SearchKind) -> Option<BTreeSet<String>> {
    let plan = Plan { search, memory: 1 << 16, ..Plan::default() };
    let options = Options { keep_going: true, shrink: false, max_steps: 40, ..Options::default() };
    let report = explore(Arc::new(program), RoundRobin::default(), plan, options, Arc::new(()));
    let found = report.findings.iter().map(|finding| finding.bug.to_string());
    (report.ended == Ended::Exhausted && report.cut == 0).then(|| found.collect())
}

/// Crashes within a budget, what is persisted, timers and faults are all part of what happened before what.
#[test]
fn a_search_that_replays_finds_what_one_that_copies_finds() {
    let searches = [SearchKind::Dfs, SearchKind::Bfs, SearchKind::Ses, SearchKind::Preemptions];
    let (mut compared, mut failing) = (0, 0);
    for seed in 0..600 {
        let program = || random(seed, (2, 2), true);
        let Some(copied) = causes(program(), SearchKind::Dfs) else { continue };
        let search = searches[seed as usize % searches.len()];
        let Some(replayed) = causes(Replayed(program()), search) else { continue };
        assert_eq!(replayed, copied, "{search}, seed {seed}");
        compared += 1;
        failing += usize::from(!copied.is_empty());
    }
    println!("{compared} programs of machines that can crash, {failing} of which fail");
    assert!(compared > 100 && failing > 30, "{compared} {failing}");
}

/// Writes down what it says before it says it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Careful(Addr<Loose>, bool);

#[machine(states(Start), durable = bool)]
impl Careful {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        if !self.1 {
            cx.persist(true);
            cx.send(self.0, Letter(0));
            cx.send(self.0, Letter(1));
        }
    }
    fn recover(self, durable: Option<bool>) -> Careful {
        Careful(self.0, durable.unwrap_or(false))
    }
}

/// Its state cannot be copied.
#[derive(Debug)]
struct Loose(u32);

#[machine(uncaptured, states(Start))]
impl Loose {
    #[on(Start, Letter)]
    fn letter(&mut self, _: &mut Cx<Self>, letter: Letter) {
        self.0 = self.0 * 3 + u32::from(letter.0) + 1;
    }
}

#[test]
fn that_a_crash_used_up_the_budget_is_not_confused_with_one_that_is_still_to_come() {
    for granularity in [Granularity::PerSend, Granularity::Atomic] {
        let program = MachineProgram::new("loose", |setup: &mut Setup| {
            let loose = setup.create(Loose(0));
            setup.create(Careful(loose, false));
            setup.create(Careful(loose, false));
        })
        .faults(Faults { crash: 1, ..Faults::NONE })
        .granularity(granularity)
        .run_twice(false);
        let plan = Plan { search: SearchKind::Dfs, ..Plan::default() };
        let options = Options { keep_going: true, shrink: false, ..Options::default() };
        let (program, observer) = (Arc::new(program), Arc::new(()));
        let report = explore(program, RoundRobin::default(), plan, options, observer);
        let uncontrolled = |kind: BugKind| kind == BugKind::Uncontrolled;
        assert!(!report.findings.iter().any(|finding| uncontrolled(finding.bug.kind())));
        assert_eq!(report.ended, Ended::Exhausted);
    }
}

/// Says that its promise is on disk, after it has come back.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Promising(Addr<Sceptic>, bool);

#[machine(states(Start), durable = bool)]
impl Promising {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        if self.1 {
            cx.send(self.0, Letter(1));
        } else {
            cx.persist(true);
            cx.send(self.0, Letter(0));
        }
    }
    fn recover(self, durable: Option<bool>) -> Promising {
        Promising(self.0, durable.unwrap_or(false))
    }
}

/// Its state cannot be copied. It wants to hear of a promise before it hears that it was kept.
#[derive(Debug)]
struct Sceptic(bool);

#[machine(uncaptured, states(Start))]
impl Sceptic {
    #[on(Start, Letter)]
    fn letter(&mut self, _: &mut Cx<Self>, letter: Letter) {
        assert!(self.0 || letter.0 == 0, "a promise that nobody has heard of");
        self.0 = true;
    }
}

#[test]
fn a_crash_after_something_was_persisted_is_not_confused_with_one_before() {
    let program = |granularity| {
        MachineProgram::new("promising", |setup: &mut Setup| {
            let sceptic = setup.create(Sceptic(false));
            setup.create(Promising(sceptic, false));
        })
        .faults(Faults { crash: 1, ..Faults::NONE })
        .granularity(granularity)
        .run_twice(false)
    };
    for granularity in [Granularity::PerSend, Granularity::Atomic] {
        for search in [SearchKind::Dfs, SearchKind::Bfs, SearchKind::Ses] {
            let plan = Plan { search, ..Plan::default() };
            let options = Options { keep_going: true, shrink: false, ..Options::default() };
            let (program, observer) = (Arc::new(program(granularity)), Arc::new(()));
            let report = explore(program, RoundRobin::default(), plan, options, observer);
            let kinds: Vec<_> = report.findings.iter().map(|finding| finding.bug.kind()).collect();
            assert_eq!((kinds, report.ended), (vec![BugKind::Panic], Ended::Exhausted), "{search}");
        }
    }
}
