//! Properties over time, on machines: what satisfies them and what does not, with an end and
//! without one.

use std::sync::Arc;

use dally::contract::BugKind;
use dally::machine;
use dally::machines::{Cx, MachineProgram, Setup};
use dally::search::strata::{Plan, RunToCompletion, SearchKind, explore};
use dally::search::{Ended, Options, run};
use dally::{Moment, Property, Proposition};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Word {
    On,
    Off,
    Asked,
    Granted,
}
use Word::{Asked, Granted, Off, On};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct GoOn;

/// Says some words once, then others again and again, one in each step.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Speaker {
    once: &'static [Word],
    again: &'static [Word],
    place: usize,
}

#[machine(states(Speaking))]
impl Speaker {
    #[entry(Speaking)]
    fn begin(&mut self, cx: &mut Cx<Self>) {
        cx.send(cx.me(), GoOn);
    }

    #[on(Speaking, GoOn)]
    fn speak(&mut self, cx: &mut Cx<Self>) {
        if self.place == self.once.len() + self.again.len() {
            self.place = self.once.len();
        }
        let mut words = self.once.iter().chain(self.again);
        let Some(&word) = words.nth(self.place) else { return };
        self.place += 1;
        cx.announce(word);
        cx.send(cx.me(), GoOn);
    }
}

fn speaks(property: Property, once: &'static [Word], again: &'static [Word]) -> MachineProgram {
    MachineProgram::new("speaker", move |setup: &mut Setup| {
        setup.monitor(property.clone());
        setup.create(Speaker { once, again, place: 0 });
    })
}

/// The bug that `map` finds in an execution that says some words once and others for ever; none
/// if it has gone through all states.
fn forever(property: Property, once: &'static [Word], again: &'static [Word]) -> Option<BugKind> {
    let plan = Plan { search: SearchKind::Map, ..Plan::default() };
    let program = Arc::new(speaks(property, once, again));
    let explorer = RunToCompletion::default();
    let report = explore(program, explorer, plan, Options::default(), Arc::new(()));
    let bug = report.findings.first().map(|finding| finding.bug.kind());
    assert_eq!(report.ended, if bug.is_some() { Ended::Bug } else { Ended::Exhausted });
    bug
}

/// The same of an execution that ends after these words.
fn up_to_the_end(property: Property, words: &'static [Word]) -> Option<BugKind> {
    forever(property, words, &[])
}

/// Not at the start.
fn light() -> Proposition {
    Proposition::new("light").on(|word: &Word| match word {
        On => Some(true),
        Off => Some(false),
        Asked | Granted => None,
    })
}

#[test]
fn always_must_hold_at_every_moment() {
    let lit = || Property::always("lit", light().at_first());
    assert_eq!(forever(lit(), &[], &[On, Asked]), None);
    assert_eq!(forever(lit(), &[On], &[On, Off]), Some(BugKind::Monitor));
    assert_eq!(up_to_the_end(lit(), &[On]), None);
    assert_eq!(up_to_the_end(lit(), &[On, Off, On]), Some(BugKind::Monitor));
}

#[test]
fn always_eventually_must_hold_again_and_again_or_at_the_end() {
    let lit = || Property::always_eventually("lit", light());
    assert_eq!(forever(lit(), &[], &[On]), None);
    assert_eq!(forever(lit(), &[], &[On, Off]), None);
    assert_eq!(forever(lit(), &[On], &[Off]), Some(BugKind::Livelock));
    assert_eq!(up_to_the_end(lit(), &[Off, On]), None);
    assert_eq!(up_to_the_end(lit(), &[On, Off]), Some(BugKind::HotAtEnd));
}

#[test]
fn eventually_always_must_hold_for_ever_from_some_moment_on_or_at_the_end() {
    let lit = || Property::eventually_always("lit", light());
    assert_eq!(forever(lit(), &[On, Off], &[On]), None);
    assert_eq!(forever(lit(), &[], &[On, Off]), Some(BugKind::Livelock));
    assert_eq!(forever(lit(), &[On], &[Off]), Some(BugKind::Livelock));
    assert_eq!(up_to_the_end(lit(), &[Off, On]), None);
    assert_eq!(up_to_the_end(lit(), &[On, Off]), Some(BugKind::HotAtEnd));
}

#[test]
fn a_moment_must_lead_to_another_after_it() {
    let answered = || {
        let asked = Moment::of("asked", |word: &Word| *word == Asked);
        let granted = Moment::of("granted", |word: &Word| *word == Granted);
        Property::leads_to("answered", asked, granted)
    };
    assert_eq!(forever(answered(), &[], &[Asked, Granted]), None);
    assert_eq!(forever(answered(), &[], &[Asked, Asked, Granted]), None);
    assert_eq!(forever(answered(), &[Asked, Granted], &[On]), None);
    assert_eq!(forever(answered(), &[Granted, Asked], &[On]), Some(BugKind::Livelock));
    assert_eq!(forever(answered(), &[], &[Asked, On]), Some(BugKind::Livelock));
    assert_eq!(up_to_the_end(answered(), &[Asked, Granted]), None);
    assert_eq!(up_to_the_end(answered(), &[]), None);
    assert_eq!(up_to_the_end(answered(), &[Asked, Granted, Asked]), Some(BugKind::HotAtEnd));
}

#[test]
fn a_state_that_holds_with_what_it_leads_to_owes_nothing() {
    let lit = || {
        let asked = Moment::of("asked", |word: &Word| *word == Asked);
        Property::leads_to("lit", asked, light())
    };
    assert_eq!(forever(lit(), &[On], &[Asked]), None);
    assert_eq!(forever(lit(), &[Off], &[Asked, On, Off]), None);
    assert_eq!(forever(lit(), &[On], &[Off, Asked]), Some(BugKind::Livelock));
    assert_eq!(up_to_the_end(lit(), &[On, Asked, Off]), None);
    assert_eq!(up_to_the_end(lit(), &[On, Off, Asked]), Some(BugKind::HotAtEnd));
}

#[test]
fn a_loop_that_a_property_forbids_is_told_with_the_states_it_comes_to() {
    let lit = Property::eventually_always("lit", light());
    let plan = Plan { search: SearchKind::Map, ..Plan::default() };
    let program = Arc::new(speaks(lit, &[], &[On, Off]));
    let explorer = RunToCompletion::default();
    let report = explore(program, explorer, plan, Options::default(), Arc::new(()));
    let finding = &report.findings[0];
    insta::assert_snapshot!(dally::report::text::bug(&finding.bug), @"monitor lit comes to state DoesNotHold again and again, which is allowed only finitely often: the execution can go round a loop of length 4 for ever");
    // Each word is a step, and so is what the speaker sends itself after it.
    let lasso = finding.lasso.as_ref().unwrap();
    let states = ["Holds", "Holds", "DoesNotHold", "DoesNotHold", "Holds"];
    assert_eq!(lasso.states, states);
}

#[test]
fn an_execution_that_a_bound_cuts_has_not_ended() {
    let properties: [fn(&'static str, Proposition) -> Property; 2] =
        [Property::always_eventually, Property::eventually_always];
    for property in properties {
        let checked = |max_steps| {
            let program = speaks(property("lit", light()), &[Off; 20], &[]);
            let (schedules, temperature) = (10, Some(1_000));
            let options = Options { max_steps, schedules, temperature, ..Options::default() };
            run(Arc::new(program), options, Arc::new(()))
        };
        let cut = checked(15);
        assert_eq!((cut.findings.len(), cut.cut), (0, 10));
        let ended = checked(1_000);
        assert_eq!(ended.findings[0].bug.kind(), BugKind::HotAtEnd);
    }
}
