//! Crashes and restarts: what survives, what does not, and what others see.

use std::collections::BTreeSet;

use dally_core::{Cut, Discard, Env, Event, MessageId, Program, System, Tag, Text, WorkerId};
use dally_machines::{Addr, Cx, Faults, Granularity, MachineProgram, Setup};
use dally_macros::machine;

use crate::driver::{bugs, outcomes, schedules};

const ONE_CRASH: Faults = Faults { crash: 1, ..Faults::NONE };

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Promise;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Client;

#[machine(states(Waiting))]
impl Client {
    #[on(Waiting, Promise)]
    fn promise(&mut self, cx: &mut Cx<Self>) {
        cx.announce("promised");
    }
}

/// Promises something and writes it down, in one order or the other; says after a restart what
/// it remembers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Store {
    client: Addr<Client>,
    persist_first: bool,
    remembers: Option<bool>,
}

#[machine(states(Start), durable = bool)]
impl Store {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        match (self.remembers, self.persist_first) {
            (Some(true), _) => cx.announce("remembers"),
            (Some(false), _) => cx.announce("forgot"),
            (None, true) => {
                cx.persist(true);
                cx.send(self.client, Promise);
            }
            (None, false) => {
                cx.send(self.client, Promise);
                cx.persist(true);
            }
        }
    }
    fn recover(self, durable: Option<bool>) -> Store {
        Store { remembers: Some(durable.unwrap_or(false)), ..self }
    }
}

fn store(persist_first: bool, granularity: Granularity) -> MachineProgram {
    MachineProgram::new("store", move |setup: &mut Setup| {
        let client = setup.create(Client);
        setup.create(Store { client, persist_first, remembers: None });
    })
    .faults(ONE_CRASH)
    .granularity(granularity)
}

/// What is known at the end, whatever came first.
fn endings(program: &MachineProgram) -> BTreeSet<String> {
    let sorted = |text: String| {
        let mut words: Vec<&str> = text.split(' ').collect();
        words.sort_unstable();
        words.join(" ")
    };
    outcomes(program).into_keys().map(sorted).collect()
}

#[test]
fn a_promise_sent_before_it_was_persisted_can_be_forgotten() {
    for granularity in [Granularity::PerSend, Granularity::Atomic] {
        let expected = ["forgot", "forgot promised", "promised", "promised remembers"];
        let expected: BTreeSet<String> = expected.map(str::to_owned).into();
        assert_eq!(endings(&store(false, granularity)), expected, "{granularity:?}");
    }
}

#[test]
fn a_promise_persisted_before_it_is_sent_can_be_lost_but_never_forgotten() {
    for granularity in [Granularity::PerSend, Granularity::Atomic] {
        let expected = ["forgot", "promised", "promised remembers", "remembers"];
        let expected: BTreeSet<String> = expected.map(str::to_owned).into();
        assert_eq!(endings(&store(true, granularity)), expected, "{granularity:?}");
    }
}

#[test]
fn a_crash_drops_what_was_not_released_even_a_failure() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Hasty(Addr<Client>, bool);

    #[machine(states(Start), durable = ())]
    impl Hasty {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            if !self.1 {
                cx.send(self.0, Promise);
                panic!("broken");
            }
        }
        fn recover(self, _: Option<()>) -> Hasty {
            Hasty(self.0, true)
        }
    }
    let program = MachineProgram::new("hasty", |setup: &mut Setup| {
        let client = setup.create(Client);
        setup.create(Hasty(client, false));
    });
    let runs = schedules(&program.faults(ONE_CRASH));
    let crashed_between = |run: &&crate::driver::Run| {
        let at =
            |wanted: fn(&Event<String>) -> bool| run.events.iter().position(|(_, e)| wanted(e));
        let sent = at(|event| matches!(event, Event::Sent { .. }));
        let crashed = at(|event| matches!(event, Event::Crashed { .. }));
        sent.is_some() && sent < crashed
    };
    assert!(runs.iter().any(|run| run.bug.is_some()));
    assert!(runs.iter().filter(crashed_between).count() > 0);
    assert!(runs.iter().filter(crashed_between).all(|run| run.bug.is_none()));
}

#[test]
fn an_execution_ends_with_and_without_crashes_and_every_crashed_machine_comes_back() {
    let runs = schedules(&store(true, Granularity::PerSend));
    let count = |wanted: fn(&Event<String>) -> bool| {
        let counts = runs.iter().map(|run| run.events.iter().filter(|(_, e)| wanted(e)).count());
        counts.collect::<Vec<_>>()
    };
    let crashes = count(|event| matches!(event, Event::Crashed { .. }));
    let restarts = count(|event| matches!(event, Event::Restarted { .. }));
    assert_eq!(crashes, restarts);
    assert_eq!(BTreeSet::from_iter(crashes), BTreeSet::from([0, 1]));
}

#[test]
fn messages_to_a_machine_that_is_down_are_dropped() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Server;

    #[machine(states(Up), durable = ())]
    impl Server {
        #[on(Up, Promise)]
        fn promise(&mut self, cx: &mut Cx<Self>) {
            cx.announce("heard");
        }
        fn recover(self, _: Option<()>) -> Server {
            self
        }
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Caller(Addr<Server>);

    #[machine(states(Start))]
    impl Caller {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            cx.send(self.0, Promise);
        }
    }
    let program = |keep| {
        MachineProgram::new("call", |setup: &mut Setup| {
            let server = setup.create(Server);
            setup.create(Caller(server));
        })
        .faults(ONE_CRASH)
        .keep_inbox(keep)
    };
    let server = WorkerId::root(0);
    for keep in [false, true] {
        let mut met_down = 0;
        for run in schedules(&program(keep)) {
            let mut down = false;
            let mut queued = 0;
            for (_, event) in &run.events {
                match event {
                    Event::Crashed { .. } => {
                        down = true;
                        queued = if keep { queued } else { 0 };
                    }
                    Event::Restarted { .. } => down = false,
                    Event::Sent { to, .. } if *to == server => {
                        queued += usize::from(!down);
                        met_down += usize::from(down);
                    }
                    Event::Discarded { why, .. } => assert_eq!((*why, down), (Discard::Gone, true)),
                    Event::Received { .. } => queued -= 1,
                    _ => {}
                }
            }
            assert_eq!(queued, 0, "nothing is left behind: {run:?}");
        }
        assert!(met_down > 0);
    }
}

#[test]
fn timers_of_a_crashed_machine_are_disarmed() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Tick;
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Clock(bool);

    #[machine(states(Start), durable = ())]
    impl Clock {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            if !self.0 {
                cx.after(std::time::Duration::from_secs(1), Tick);
            }
        }
        #[on(Start, Tick)]
        fn tick(&mut self) {
            assert!(!self.0, "a tick from before the crash");
        }
        fn recover(self, _: Option<()>) -> Clock {
            Clock(true)
        }
    }
    let program = MachineProgram::new("clock", |setup: &mut Setup| {
        setup.create(Clock(false));
    });
    assert_eq!(bugs(&program.faults(ONE_CRASH)), BTreeSet::new());
}

#[test]
fn machines_without_durable_state_do_not_crash() {
    let program = MachineProgram::new("client", |setup: &mut Setup| {
        setup.create(Client);
    });
    let runs = schedules(&program.faults(ONE_CRASH));
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].steps, [WorkerId::root(0)]);
}

#[test]
fn a_panic_in_recover_is_a_bug_of_the_machine() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Fragile;

    #[machine(states(Start), durable = ())]
    impl Fragile {
        fn recover(self, _: Option<()>) -> Fragile {
            panic!("no disk");
        }
    }
    let program = MachineProgram::new("fragile", |setup: &mut Setup| {
        setup.create(Fragile);
    });
    let found = bugs(&program.faults(ONE_CRASH));
    assert_eq!(found, BTreeSet::from([" | no disk".to_owned()]));
}

/// Writes down that it is finished and goes away; says after a restart what it remembers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Worker {
    remembers: Option<bool>,
    steps: u32,
}

#[machine(states(Start), durable = bool)]
impl Worker {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        self.steps += 1;
        match self.remembers {
            Some(finished) => cx.announce(if finished { "finished" } else { "unfinished" }),
            None => cx.persist(true),
        }
        cx.halt();
    }
    fn recover(self, durable: Option<bool>) -> Worker {
        Worker { remembers: Some(durable.unwrap_or(false)), ..self }
    }
}

#[test]
fn a_crash_can_come_between_a_persist_and_the_end_of_the_machine() {
    let program = MachineProgram::new("worker", |setup: &mut Setup| {
        setup.create(Worker { remembers: None, steps: 0 });
    })
    .faults(ONE_CRASH);
    let seen = endings(&program);
    assert!(seen.iter().any(|text| text.contains("finished")), "{seen:?}");
    let expected = ["", "finished", "unfinished"].map(String::from);
    assert_eq!(seen, BTreeSet::from(expected));
}

#[test]
fn a_crash_of_the_receiver_can_come_between_two_messages_of_an_atomic_handler() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Number(u32);

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Receiver;

    #[machine(states(Open), durable = ())]
    impl Receiver {
        #[on(Open, Number)]
        fn number(&mut self, cx: &mut Cx<Self>, Number(n): Number) {
            cx.announce(if n == 1 { "one" } else { "two" });
        }
        fn recover(self, _: Option<()>) -> Receiver {
            self
        }
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Sender(Addr<Receiver>);

    #[machine(states(Start))]
    impl Sender {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            cx.send(self.0, Number(1));
            cx.send(self.0, Number(2));
        }
    }

    let program = |granularity| {
        MachineProgram::new("two", |setup: &mut Setup| {
            let receiver = setup.create(Receiver);
            setup.create(Sender(receiver));
        })
        .faults(ONE_CRASH)
        .granularity(granularity)
    };
    assert_eq!(endings(&program(Granularity::Atomic)), endings(&program(Granularity::PerSend)));
}

#[test]
fn what_a_machine_knew_before_it_crashed_makes_no_difference_to_the_state_it_is_in() {
    let program = MachineProgram::new("worker", |setup: &mut Setup| {
        setup.create(Worker { remembers: None, steps: 0 });
    })
    .faults(ONE_CRASH);
    let worker = WorkerId::root(0);
    let crashed_after = |steps: usize| {
        let mut system = program.start().unwrap();
        for _ in 0..steps {
            system.step(worker, &mut FirstOption).unwrap();
        }
        system.step(WorkerId::FAULTS, &mut FirstOption).unwrap();
        system.fingerprint()
    };
    // It has run its handler in the second case, and nothing of that has reached the disk.
    assert_eq!(crashed_after(0), crashed_after(1));
}

struct FirstOption;

impl Env for FirstOption {
    fn value(&mut self, _: u32, _: Tag) -> Result<u32, Cut> {
        Ok(0)
    }

    fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> {
        Ok(0)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }
}
