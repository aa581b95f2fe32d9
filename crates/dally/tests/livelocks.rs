//! Machines and tasks that go round for ever while a monitor waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dally::contract::{BugKind, Finding, Program, Schedule, WorkerId};
use dally::machines::{Addr, Cx, Faults, MachineProgram, Setup};
use dally::search::liveness::Fairness;
use dally::search::strata::{Plan, RoundRobin, SearchKind, explore};
use dally::search::{Mode, Options, Report, replay, run};
use dally::tasks::{TaskProgram, announce, flip, spawn, yield_now};
use dally::{machine, monitor};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Asked;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Served;

/// Whoever asks is served.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Service;

#[monitor(states(cold Quiet, hot Waiting))]
impl Service {
    #[goto(Quiet | Waiting, Asked => Waiting)]
    #[goto(Quiet | Waiting, Served => Quiet)]
    const RULES: () = ();
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Request(Addr<Client>);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Busy;

/// Is never free.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Server;

#[machine(states(Working), durable = u32)]
impl Server {
    #[on(Working, Request)]
    fn refuse(&mut self, cx: &mut Cx<Self>, Request(client): Request) {
        cx.send(client, Busy);
    }

    fn recover(self, _durable: Option<u32>) -> Self {
        self
    }
}

/// Asks again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Client {
    server: Addr<Server>,
    patience: Option<u32>,
}

#[machine(states(Asking))]
impl Client {
    #[entry(Asking)]
    fn ask(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Asked);
        cx.send(self.server, Request(cx.me()));
    }

    #[on(Asking, Busy)]
    fn ask_again(&mut self, cx: &mut Cx<Self>, _: Busy) {
        match &mut self.patience {
            Some(0) => cx.announce(Served),
            Some(patience) => {
                *patience -= 1;
                cx.send(self.server, Request(cx.me()));
            }
            None => cx.send(self.server, Request(cx.me())),
        }
    }
}

fn machines(patience: Option<u32>) -> MachineProgram {
    MachineProgram::new("machines", move |setup: &mut Setup| {
        setup.monitor(Service);
        let server = setup.create(Server);
        setup.create(Client { server, patience });
    })
}

fn checked<P: Program + 'static>(program: P) -> Report {
    let options = Options { schedules: 100, max_steps: 1_000, ..Options::default() };
    run(Arc::new(program), options, Arc::new(()))
}

/// The livelock of a program, seen again through its token.
fn livelock<P: Program + 'static>(program: impl Fn() -> P) -> Finding {
    let mut report = checked(program());
    assert_eq!(report.findings.len(), 1);
    let finding = report.findings.remove(0);
    assert_eq!(finding.bug.kind(), BugKind::Livelock, "{}", finding.bug);
    let schedule = Schedule::parse(&finding.schedule.to_token()).unwrap();
    let again = replay(Arc::new(program()), &schedule, Mode::Exact, 25, Duration::from_secs(10));
    assert_eq!((again.left_at, again.bug.as_ref()), (None, Some(&finding.bug)));
    assert_eq!(again.lasso.map(|lasso| lasso.rounds), Some(25));
    finding
}

#[test]
fn machines_that_ask_and_refuse_for_ever_are_a_livelock_of_whole_states() {
    let finding = livelock(|| machines(None));
    let lasso = finding.lasso.unwrap();
    assert_eq!((lasso.monitor.as_str(), lasso.whole, lasso.rounds), ("Service", true, 2));
    // Request, its handling, the refusal, its handling.
    assert_eq!(lasso.states, ["Waiting"; 5]);
    assert_eq!(finding.schedule.steps(), lasso.stem + 4);
}

#[test]
fn a_crash_or_a_loss_that_could_happen_all_the_time_is_not_owed() {
    let program = machines(None).faults(Faults { lose: 1, duplicate: 0, crash: 1 });
    let all = Options { schedules: 100, keep_going: true, ..Options::default() };
    let report = run(Arc::new(program), all, Arc::new(()));
    let finding =
        report.findings.iter().find(|found| found.bug.kind() == BugKind::Livelock).unwrap();
    let stem = finding.lasso.as_ref().unwrap().stem;
    let in_loop = stem..finding.schedule.steps();
    let workers = finding.trace.steps[in_loop.clone()].iter().map(|step| step.worker);
    assert!(workers.clone().all(|worker| worker != WorkerId::FAULTS));
    assert!(in_loop.into_iter().all(|at| finding.schedule.enabled_at(at)[0] == WorkerId::FAULTS));
    assert_eq!(workers.count(), 4);
}

#[test]
fn machines_whose_patience_ends_are_no_livelock() {
    assert_eq!(checked(machines(Some(50))).findings, []);
}

#[test]
fn who_is_served_and_asks_again_in_one_step_is_not_kept_waiting() {
    let asks_for = |rounds: u32| {
        let program = TaskProgram::new("insatiable", move || async move {
            announce(Asked);
            for round in 0.. {
                yield_now().await;
                if round < rounds {
                    announce(Served);
                    announce(Asked);
                }
            }
        });
        checked(program.monitor(Service::default)).findings.first().map(|found| found.bug.kind())
    };
    assert_eq!(asks_for(u32::MAX), None);
    assert_eq!(asks_for(3), Some(BugKind::Livelock));
}

/// Two tasks, each of which goes on when the other is ready.
fn each_after_the_other() -> TaskProgram {
    TaskProgram::new("each after the other", || async {
        announce(Asked);
        let ready = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let tasks = [0, 1].map(|me: usize| {
            let ready = Arc::clone(&ready);
            spawn(async move {
                while !ready[1 - me].load(Ordering::Relaxed) {
                    yield_now().await;
                }
                ready[me].store(true, Ordering::Relaxed);
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
        announce(Served);
    })
    .monitor(Service::default)
}

#[test]
fn two_tasks_that_retry_for_ever_are_a_livelock_as_far_as_can_be_seen() {
    let finding = livelock(each_after_the_other);
    let lasso = finding.lasso.unwrap();
    assert_eq!((lasso.monitor.as_str(), lasso.whole, lasso.rounds), ("Service", false, 100));
    // Each task looks once.
    assert_eq!(finding.schedule.steps(), lasso.stem + 2);
}

#[test]
fn a_task_that_stops_retrying_by_chance_is_no_livelock() {
    let program = TaskProgram::new("chance", || async {
        announce(Asked);
        while flip() {
            yield_now().await;
        }
        announce(Served);
    });
    assert_eq!(checked(program.monitor(Service::default)).findings, []);
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Turn;

/// Two coins in one loop: the first ends it, and what the second shows is kept.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct TwoCoins(bool);

#[machine(states(First, Second, Over))]
impl TwoCoins {
    #[entry(First)]
    fn begin(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Asked);
        cx.send(cx.me(), Turn);
    }

    #[on(First, Turn)]
    fn first(&mut self, cx: &mut Cx<Self>) {
        if cx.flip() {
            cx.announce(Served);
            return cx.goto(Over);
        }
        cx.send(cx.me(), Turn);
        cx.goto(Second);
    }

    #[on(Second, Turn)]
    fn second(&mut self, cx: &mut Cx<Self>) {
        self.0 = cx.flip();
        cx.goto(First);
    }
}

/// The first coin shows both sides sooner or later, and that the second one does is no excuse.
#[test]
fn an_unrelated_coin_in_the_loop_makes_no_livelock_of_a_correct_program() {
    let program = || {
        MachineProgram::new("coins", |setup: &mut Setup| {
            setup.monitor(Service);
            setup.create(TwoCoins(false));
        })
    };
    assert_eq!(checked(program()).findings, []);
    for search in [SearchKind::Ndfs, SearchKind::IterativeNdfs, SearchKind::Map] {
        let found = |fairness| {
            let plan = Plan { search, ..Plan::default() };
            let options = Options { fairness, ..Options::default() };
            let explorer = RoundRobin::default();
            let report = explore(Arc::new(program()), explorer, plan, options, Arc::new(()));
            report.findings.first().map(|finding| finding.bug.kind())
        };
        assert_eq!(found(Fairness::Strong), None, "{search}");
        assert_eq!(found(Fairness::Weak), Some(BugKind::Livelock), "{search}");
    }
}
