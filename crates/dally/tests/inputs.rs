//! Inputs in tasks and machines: with `concolic` every path once, with strategies at random.

use std::sync::Arc;

use dally::checking::{Checked, Checking};
use dally::contract::Program;
use dally::machines::{Addr, Cx, MachineProgram, Setup};
use dally::search::strata::{Bundled, SearchKind};
use dally::settings::Settings;
use dally::tasks::{TaskProgram, spawn, sync::mpsc};
use dally::{Int, IntInputs, report::text};

fn checked(program: impl Program + 'static, search: Option<SearchKind>) -> Checked {
    let settings = Settings { search, keep_going: true, ..Settings::default() };
    Checking::new("inputs", settings).run(Arc::new(program), None::<Bundled>)
}

fn account() -> TaskProgram {
    TaskProgram::new("account", || async {
        let (tx, mut rx) = mpsc::channel::<Int>(2);
        let other = tx.clone();
        let first =
            spawn(async move { tx.send(dally::input_in("first", 0..=1_000)).await.unwrap() });
        let second =
            spawn(async move { other.send(dally::input_in("second", 0..=1_000)).await.unwrap() });
        let (a, b) = (rx.recv().await.unwrap(), rx.recv().await.unwrap());
        first.await.unwrap();
        second.await.unwrap();
        dally::assume(a != b);
        assert!(a * 7 + b != 5_005, "the sum is forbidden");
    })
}

#[test]
fn a_sum_that_few_pairs_have_is_found_in_both_orders() {
    let report = checked(account(), Some(SearchKind::Concolic)).report;
    let [finding] = &report.findings[..] else { panic!("{report:?}") };
    assert_eq!(finding.bug.message(), "the sum is forbidden");
    let classes = report.classes.as_ref().unwrap();
    assert!(classes.irrelevant > 0, "{classes:?}");
    let shown = text::finding(finding, &report, &dally::report::About::new("account"));
    assert!(shown.contains("first") && shown.contains("second"), "{shown}");
}

#[test]
fn a_strategy_runs_the_same_test_with_inputs_of_its_own() {
    let report = checked(account(), None).report;
    assert_eq!(report.schedules, 1_000);
    assert!(report.findings.len() <= 1);
}

#[test]
fn booleans_and_enumerated_inputs_are_explored_one_by_one() {
    let program = TaskProgram::new("modes", || async {
        let mode = dally::input_of("mode", &["fast", "safe", "off"]);
        let in_use = dally::input_bool("in use");
        assert!(mode != "off" || !in_use, "switched off");
    });
    let report = checked(program, Some(SearchKind::Concolic)).report;
    assert_eq!(report.schedules, 6);
    let [finding] = &report.findings[..] else { panic!("{report:?}") };
    assert_eq!(finding.bug.message(), "switched off");
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Port(Int);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Server {
    highest: Int,
}

#[dally::machine(states(Up))]
impl Server {
    #[on(Up, Port)]
    fn listen(&mut self, _: &mut Cx<Self>, Port(port): Port) {
        assert!(port != 4_711, "the port is taken");
        if port > self.highest {
            self.highest = port;
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Client {
    server: Addr<Server>,
}

#[dally::machine(states(Asking))]
impl Client {
    #[entry(Asking)]
    fn ask(&mut self, cx: &mut Cx<Self>) {
        let port = cx.int_in("port", 1..=65_535);
        cx.assume(port % 2 == 1);
        cx.send(self.server, Port(port));
    }
}

#[test]
fn a_field_of_a_machine_and_of_a_message_may_be_an_int() {
    let program = MachineProgram::new("ports", |setup: &mut Setup| {
        let server = setup.create(Server { highest: Int::from(0) });
        setup.create(Client { server });
    });
    let report = checked(program, Some(SearchKind::Concolic)).report;
    let [finding] = &report.findings[..] else { panic!("{report:?}") };
    assert_eq!(finding.bug.message(), "the port is taken");
    assert!(finding.schedule.choices.contains(&dally::contract::Choice::Input(4_711)));
}
