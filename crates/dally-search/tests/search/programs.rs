//! A program made of scripts: small enough to read in a test, rich enough for every kind of bug.
//!
//! Workers run one operation a step over shared counters, locks, inboxes and one monitor.
#![allow(dead_code, reason = "every test binary uses another part")]

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dally_core::bug::Object;
use dally_core::{
    Acceptance, Bug, Choice, Env, Event, Finding, Input, MessageId, Observe, Program, Status, Stop,
    System, Tag, Text, Wait, Waiting, WorkerId, fingerprint, panics,
};
use dally_search::sampling::{Random, Sampler};
use dally_search::{
    EndSchedule, Learner, Lesson, Options, Outcome, Point, Properties, Report, Sink, Strategy, run,
};

/// One operation of a worker, one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Do {
    /// Adds to a counter.
    Add(usize, i64),
    /// Reads a counter into the register.
    Load(usize),
    /// Writes the register plus this much to a counter.
    Store(usize, i64),
    /// Waits for a lock and takes it.
    Lock(usize),
    /// Gives a lock back.
    Unlock(usize),
    /// Sets the register to one of so many values.
    Choose(u32),
    /// Sets the register to an input of this range, which is called `number`.
    Input(i64, i64),
    /// Lets the engine decide on a fault; the counter goes up if it is injected.
    Fault(usize),
    /// Sends a number to a worker, by its place.
    Send(usize, i64),
    /// Waits for a message; any that has arrived may be delivered. It goes to the register.
    Receive,
    /// Panics if the counter has this value.
    PanicIf(usize, i64),
    /// Panics if the register has this value.
    PanicIfRegister(i64),
    /// Panics if the register is above this value.
    PanicAbove(i64),
    /// Fails with a message of its own for each value of the register.
    FailByRegister,
    /// The monitor goes hot.
    Hot,
    /// The monitor goes cold.
    Cold,
    /// Goes back to an operation, by its place.
    Jump(usize),
    /// Goes to an operation if the register has this value.
    JumpIf(i64, usize),
    /// Goes back to an operation so many times, and counts where no observation sees it.
    Repeat(u32, usize),
    /// Takes a transition that the monitor allows only finitely often.
    Visit,
    /// Panics when the execution is ended, with this counter above 0.
    PanicInDrop(usize),
    /// Tells events without end.
    TellForEver,
    /// Chooses values without end.
    ChooseForEver,
    /// Sleeps for a minute.
    Sleep,
    /// Adds a number that no execution sees again.
    AddGlobal(usize),
    /// Tells a number that no execution sees again.
    TellGlobal,
    /// Panics, and once more in a destructor on the way out.
    PanicTwice,
    /// A bug of the front end: a panic that it does not catch.
    FrontEndPanics,
}

/// A program: scripts for workers `0`, `1`, ... over zeroed counters and free locks.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Scripts(pub Vec<Vec<Do>>);

/// Scripts in the order of their workers.
pub fn scripts<const N: usize>(scripts: [&[Do]; N]) -> Arc<Scripts> {
    Arc::new(Scripts(scripts.map(<[Do]>::to_vec).into()))
}

impl Program for Scripts {
    type System = Live;

    fn start(&self) -> Result<Live, Bug> {
        let mut live = Live {
            scripts: self.0.clone(),
            workers: vec![Worker::default(); self.0.len()],
            shared: vec![0; 4],
            locks: vec![None; 4],
            inboxes: vec![Vec::new(); self.0.len()],
            ids: (0..self.0.len() as u32).map(WorkerId::root).collect(),
            enabled: Vec::new(),
            hot: false,
            visits: false,
            hidden: 0,
            panics_in_drop: None,
        };
        live.refresh();
        Ok(live)
    }

    fn restart(&self, live: &mut Live) -> Result<(), Bug> {
        live.workers.fill(Worker::default());
        live.shared.fill(0);
        live.locks.fill(None);
        live.inboxes.iter_mut().for_each(Vec::clear);
        (live.hot, live.visits, live.hidden, live.panics_in_drop) = (false, false, 0, None);
        live.refresh();
        Ok(())
    }

    fn granularity(&self) -> &'static str {
        "one operation"
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Worker {
    at: usize,
    register: i64,
    sent: u32,
}

/// One live execution.
#[derive(Clone)]
pub struct Live {
    scripts: Vec<Vec<Do>>,
    workers: Vec<Worker>,
    shared: Vec<i64>,
    locks: Vec<Option<usize>>,
    inboxes: Vec<Vec<(MessageId, i64)>>,
    ids: Vec<WorkerId>,
    enabled: Vec<WorkerId>,
    hot: bool,
    /// The last step was a visit.
    visits: bool,
    /// How many repetitions there were.
    hidden: u32,
    panics_in_drop: Option<usize>,
}

impl Live {
    fn next(&self, worker: usize) -> Option<Do> {
        self.scripts[worker].get(self.workers[worker].at).copied()
    }

    fn can_step(&self, worker: usize) -> bool {
        match self.next(worker) {
            None => false,
            Some(Do::Lock(lock)) => self.locks[lock].is_none(),
            Some(Do::Receive) => !self.inboxes[worker].is_empty(),
            Some(_) => true,
        }
    }

    fn refresh(&mut self) {
        self.enabled.clear();
        for worker in 0..self.workers.len() {
            if self.can_step(worker) {
                self.enabled.push(self.ids[worker]);
            }
        }
    }

    fn operate(&mut self, me: usize, op: Do, env: &mut dyn Env) -> Result<(), Stop> {
        env.event(Event::Noted { text: Text::Debug(&op) })?;
        match op {
            Do::Add(counter, n) => self.shared[counter] += n,
            Do::Load(counter) => self.workers[me].register = self.shared[counter],
            Do::Store(counter, n) => self.shared[counter] = self.workers[me].register + n,
            Do::Lock(lock) => self.locks[lock] = Some(me),
            Do::Unlock(lock) => self.locks[lock] = None,
            Do::Choose(of) => self.workers[me].register = env.value(of, Tag::Program)?.into(),
            Do::Input(least, most) => {
                self.workers[me].register =
                    env.input(Input::named("number").within(least..=most))?;
            }
            Do::Fault(counter) => {
                if env.value(2, Tag::Fault)? == 1 {
                    self.shared[counter] += 1;
                }
            }
            Do::Send(to, n) => {
                let number = self.workers[me].sent;
                self.workers[me].sent += 1;
                let message = MessageId { sender: self.ids[me], number };
                let payload = Text::Debug(&n);
                env.event(Event::Sent { message, to: self.ids[to], payload })?;
                self.inboxes[to].push((message, n));
                self.inboxes[to].sort();
            }
            Do::Receive => {
                let place = if self.inboxes[me].len() == 1 {
                    0
                } else {
                    let candidates: Vec<_> = self.inboxes[me].iter().map(|m| m.0).collect();
                    env.delivery(&candidates)?
                };
                let (message, n) = self.inboxes[me].remove(place);
                env.event(Event::Received { message, payload: Text::Debug(&n) })?;
                self.workers[me].register = n;
            }
            Do::PanicIf(counter, n) => {
                let value = self.shared[counter];
                panics::catch(|| assert!(value != n, "counter {counter} is {n}"))?;
            }
            Do::PanicIfRegister(n) => {
                let value = self.workers[me].register;
                panics::catch(|| assert!(value != n, "the register is {n}"))?;
            }
            Do::PanicAbove(n) => {
                let value = self.workers[me].register;
                panics::catch(|| assert!(value <= n, "the register is above {n}"))?;
            }
            Do::FailByRegister => {
                let message = "!".repeat(self.workers[me].register as usize);
                return Err(Bug::panic(message).into());
            }
            Do::Hot => self.hot = true,
            Do::Cold => self.hot = false,
            Do::Jump(to) => {
                self.workers[me].at = to;
                return Ok(());
            }
            Do::JumpIf(n, to) => {
                if self.workers[me].register == n {
                    self.workers[me].at = to;
                    return Ok(());
                }
            }
            Do::Repeat(times, to) => {
                self.hidden += 1;
                if self.hidden <= times {
                    self.workers[me].at = to;
                    return Ok(());
                }
            }
            Do::Visit => self.visits = true,
            Do::PanicInDrop(counter) => self.panics_in_drop = Some(counter),
            Do::TellForEver => loop {
                env.event(Event::Noted { text: Text::Str("more") })?;
            },
            Do::ChooseForEver => loop {
                env.value(2, Tag::Program)?;
            },
            Do::Sleep => std::thread::sleep(Duration::from_secs(60)),
            Do::AddGlobal(counter) => self.shared[counter] += i64::from(global()),
            Do::TellGlobal => {
                env.event(Event::Noted { text: Text::Display(&global()) })?;
            }
            Do::PanicTwice => panics::catch(|| {
                struct Grenade;
                impl Drop for Grenade {
                    fn drop(&mut self) {
                        panic!("second");
                    }
                }
                let _grenade = Grenade;
                panic!("first");
            })?,
            Do::FrontEndPanics => panic!("a front end of no great quality"),
        }
        self.workers[me].at += 1;
        Ok(())
    }
}

/// A number that no execution sees again.
fn global() -> u32 {
    static GLOBAL: AtomicU32 = AtomicU32::new(1);
    GLOBAL.fetch_add(1, Ordering::Relaxed)
}

impl System for Live {
    fn enabled(&self) -> &[WorkerId] {
        &self.enabled
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let me = self.ids.iter().position(|&id| id == worker).expect("a worker of this program");
        let op = self.next(me).expect("an enabled worker has an operation");
        self.visits = false;
        self.operate(me, op, env)?;
        self.refresh();
        Ok(())
    }

    fn status(&self) -> Status {
        if !self.enabled.is_empty() {
            return Status::Running;
        }
        let mut waiting = Vec::new();
        for me in 0..self.workers.len() {
            let on = match self.next(me) {
                None => continue,
                Some(Do::Lock(lock)) => ("lock", Some(lock)),
                Some(_) => ("receive", None),
            };
            let (operation, lock) = on;
            let object = lock.map(|lock| Object { kind: "lock".into(), id: lock.to_string() });
            let (operation, payload, place) = (operation.to_owned(), Vec::new(), None);
            waiting.push(Waiting {
                worker: self.ids[me],
                name: "Script".into(),
                on: vec![Wait { operation, payload, object, place }],
                woken_outside: false,
            });
        }
        if waiting.is_empty() { Status::Done } else { Status::Stuck(waiting) }
    }

    fn acceptance(&self) -> Acceptance {
        Acceptance { hot: self.hot.into(), relieved: 0, visits: self.visits.into() }
    }

    fn observe(&self, _how: Observe) -> Option<u64> {
        let mut hash = u64::from(self.hot);
        for worker in &self.workers {
            hash = fingerprint::mix(hash, worker.at as u64);
            hash = fingerprint::mix(hash, worker.register as u64);
        }
        Some(self.shared.iter().fold(hash, |hash, &value| fingerprint::mix(hash, value as u64)))
    }

    fn name(&self, _worker: WorkerId) -> String {
        "Script".into()
    }

    fn monitor(&self, _index: usize) -> (String, String) {
        ("Progress".into(), if self.hot { "Waiting" } else { "Happy" }.into())
    }

    fn end(&mut self) -> Result<(), Bug> {
        match self.panics_in_drop {
            Some(counter) if self.shared[counter] > 0 => {
                match panics::catch(|| panic!("a value was dropped too early")) {
                    Err(Stop::Bug(bug)) => Err(*bug),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

/// Options for tests: few schedules, nothing slow.
pub fn options() -> Options {
    let strategy = Box::new(Random.seeded(0));
    let (program, schedules, max_steps) = ("test".into(), 1_000, 1_000);
    Options { program, strategy, schedules, max_steps, ..Options::default() }
}

/// Runs quietly.
pub fn check(program: &Arc<Scripts>, options: Options) -> Report {
    run(program.clone(), options, Arc::new(()))
}

/// The only finding of a run.
pub fn only_finding(program: &Arc<Scripts>, options: Options) -> Finding {
    let mut report = check(program, options);
    assert_eq!(report.findings.len(), 1, "{report:#?}");
    report.findings.remove(0)
}

/// Kind and message of a bug, with the place of a panic left out.
pub fn words(bug: &Bug) -> String {
    let by = bug.culprit.as_ref().map_or_else(String::new, |culprit| format!(" by {culprit}"));
    format!("{}{by}: {}", bug.kind(), dally_report::text::bug(bug))
}

/// Choices in short: workers as numbers, values as `=2`, deliveries as `<1#0`, inputs as `?7`.
pub fn short(choices: &[Choice]) -> String {
    let words: Vec<String> = choices
        .iter()
        .map(|choice| match choice {
            Choice::Worker(worker) => worker.to_string(),
            Choice::Value { index, .. } => format!("={index}"),
            Choice::Delivery(message) => format!("<{message}"),
            Choice::Input(value) => format!("?{value}"),
        })
        .collect();
    words.join(" ")
}

/// Keeps all it is told.
#[derive(Default)]
pub struct Keeper(pub Mutex<Vec<Finding>>);

impl Sink for Keeper {
    fn found(&self, finding: &Finding) {
        self.0.lock().unwrap().push(finding.clone());
    }
}

/// A strategy that writes down what another one does: one list of choices for each schedule.
#[derive(Clone)]
pub struct Spy {
    inner: Box<dyn Strategy>,
    current: Vec<Choice>,
    pub log: Arc<Mutex<Vec<Vec<Choice>>>>,
}

impl Spy {
    pub fn on(inner: Box<dyn Strategy>) -> Spy {
        Spy { inner, current: Vec::new(), log: Arc::default() }
    }
}

impl Strategy for Spy {
    fn name(&self) -> String {
        self.inner.name()
    }
    fn reseed(&mut self, seed: u64) {
        self.inner.reseed(seed);
    }
    fn begin(&mut self, schedule: u64) -> bool {
        self.current.clear();
        self.inner.begin(schedule)
    }
    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        let worker = self.inner.worker(point)?;
        self.current.push(Choice::Worker(worker));
        Ok(worker)
    }
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        let index = self.inner.value(of, tag)?;
        self.current.push(Choice::Value { index, of, tag });
        Ok(index)
    }
    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, EndSchedule> {
        let place = self.inner.delivery(candidates)?;
        self.current.push(Choice::Delivery(candidates[place]));
        Ok(place)
    }
    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        let value = self.inner.input(asked)?;
        self.current.push(Choice::Input(value));
        Ok(value)
    }
    fn properties(&self) -> Properties {
        self.inner.properties()
    }
    fn heard(&mut self, event: &Event<Text<'_>>) {
        self.inner.heard(event);
    }
    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for Spy {
    fn lesson(&mut self, last: Option<&dyn System>) -> Option<Lesson> {
        self.log.lock().unwrap().push(std::mem::take(&mut self.current));
        self.inner.learner()?.lesson(last)
    }
    fn learn(&mut self, batch: &[Outcome]) {
        if let Some(learner) = self.inner.learner() {
            learner.learn(batch);
        }
    }
}

/// Random small programs: up to three workers with a few operations each, no endless ones.
pub fn random_scripts(rng: &mut fastrand::Rng, operations: usize) -> Arc<Scripts> {
    let workers = rng.usize(1..=3);
    let script = |rng: &mut fastrand::Rng| {
        let length = rng.usize(0..=operations);
        (0..length).map(|_| random_operation(rng, workers)).collect()
    };
    Arc::new(Scripts((0..workers).map(|_| script(rng)).collect()))
}

fn random_operation(rng: &mut fastrand::Rng, workers: usize) -> Do {
    let counter = rng.usize(..2);
    match rng.u8(..14) {
        0 => Do::Add(counter, rng.i64(-1..=2)),
        1 | 2 => Do::Load(counter),
        3 | 4 => Do::Store(counter, rng.i64(0..=2)),
        5 => Do::Lock(counter),
        6 => Do::Unlock(counter),
        7 => Do::Choose(rng.u32(1..=3)),
        8 => Do::Fault(counter),
        9 => Do::Send(rng.usize(..workers), rng.i64(..3)),
        10 => Do::Receive,
        11 => Do::PanicIf(counter, rng.i64(1..=3)),
        12 => Do::PanicIfRegister(rng.i64(1..=2)),
        _ => [Do::Hot, Do::Cold, Do::PanicInDrop(counter)][rng.usize(..3)],
    }
}
