//! Findings as front ends and runners make them, written by hand: each a small play of workers.

use std::collections::BTreeMap;
use std::time::Duration;

use dally_core::bug::{
    Endless, Named, Object, Origin, Phase, Place, PlaceOf, Uncontrolled, Unhandled, Violation,
};
use dally_core::{
    Access, Bug, Choice, Discard, Ended, Event, Finding, Heat, Lasso, Location, MessageId, Mode,
    ObjectId, Problem, Report, Resource, Schedule, Shrunk, Tag, Text, Tracer, Transition, Wait,
    Waiting, WorkerId,
};
use dally_report::About;

/// Records a trace and the schedule that goes with it.
#[derive(Default)]
pub struct Play {
    tracer: Tracer,
    names: BTreeMap<WorkerId, &'static str>,
    sent: BTreeMap<WorkerId, u32>,
    payloads: BTreeMap<MessageId, &'static str>,
    now: Option<WorkerId>,
    choices: Vec<Choice>,
}

impl Play {
    pub fn cast<const N: usize>(names: [(WorkerId, &'static str); N]) -> Play {
        Play { names: names.into_iter().collect(), ..Play::default() }
    }

    pub fn step(&mut self, worker: WorkerId) -> &mut Play {
        let name = self.names.get(&worker).copied().unwrap_or("");
        self.tracer.step(worker, || name.to_owned());
        self.choices.push(Choice::Worker(worker));
        self.now = Some(worker);
        self
    }

    pub fn sends(&mut self, to: WorkerId, payload: &'static str) -> MessageId {
        let sender = self.now.unwrap();
        let number = self.sent.entry(sender).or_default();
        let message = MessageId { sender, number: *number };
        *number += 1;
        self.payloads.insert(message, payload);
        self.tell(Event::Sent { message, to, payload: Text::Str(payload) });
        self.tell(Event::Enabled { worker: to });
        message
    }

    pub fn receives(&mut self, message: MessageId) -> &mut Play {
        let payload = self.payloads[&message];
        self.tell(Event::Received { message, payload: Text::Str(payload) })
    }

    pub fn duplicated(&mut self, message: MessageId) -> MessageId {
        let number = self.sent.entry(message.sender).or_default();
        let copy = MessageId { sender: message.sender, number: *number };
        *number += 1;
        self.payloads.insert(copy, self.payloads[&message]);
        self.tell(Event::Duplicated { message, copy });
        copy
    }

    pub fn starts(&mut self, state: &'static str) -> &mut Play {
        self.tell(Event::Changed { how: Transition::Start, to: Text::Str(state) })
    }

    pub fn goes(&mut self, state: &'static str) -> &mut Play {
        self.tell(Event::Changed { how: Transition::Goto, to: Text::Str(state) })
    }

    pub fn announces(&mut self, payload: &'static str) -> &mut Play {
        self.tell(Event::Announced { payload: Text::Str(payload) })
    }

    pub fn monitor(&mut self, monitor: &'static str, to: &'static str, heat: Heat) -> &mut Play {
        let (monitor, to) = (Text::Str(monitor), Text::Str(to));
        self.tell(Event::MonitorChanged { monitor, to, heat })
    }

    pub fn touches(&mut self, object: u32, mode: Mode, what: &'static str) -> &mut Play {
        let object = ObjectId { creator: WorkerId::root(0), number: object };
        let access = Access::new(Resource::Object(object), mode);
        self.tell(Event::Accessed { access, what: Text::Str(what) })
    }

    pub fn waits(&mut self, on: &'static str) -> &mut Play {
        self.tell(Event::Blocked { on: Text::Str(on) })
    }

    pub fn chooses(&mut self, index: u32, of: u32, tag: Tag) -> &mut Play {
        let choice = Choice::Value { index, of, tag };
        self.tracer.choice(choice);
        self.choices.push(choice);
        self
    }

    pub fn tell(&mut self, event: Event<Text<'_>>) -> &mut Play {
        self.tracer.event(event);
        self
    }

    pub fn ends(self, program: &str, bug: Bug) -> Finding {
        let mut trace = self.tracer.finish();
        for (worker, name) in self.names {
            trace.names.entry(worker).or_insert_with(|| name.to_owned());
        }
        let schedule = Schedule {
            program: program.to_owned(),
            bug: Some(bug.record()),
            choices: self.choices,
            ..Schedule::default()
        };
        let mut finding = Finding::new(bug, schedule, 1);
        finding.trace = trace;
        finding
    }
}

/// A finding, the run that showed it, and how it is shown.
pub type Scene = (Finding, Report, About);

fn scene(finding: Finding, strategy: &str, granularity: &str) -> Scene {
    let program = finding.schedule.program.clone();
    let mut run = Report::new(&program, granularity);
    (run.strategy, run.seed) = (strategy.to_owned(), 7);
    (run.schedules, run.steps, run.observations) = (412, 35_844, 2_917);
    (run.longest, run.max_steps) = (131, 10_000);
    run.ended = Ended::Bug;
    let about = About {
        source_root: Some("tests/report".into()),
        replay: vec![format!("dally replay target/dally/{program}.schedule")],
        ..About::new(program)
    };
    (finding, run, about)
}

fn at(line: u32, column: u32) -> Option<Location> {
    Some(Location { file: "two_phase_commit.rs.txt".into(), line, column })
}

/// A participant votes yes before it has persisted its vote, crashes, forgets and aborts.
pub fn two_phase_commit() -> Scene {
    let [coordinator, p1, p2, client] = [0, 1, 2, 3].map(WorkerId::root);
    let timeout = p2.timer(0);
    let mut play = Play::cast([
        (coordinator, "Coordinator"),
        (p1, "Participant"),
        (p2, "Participant"),
        (client, "Client"),
        (timeout, "Timeout"),
        (WorkerId::FAULTS, "faults"),
    ]);
    play.step(client).starts("Waiting");
    play.announces("Requested { tx: 1 }").monitor("Progress", "Pending", Heat::Hot);
    let begin = play.sends(coordinator, "Begin { tx: 1 }");
    play.step(coordinator).starts("Idle");
    play.step(coordinator).receives(begin).goes("Voting");
    let prepare1 = play.step(coordinator).chooses(0, 2, Tag::Fault).sends(p1, "Prepare { tx: 1 }");
    let prepare2 = play.step(coordinator).chooses(0, 2, Tag::Fault).sends(p2, "Prepare { tx: 1 }");
    play.step(p2).starts("Working");
    play.step(p2).receives(prepare2).chooses(1, 2, Tag::Program);
    play.tell(Event::TimerSet { timer: timeout, payload: Text::Str("Timeout") });
    play.goes("Prepared");
    let vote2 = play.step(p2).sends(coordinator, "Vote { tx: 1, yes: true }");
    play.step(WorkerId::FAULTS).chooses(1, 2, Tag::Program).tell(Event::Crashed { worker: p2 });
    play.step(p1).starts("Working");
    play.step(p1).receives(prepare1).chooses(1, 2, Tag::Program);
    play.tell(Event::Persisted { payload: Text::Str("Ledger { prepared: {1}, committed: {} }") });
    play.goes("Prepared");
    let vote1 = play.step(p1).sends(coordinator, "Vote { tx: 1, yes: true }");
    let copy = play.duplicated(vote1);
    play.step(coordinator).receives(vote2).receives(vote1).goes("Done");
    let commit1 = play.step(coordinator).sends(p1, "Commit { tx: 1 }");
    let commit2 = play.step(coordinator).sends(p2, "Commit { tx: 1 }");
    play.tell(Event::Discarded { message: commit2, why: Discard::Gone });
    play.step(coordinator).tell(Event::Discarded { message: copy, why: Discard::Ignored });
    play.step(WorkerId::FAULTS).tell(Event::Restarted { worker: p2 });
    play.step(p2).starts("Working").announces("Aborted { tx: 1 }");
    play.step(p1).receives(commit1).announces("Committed { tx: 1 }");
    let message = "transaction 1 is committed by one participant and aborted by another".into();
    let bug = Bug::new(Problem::Monitor(Violation::Assertion { message }))
        .by("Atomicity")
        .in_state("Committed")
        .in_step_of(p1)
        .at(at(9, 13));
    let mut finding = play.ends("two-phase-commit", bug);
    finding.schedule.settings = vec![("bug".into(), "vote-before-persist".into())];
    finding.found_at = 412;
    finding.shrunk =
        Some(Shrunk { steps_before: 87, steps_after: 19, switches_before: 61, switches_after: 10 });
    let (finding, run, mut about) = scene(finding, "random", "per-send");
    about.saved = Some("target/dally/two-phase-commit-5f0c9a12.schedule".into());
    about.replay = vec![
        "dally replay target/dally/two-phase-commit-5f0c9a12.schedule".into(),
        "DALLY_REPLAY=target/dally/two-phase-commit-5f0c9a12.schedule \
         cargo test -p protocols two_phase_commit -- --exact"
            .into(),
    ];
    (finding, run, about)
}

/// Two tasks take two locks in opposite orders.
pub fn deadlock() -> Scene {
    let main = WorkerId::root(0);
    let (left, right) = (main.child(0), main.child(1));
    let mut play = Play::cast([(main, "main"), (left, "transfer"), (right, "audit")]);
    play.step(main).tell(Event::Created { worker: left, name: Text::Str("transfer") });
    play.tell(Event::Created { worker: right, name: Text::Str("audit") });
    play.waits("join `task 0.0` (tests/bank.rs:31:14)");
    play.step(left).touches(0, Mode::Write, "locks `savings`");
    play.step(right).touches(1, Mode::Write, "locks `checking`");
    play.step(right).touches(0, Mode::Write, "finds `savings` locked");
    play.waits("lock `savings` (tests/bank.rs:19:35)");
    play.step(left).touches(1, Mode::Write, "finds `checking` locked");
    play.waits("lock `checking` (tests/bank.rs:12:36)");
    let waiting =
        |worker, name: &str, operation: &str, kind: &str, id: &str, line, column| Waiting {
            worker,
            name: name.into(),
            on: vec![Wait {
                operation: operation.into(),
                payload: Vec::new(),
                object: Some(Object { kind: kind.into(), id: id.into() }),
                place: Some(Place {
                    of: PlaceOf::Operation,
                    location: Location { file: "tests/bank.rs".into(), line, column },
                }),
            }],
            woken_outside: false,
        };
    let bug = Bug::new(Problem::Deadlock {
        waiting: vec![
            waiting(main, "main", "join", "task", "0.0", 31, 14),
            waiting(left, "transfer", "lock", "checking", "", 12, 36),
            waiting(right, "audit", "lock", "savings", "", 19, 35),
        ],
    });
    let mut finding = play.ends("bank::transfers", bug);
    finding.found_at = 3;
    finding.occurrences = 38;
    scene(finding, "pct(3)", "await points")
}

/// A late vote reaches a coordinator that has finished.
pub fn unhandled_event() -> Scene {
    let [coordinator, participant] = [0, 1].map(WorkerId::root);
    let mut play = Play::cast([(coordinator, "Coordinator"), (participant, "Participant")]);
    play.step(coordinator).starts("Voting");
    let timer = coordinator.timer(0);
    play.tell(Event::TimerSet { timer, payload: Text::Str("GiveUp") });
    play.step(timer);
    let tick = play.sends(coordinator, "GiveUp");
    play.step(coordinator).receives(tick).goes("Done");
    play.step(participant).starts("Working");
    let vote = play.sends(coordinator, "Vote { tx: 1, yes: false }");
    play.step(coordinator).receives(vote);
    let sender = Named { worker: participant, name: "Participant".into() };
    let (event, origin) = ("Vote".into(), Origin::Sent(sender));
    let bug = Bug::new(Problem::UnhandledEvent(Unhandled { event, origin, declared: None }))
        .by("Coordinator")
        .in_state("Done")
        .in_step_of(coordinator);
    let finding = play.ends("two-phase-commit", bug);
    scene(finding, "random", "atomic handlers")
}

/// A request is lost and nobody asks again.
pub fn hot_at_end() -> Scene {
    let [client, server] = [0, 1].map(WorkerId::root);
    let mut play = Play::cast([(client, "Client"), (server, "Server")]);
    play.step(server).starts("Idle");
    play.step(client).starts("Asking").announces("Asked");
    play.monitor("Answered", "Waiting", Heat::Hot);
    let request = play.step(client).chooses(1, 2, Tag::Fault).sends(server, "Request(1)");
    play.tell(Event::Discarded { message: request, why: Discard::Lost });
    let bug = Bug::new(Problem::HotAtEnd).by("Answered").in_state("Waiting");
    scene(play.ends("lossy-server", bug), "random", "per-send")
}

/// A client asks again and again, and the server answers that it is busy.
pub fn livelock() -> Scene {
    let [client, server] = [0, 1].map(WorkerId::root);
    let mut play = Play::cast([(client, "Client"), (server, "Server")]);
    play.step(server).starts("Busy");
    play.step(client).starts("Asking").announces("Asked");
    play.monitor("Answered", "Waiting", Heat::Hot);
    let request = play.step(client).sends(server, "Request(1)");
    let answer = play.step(server).receives(request).sends(client, "Busy");
    play.step(client).receives(answer);
    let states = vec!["Waiting".into()];
    let bug = Bug::new(Problem::Livelock { states, visits: false, length: 3 }).by("Answered");
    let mut finding = play.ends("busy-server", bug);
    let both = vec![client, server];
    finding.schedule.enabled = vec![both.clone(), both, vec![client], vec![server], vec![client]];
    finding.schedule.settings =
        vec![("fairness".into(), "strong".into()), ("stem".into(), "2".into())];
    finding.lasso = Some(Lasso {
        stem: 2,
        monitor: "Answered".into(),
        states: vec!["Waiting".into(); 4],
        rounds: 2,
        whole: true,
    });
    scene(finding, "random", "per-send")
}

/// A task branches on the wall clock; the second execution went another way.
pub fn uncontrolled() -> Scene {
    let main = WorkerId::root(0);
    let child = main.child(0);
    let mut play = Play::cast([(main, "main"), (child, "worker")]);
    play.step(main).tell(Event::Created { worker: child, name: Text::Str("worker") });
    play.step(child);
    play.step(main).tell(Event::Noted { text: Text::Str("even millisecond\nno retry") });
    let difference = "main (0) waited for a oneshot the first time, and went on this time".into();
    let (schedule, step) = (1, 3);
    let bug =
        Bug::new(Problem::Uncontrolled(Uncontrolled::Schedule { schedule, step, difference }));
    let mut finding = play.ends("clock::branches", bug);
    finding.notes = vec!["the finding is not shrunk, since it cannot be repeated".into()];
    scene(finding, "random", "await points")
}

/// An assertion with values, at a place that can be quoted.
pub fn panic_with_source() -> Scene {
    let main = WorkerId::root(0);
    let mut play = Play::cast([(main, "main")]);
    play.step(main).touches(0, Mode::Read, "reads `balance`");
    play.step(main).touches(0, Mode::Write, "writes `balance`");
    let bug =
        Bug::panic("assertion `left == right` failed: money was made\n  left: 100\n right: 150")
            .by("main")
            .at(at(12, 2));
    let finding = play.ends("bank::keeps_its_money", bug);
    let (finding, run, mut about) = scene(finding, "dfs", "await points");
    about.replay =
        vec![format!("DALLY_REPLAY={} cargo test keeps_its_money", finding.schedule.to_token())];
    (finding, run, about)
}

/// A step that never came to its end: only the tape of choices is left.
pub fn no_trace() -> Scene {
    let main = WorkerId::root(0);
    let mut play = Play::cast([(main, "main"), (main.child(0), "poller")]);
    for turn in 0..9 {
        play.step(main.child(0)).chooses(turn % 2, 2, Tag::Program);
    }
    let (limit, phase) = (Duration::from_secs(10), Phase::Step(9));
    let bug =
        Bug::new(Problem::EndlessStep(Endless::Time { limit, phase, call: None, holder: None }))
            .by("poller")
            .in_step_of(main.child(0));
    let mut finding = play.ends("poller::stops", bug);
    finding.trace.steps.clear();
    scene(finding, "random", "await points")
}

/// More steps than fit on a screen.
pub fn long() -> Scene {
    let [ping, pong] = [0, 1].map(WorkerId::root);
    let mut play = Play::cast([(ping, "Ping"), (pong, "Pong")]);
    let mut ball = play.step(ping).sends(pong, "Ball { hits: 0 }");
    for _ in 0..600 {
        play.step(pong).receives(ball);
        ball = play.sends(ping, "Ball { hits: 1 }");
        play.step(ping).receives(ball);
        ball = play.sends(pong, "Ball { hits: 0 }");
    }
    let bug = Bug::new(Problem::StepBound { bound: 1201 });
    let (finding, run, mut about) = scene(play.ends("ping-pong", bug), "irs", "per-send");
    about.steps_shown = Some(4);
    about.saved = Some("target/dally/ping-pong-5f0c9a12.schedule".into());
    (finding, run, about)
}

/// A test that should fail did not.
pub fn no_failure() -> Scene {
    let bug = Bug::new(Problem::NoFailure { expected: "deadlock".into() });
    scene(Play::default().ends("bank::transfers", bug), "pct(3)", "await points")
}
