//! Effects: queued by a handler, released in order, with others in between.

use std::collections::BTreeSet;

use dally_core::{BugKind, Program};
use dally_machines::{Addr, Cx, Granularity, MachineProgram};
use dally_macros::machine;

use crate::driver::{bugs, first, outcomes, schedules};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ping;

/// Says that it was reached.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Witness(&'static str);

#[machine(states(Waiting))]
impl Witness {
    #[on(Waiting, Ping)]
    fn ping(&mut self, cx: &mut Cx<Self>) {
        cx.announce(self.0);
    }
}

#[test]
fn a_failure_after_a_send_does_not_hide_what_the_send_causes() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Hasty(Addr<Witness>);

    #[machine(states(Start))]
    impl Hasty {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            cx.send(self.0, Ping);
            panic!("too late");
        }
    }
    for granularity in [Granularity::PerSend, Granularity::Atomic] {
        let program = MachineProgram::new("hasty", |setup| {
            let witness = setup.create(Witness("reached"));
            setup.create(Hasty(witness));
        });
        let bugs = bugs(&program.granularity(granularity));
        let expected = ["reached | too late", " | too late"].map(str::to_owned);
        assert_eq!(bugs, BTreeSet::from(expected), "{granularity:?}");
    }
}

#[test]
fn an_unhandled_event_after_a_create_does_not_hide_what_the_new_machine_does() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Back;

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Loud;

    #[machine(states(Start))]
    impl Loud {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            cx.announce("alive");
        }
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Parent;

    #[machine(states(Start, Other))]
    impl Parent {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            cx.create(Loud);
            cx.raise(Ping);
        }
        #[goto(Start, Back => Other)]
        #[ignore(Other, Ping)]
        const RULES: () = ();
    }
    let program = MachineProgram::new("parent", |setup| {
        setup.create(Parent);
    });
    let runs = schedules(&program);
    assert!(runs.iter().all(|run| run.bug.as_ref().unwrap().kind() == BugKind::UnhandledEvent));
    assert!(runs.iter().any(|run| run.announced() == ["alive"]));
    assert!(runs.iter().any(|run| run.announced().is_empty()));
}

#[test]
fn a_failure_with_nothing_sent_before_it_comes_in_the_step_of_its_handler() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Doomed;

    #[machine(states(Start))]
    impl Doomed {
        #[entry(Start)]
        fn start(&mut self) {
            assert_eq!(1 + 1, 3, "arithmetic is sound");
        }
    }
    let run = first(&MachineProgram::new("doomed", |setup| {
        setup.create(Doomed);
    }));
    let bug = run.bug.unwrap();
    assert_eq!((run.steps.len(), bug.kind()), (1, BugKind::Panic));
    assert_eq!(bug.culprit.as_deref(), Some("Doomed"));
    assert!(dally_report::text::bug(&bug).contains("arithmetic is sound"));
    assert!(bug.location.unwrap().file.ends_with("effects.rs"));
}

/// Sends to one machine and then to another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Twofold(Addr<Witness>, Addr<Witness>);

#[machine(states(Start))]
impl Twofold {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.0, Ping);
        cx.send(self.1, Ping);
    }
}

fn twofold(granularity: Granularity) -> MachineProgram {
    MachineProgram::new("twofold", |setup| {
        let (a, b) = (setup.create(Witness("a")), setup.create(Witness("b")));
        setup.create(Twofold(a, b));
    })
    .granularity(granularity)
}

#[test]
fn others_run_between_two_sends_and_after_each() {
    for granularity in [Granularity::PerSend, Granularity::Atomic] {
        let seen: Vec<String> = outcomes(&twofold(granularity)).into_keys().collect();
        assert_eq!(seen, ["a b", "b a"], "{granularity:?}");
    }
}

#[test]
fn steps_are_a_receive_each_and_per_send_also_a_send_each() {
    let steps = |granularity| {
        let runs = schedules(&twofold(granularity));
        let lengths: BTreeSet<usize> = runs.iter().map(|run| run.steps.len()).collect();
        (lengths, runs.len())
    };
    // The sender's start and sends are 0, 1, 2, the others' starts s, t and their receives r, u:
    // the orders of seven steps in which 0 < 1 < 2, s < r, t < u, 1 < r and 2 < u.
    assert_eq!(steps(Granularity::PerSend), (BTreeSet::from([7]), 66));
    // Without the sends as steps: s < r, t < u, 0 < r and 0 < u.
    assert_eq!(steps(Granularity::Atomic), (BTreeSet::from([5]), 16));
}

#[test]
fn the_granularity_is_printed() {
    assert_eq!(Program::granularity(&twofold(Granularity::PerSend)), "per-send");
    assert_eq!(Program::granularity(&twofold(Granularity::Atomic)), "atomic");
}

#[test]
fn values_chosen_are_all_tried() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Chooser;

    #[machine(states(Start))]
    impl Chooser {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            let (flipped, chosen) = (cx.flip(), cx.choose(2));
            let picked = *cx.pick(&['x', 'y', 'z']);
            cx.announce((flipped, chosen, picked));
        }
    }
    let program = MachineProgram::new("chooser", |setup| {
        setup.create(Chooser);
    });
    let seen = outcomes(&program);
    assert_eq!(seen.len(), 2 * 2 * 3);
    assert!(seen.values().all(|&times| times == 1));
    assert_eq!(seen.keys().next().unwrap(), "(false, 0, 'x')");
}
