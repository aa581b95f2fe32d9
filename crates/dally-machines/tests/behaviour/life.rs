//! Creation, identity and the end of machines.

use std::collections::{BTreeMap, BTreeSet};

use dally_core::{Discard, Event, Program, Status, System, WorkerId};
use dally_machines::{Addr, Cx, MachineProgram, Setup};
use dally_macros::machine;

use crate::driver::{first, outcomes, schedules};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Hello(u8);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Child(u8);

#[machine(states(Start))]
impl Child {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        if self.0 > 0 {
            cx.create(Child(self.0 - 1));
        }
    }
    #[on(Start, Hello)]
    fn hello(&mut self, cx: &mut Cx<Self>, Hello(number): Hello) {
        cx.announce(number);
        if number == 1 {
            cx.halt();
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Parent(u8);

#[machine(states(Start))]
impl Parent {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        cx.create(Child(self.0));
        cx.create(Child(0));
    }
}

#[test]
fn a_worker_has_the_same_id_in_every_schedule() {
    let program = MachineProgram::new("family", |setup: &mut Setup| {
        setup.create(Parent(1));
        setup.create(Parent(0));
    });
    let mut by_id: BTreeMap<WorkerId, BTreeSet<WorkerId>> = BTreeMap::new();
    let mut orders = BTreeSet::new();
    let runs = schedules(&program);
    for run in &runs {
        let mut order = Vec::new();
        for (creator, event) in &run.events {
            if let Event::Created { worker, .. } = event {
                by_id.entry(*worker).or_default().insert(*creator);
                order.push(*worker);
            }
        }
        assert_eq!(order.len(), 5);
        orders.insert(order);
    }
    let ids: Vec<String> = by_id.keys().map(WorkerId::to_string).collect();
    assert_eq!(ids, ["0.0", "0.0.0", "0.1", "1.0", "1.1"]);
    assert!(by_id.values().all(|creators| creators.len() == 1));
    assert!(orders.len() > 1, "the machines do come to life in different orders");
}

#[test]
fn an_address_prints_as_machine_and_id_and_can_be_used_before_its_machine_is_alive() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Maker;

    #[machine(states(Start))]
    impl Maker {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            let child = cx.create(Child(0));
            cx.announce(format!("{child:?}"));
            cx.send(child, Hello(3));
        }
    }
    let program = MachineProgram::new("maker", |setup: &mut Setup| {
        setup.create(Maker);
    });
    assert_eq!(outcomes(&program).into_keys().collect::<Vec<_>>(), ["Child(0.0) 3"]);
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Caller(Addr<Child>, u8);

#[machine(states(Start))]
impl Caller {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.0, Hello(self.1));
    }
}

#[test]
fn a_halted_machine_hears_nothing_and_its_inbox_is_dropped() {
    let program = MachineProgram::new("halt", |setup: &mut Setup| {
        let child = setup.create(Child(0));
        setup.create(Caller(child, 1));
        setup.create(Caller(child, 2));
    });
    let runs = schedules(&program);
    let seen: BTreeSet<Vec<&str>> = runs.iter().map(|run| run.announced()).collect();
    assert_eq!(seen, BTreeSet::from([vec!["1"], vec!["2", "1"]]));
    for run in &runs {
        assert_eq!(run.bug, None);
        let halted =
            run.events.iter().position(|(_, e)| matches!(e, Event::Halted { .. })).unwrap();
        // Whatever was sent was received or is told to be gone, be it in the inbox or later.
        let count = |wanted: fn(&Event<String>) -> bool| {
            run.events.iter().filter(|(_, event)| wanted(event)).count()
        };
        let gone = count(|e| matches!(e, Event::Discarded { why: Discard::Gone, .. }));
        let received = count(|e| matches!(e, Event::Received { .. }));
        assert_eq!(count(|e| matches!(e, Event::Sent { .. })), received + gone);
        assert!(!run.events[halted..].iter().any(|(_, e)| matches!(e, Event::Received { .. })));
    }
}

#[test]
fn what_a_handler_sends_before_it_halts_is_still_sent() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Last(Addr<Child>);

    #[machine(states(Start))]
    impl Last {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            cx.halt();
            cx.send(self.0, Hello(5));
        }
    }
    let program = MachineProgram::new("last", |setup: &mut Setup| {
        let child = setup.create(Child(0));
        setup.create(Last(child));
    });
    assert_eq!(outcomes(&program).into_keys().collect::<Vec<_>>(), ["5"]);
}

#[test]
fn a_system_without_enabled_workers_is_done() {
    let program = MachineProgram::new("nothing", |_: &mut Setup| {});
    assert_eq!(program.start().unwrap().status(), Status::Done);
}

#[test]
fn a_panic_in_the_setup_is_a_bug_of_the_program() {
    let program = MachineProgram::new("broken", |_: &mut Setup| panic!("no configuration"));
    assert_eq!(
        dally_report::text::bug(&program.start().map(|_| ()).unwrap_err()),
        "no configuration"
    );
}

#[test]
fn machines_that_know_each_other_are_made_at_reserved_places() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Hello;

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Friend(Addr<Friend>);

    #[machine(states(Start))]
    impl Friend {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            cx.send(self.0, Hello);
        }
        #[on(Start, Hello)]
        fn hello(&mut self, cx: &mut Cx<Self>) {
            cx.announce(self.0.to_string());
        }
    }
    let friends = |begin: bool| {
        MachineProgram::new("friends", move |setup: &mut Setup| {
            let places = [setup.reserve(), setup.reserve()];
            setup.fill(places[1], Friend(places[0]));
            setup.fill(places[0], Friend(places[1]));
            if begin {
                setup.begin();
            }
        })
    };
    let run = first(&friends(false));
    assert_eq!(run.announced(), ["Friend(1)", "Friend(0)"]);
    // Two entries, two sends, two handlers; or the handlers alone.
    assert_eq!((run.steps.len(), first(&friends(true)).steps.len()), (6, 2));
    assert_eq!(schedules(&friends(true)).len(), 2);

    let problem = |set_up: fn(&mut Setup)| {
        MachineProgram::new("problem", set_up).start().err().unwrap().message().to_owned()
    };
    insta::assert_snapshot!(problem(|setup| {
        setup.reserve::<Friend>();
    }), @"the set-up reserves 0 for a machine and makes none");
    insta::assert_snapshot!(problem(|setup| {
        let place = setup.reserve();
        setup.fill(place, Friend(place));
        setup.fill(place, Friend(place));
    }), @"the set-up fills the place of Friend(0) twice");
}

#[test]
fn a_set_up_that_begins_reports_what_goes_wrong_in_it() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Chooser(bool);

    #[machine(states(Start))]
    impl Chooser {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            assert!(self.0, "not like this");
            cx.flip();
        }
    }
    let problem = |chooses: bool| {
        let program = MachineProgram::new("problem", move |setup: &mut Setup| {
            setup.create(Chooser(chooses));
            setup.begin();
        });
        program.start().err().unwrap().message().to_owned()
    };
    insta::assert_snapshot!(problem(false), @"not like this");
    insta::assert_snapshot!(problem(true), @"`Chooser` chooses a value on entering its start state, which is part of the set-up here: there is nobody to choose");
}
