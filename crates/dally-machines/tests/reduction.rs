//! The reduction executes every class of schedules of machines once: random machines that send,
//! create, announce, persist, halt, set timers and do nothing in particular, with all mailboxes, both
//! granularities and all faults.

// Generated code names the facade; these tests stand in for it.
extern crate self as dally;
#[allow(unused_imports)]
mod __private {
    pub use dally_core as contract;
    pub use dally_machines as machines;
}

#[path = "../../dally-search/tests/classes/mod.rs"]
#[expect(dead_code, reason = "tests of systems that are not captured use the rest")]
mod classes;
#[expect(dead_code, reason = "the tests of exchanges use the rest")]
mod clerks;

use classes::{Tally, compare, compare_rules, seeds, whole};
use std::sync::Arc;

use dally_machines::{Addr, Cx, MachineProgram, MachineSystem, Mailbox, Setup};
use dally_macros::machine;
use dally_search::Ended;

#[test]
fn machines_are_executed_once_for_each_class() {
    let mut tally = Tally::default();
    for seed in seeds(600) {
        let what = || format!("small({seed})");
        compare(clerks::small(seed), whole::<MachineSystem>, 500, &mut tally, &what);
    }
    classes::enough(&tally, 300, 1_000);
}

#[test]
fn machines_with_faults_are_executed_once_for_each_class() {
    let mut tally = Tally::default();
    for seed in seeds(400) {
        let what = || format!("faulty({seed})");
        compare(clerks::faulty(seed), whole::<MachineSystem>, 1_000, &mut tally, &what);
    }
    classes::enough(&tally, 200, 1_000);
}

#[test]
fn other_rules_miss_no_class_of_machines_within_their_bounds() {
    let mut tally = Tally::default();
    for seed in seeds(100) {
        let what = || format!("{seed}");
        let program = if seed % 2 == 0 { clerks::small(seed) } else { clerks::faulty(seed) };
        compare_rules(program, whole::<MachineSystem>, 300, &mut tally, &what);
    }
    classes::enough(&tally, 50, 200);
}

/// Whether a timer still fires before its machine cancels it, where another step would have shown
/// first that it does not matter: a machine that ends before a timer sends to it.
#[test]
fn a_timer_that_a_machine_cancels_fires_before_and_after_whatever_else_happens() {
    let mut tally = Tally::default();
    compare(clerks::small(3_963), whole::<MachineSystem>, 500, &mut tally, &String::new);
    assert_eq!(tally.classes, 12);
}

/// A search that explored two subtrees at once missed a class here.
#[test]
fn no_class_is_missed_where_another_subtree_is_taken_to_cover_it() {
    let mut tally = Tally::default();
    compare(clerks::small(6_732), whole::<MachineSystem>, 500, &mut tally, &String::new);
    compare(clerks::faulty(6_707), whole::<MachineSystem>, 1_000, &mut tally, &String::new);
    assert_eq!(tally.classes, 51 + 34);
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Item(u8, u8);

/// Sends so many items when it starts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Producer(Addr<Consumer>, u8, u8);

#[machine(states(Start))]
impl Producer {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        for n in 0..self.2 {
            cx.send(self.0, Item(self.1, n));
        }
    }
}

/// Takes whatever comes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Consumer(Vec<(u8, u8)>);

#[machine(states(Start))]
impl Consumer {
    #[on(Start, Item)]
    fn item(&mut self, _: &mut Cx<Self>, item: Item) {
        self.0.push((item.0, item.1));
    }
}

/// The classes of so many producers of so many items each, with beginnings that were given up.
fn senders(producers: u8, items: u8, mailbox: Mailbox) -> (u64, u64) {
    let program = MachineProgram::new("senders", move |setup: &mut Setup| {
        let consumer = setup.create(Consumer(Vec::new()));
        for n in 0..producers {
            setup.create(Producer(consumer, n, items));
        }
    })
    .mailbox(mailbox);
    let (report, executed) = classes::reduce(Arc::new(program));
    assert_eq!(report.ended, Ended::Exhausted);
    assert_eq!(report.schedules, executed.len() as u64);
    (report.schedules, report.redundant)
}

#[test]
fn producers_and_a_consumer_have_as_many_classes_as_orders_in_which_items_are_taken() {
    assert_eq!(senders(3, 2, Mailbox::Fifo).0, 90);
    for mailbox in [Mailbox::Fifo, Mailbox::PerSender] {
        assert_eq!(senders(2, 2, mailbox), (6, 0));
        assert_eq!(senders(3, 2, mailbox), (90, 0));
        assert_eq!(senders(3, 3, mailbox), (1_680, 0));
    }
    assert_eq!(senders(3, 4, Mailbox::PerSender), (34_650, 0));
    assert_eq!(senders(2, 2, Mailbox::Unordered), (24, 0));
    assert_eq!(senders(3, 2, Mailbox::Unordered), (720, 0));
}

/// Takes the first item and leaves the others.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Picky(Option<Item>);

#[machine(states(Start, Full))]
impl Picky {
    #[defer(Full, Item)]
    const RULES: () = ();

    #[on(Start, Item)]
    fn item(&mut self, cx: &mut Cx<Self>, item: Item) {
        self.0 = Some(item);
        cx.goto(Full);
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct ToPicky(Addr<Picky>, u8);

#[machine(states(Start))]
impl ToPicky {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.0, Item(self.1, 0));
    }
}

#[test]
fn one_receipt_from_so_many_senders_has_as_many_classes() {
    for senders in 1..=5 {
        for mailbox in [Mailbox::PerSender, Mailbox::Unordered] {
            let program = MachineProgram::new("one receipt", move |setup: &mut Setup| {
                let picky = setup.create(Picky(None));
                for n in 0..senders {
                    setup.create(ToPicky(picky, n));
                }
            });
            let (report, _) = classes::reduce(Arc::new(program.mailbox(mailbox)));
            assert_eq!(report.schedules, u64::from(senders), "{mailbox:?}");
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Red;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Green;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Blue;

/// Takes one message of each kind in an order of its own.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Orderly(u8);

#[machine(states(First, Second, Third))]
impl Orderly {
    #[defer(First, Green, Blue)]
    #[defer(Second, Blue)]
    const RULES: () = ();

    #[on(First, Red)]
    fn red(&mut self, cx: &mut Cx<Self>, _: Red) {
        cx.goto(Second);
    }

    #[on(Second, Green)]
    fn green(&mut self, cx: &mut Cx<Self>, _: Green) {
        cx.goto(Third);
    }

    #[on(Third, Blue)]
    fn blue(&mut self, _: &mut Cx<Self>, _: Blue) {
        self.0 += 1;
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct ToOrderly(Addr<Orderly>, u8);

#[machine(states(Start))]
impl ToOrderly {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        match self.1 {
            0 => cx.send(self.0, Red),
            1 => cx.send(self.0, Green),
            _ => cx.send(self.0, Blue),
        }
    }
}

#[test]
fn receipts_of_one_kind_each_have_one_class() {
    for mailbox in [Mailbox::PerSender, Mailbox::Unordered] {
        let program = MachineProgram::new("kinds", |setup: &mut Setup| {
            let orderly = setup.create(Orderly(0));
            for n in 0..3 {
                setup.create(ToOrderly(orderly, n));
            }
        });
        let (report, _) = classes::reduce(Arc::new(program.mailbox(mailbox)));
        assert_eq!((report.schedules, report.redundant), (1, 0), "{mailbox:?}");
    }
}
