//! Messages lost and doubled, within a budget.

use dally_core::{Discard, Event};
use dally_machines::{Addr, Cx, Faults, MachineProgram, Setup};
use dally_macros::machine;

use crate::driver::{outcomes, schedules};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Item(u8);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Receiver;

#[machine(states(Open))]
impl Receiver {
    #[on(Open, Item)]
    fn item(&mut self, cx: &mut Cx<Self>, Item(number): Item) {
        cx.announce(number);
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Sender(Addr<Receiver>);

#[machine(states(Start))]
impl Sender {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.0, Item(1));
        cx.send(self.0, Item(2));
    }
}

fn over_a_network(faults: Faults) -> MachineProgram {
    MachineProgram::new("network", |setup: &mut Setup| {
        let to = setup.create(Receiver);
        setup.create(Sender(to));
    })
    .faults(faults)
}

fn seen(faults: Faults) -> Vec<String> {
    outcomes(&over_a_network(faults)).into_keys().collect()
}

#[test]
fn no_fault_happens_without_a_budget() {
    assert_eq!(seen(Faults::NONE), ["1 2"]);
}

#[test]
fn at_most_as_many_messages_are_lost_as_the_budget_says() {
    assert_eq!(seen(Faults { lose: 1, ..Faults::NONE }), ["1", "1 2", "2"]);
    assert_eq!(seen(Faults { lose: 2, ..Faults::NONE }), ["", "1", "1 2", "2"]);
}

#[test]
fn at_most_as_many_messages_are_doubled_as_the_budget_says() {
    assert_eq!(seen(Faults { duplicate: 1, ..Faults::NONE }), ["1 1 2", "1 2", "1 2 2"]);
}

#[test]
fn a_lost_message_is_not_doubled_and_the_trace_says_what_happened() {
    let runs = schedules(&over_a_network(Faults { lose: 1, duplicate: 1, crash: 0 }));
    let all: Vec<String> =
        outcomes(&over_a_network(Faults { lose: 1, duplicate: 1, crash: 0 })).into_keys().collect();
    assert_eq!(all, ["1", "1 1", "1 1 2", "1 2", "1 2 2", "2", "2 2"]);
    for run in runs {
        let lost = run.has(|e| matches!(e, Event::Discarded { why: Discard::Lost, .. }));
        let doubled = run.has(|e| matches!(e, Event::Duplicated { .. }));
        let handled = run.announced().len();
        assert_eq!(handled, 2 + usize::from(doubled) - usize::from(lost));
    }
}

#[test]
fn what_a_machine_sends_itself_is_not_subject_to_faults() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Alone;

    #[machine(states(Start))]
    impl Alone {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            let me = cx.me();
            cx.send(me, Item(7));
        }
        #[on(Start, Item)]
        fn item(&mut self, cx: &mut Cx<Self>, Item(number): Item) {
            cx.announce(number);
        }
    }
    let program = MachineProgram::new("alone", |setup: &mut Setup| {
        setup.create(Alone);
    });
    let program = program.faults(Faults { lose: 1, duplicate: 1, crash: 0 });
    assert_eq!(outcomes(&program).into_keys().collect::<Vec<_>>(), ["7"]);
}
