//! Random small programs: the executions of the concolic search are the pairs of a class of orders and
//! a path that plain enumeration of all inputs and all schedules finds.

mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use dally_concolic::{Recorder, recorder};
use dally_core::{
    Bug, Captured, Choice, Cut, Env, Event, Footprint, Input, MessageId, Program, Status, Stop,
    System, Tag, Text, WorkerId,
};
use dally_mpil::{MpilProgram, MpilSystem};
use dally_search::{Ended, Options, Sink};
use fastrand::Rng;

/// How many programs are tried: `DALLY_PROGRAMS=20000 cargo test -p dally-mpil --test enumeration`.
fn programs(by_default: u64) -> u64 {
    std::env::var("DALLY_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(by_default)
}

/// What each worker did: in each step the message that it took, and the outcomes of its branches.
type Key = BTreeMap<WorkerId, Vec<(Option<MessageId>, Vec<bool>)>>;

/// An execution that writes down what it does when it comes to its end.
struct Logged {
    system: MpilSystem,
    key: Key,
    log: Arc<Mutex<Vec<Key>>>,
}

struct LoggedProgram {
    program: MpilProgram,
    log: Arc<Mutex<Vec<Key>>>,
}

/// Notes which message a step takes.
struct Listener<'a> {
    env: &'a mut dyn Env,
    taken: Option<MessageId>,
}

impl Env for Listener<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        self.env.value(of, tag)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.env.delivery(candidates)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        self.env.input(asked)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        if let Event::Received { message, .. } = event {
            self.taken = Some(message);
        }
        self.env.event(event)
    }
}

/// Takes a step and adds it to the key.
fn step(
    system: &mut MpilSystem,
    key: &mut Key,
    worker: WorkerId,
    env: &mut dyn Env,
) -> Result<(), Stop> {
    let mut listener = Listener { env, taken: None };
    let stepped = system.step(worker, &mut listener);
    let outcomes = recorder::with(|recorder| {
        recorder.of_step().iter().filter_map(|branch| branch.outcome).collect()
    });
    key.entry(worker).or_default().push((listener.taken, outcomes.unwrap_or_default()));
    stepped
}

/// Whether the execution has come to its end, and not only been given up.
fn is_complete(system: &MpilSystem, stepped: &Result<(), Stop>) -> bool {
    match stepped {
        Ok(()) => system.enabled().is_empty(),
        Err(Stop::Bug(_)) => true,
        Err(Stop::Cut) => false,
    }
}

impl System for Logged {
    fn enabled(&self) -> &[WorkerId] {
        self.system.enabled()
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let stepped = step(&mut self.system, &mut self.key, worker, env);
        // The findings are repeated later on, without a recorder.
        let recorded = recorder::with(|_| ()).is_some();
        if recorded && is_complete(&self.system, &stepped) {
            self.log.lock().unwrap().push(self.key.clone());
        }
        stepped
    }

    fn status(&self) -> Status {
        self.system.status()
    }

    fn pending(&self, worker: WorkerId, out: &mut Footprint) {
        self.system.pending(worker, out);
    }
}

impl Program for LoggedProgram {
    type System = Logged;

    fn start(&self) -> Result<Logged, Bug> {
        Ok(Logged { system: self.program.start()?, key: Key::new(), log: self.log.clone() })
    }
}

/// Answers as it is told, and counts what it was asked.
struct Enumerating {
    inputs: Vec<i64>,
    ranges: Vec<(i64, i64)>,
    delivery: usize,
    candidates: usize,
    worker: u64,
    asked: usize,
}

impl Env for Enumerating {
    fn value(&mut self, _: u32, _: Tag) -> Result<u32, Cut> {
        Ok(0)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.candidates = candidates.len();
        Ok(self.delivery)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        if self.ranges.len() == self.asked {
            self.ranges.push((asked.least, asked.most));
            self.inputs.push(asked.least);
        }
        let value = self.inputs[self.asked];
        self.asked += 1;
        recorder::with(|recorder| {
            let variable = recorder.next_input(self.worker, asked.least, asked.most);
            recorder.answered(self.worker, asked.name, variable, value);
        });
        Ok(value)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }
}

/// All pairs of a class and a path, by running every schedule with every input, and the workers in
/// whose steps bugs show.
fn enumerated(program: &MpilProgram) -> (Vec<Key>, BTreeSet<WorkerId>) {
    recorder::enter(Box::default());
    let mut keys = Vec::new();
    let mut bugs = BTreeSet::new();
    let mut env = Enumerating {
        inputs: Vec::new(),
        ranges: Vec::new(),
        delivery: 0,
        candidates: 0,
        worker: 0,
        asked: 0,
    };
    loop {
        recorder::with(Recorder::begin);
        env.asked = 0;
        follow(program.start().unwrap(), Key::new(), &mut env, &mut keys, &mut bugs);
        // The next inputs, as the digits of a number.
        let Some(place) =
            (0..env.inputs.len()).rfind(|&place| env.inputs[place] < env.ranges[place].1)
        else {
            break;
        };
        env.inputs[place] += 1;
        for later in place + 1..env.inputs.len() {
            env.inputs[later] = env.ranges[later].0;
        }
    }
    recorder::leave();
    keys.sort();
    keys.dedup();
    (keys, bugs)
}

fn follow(
    system: MpilSystem,
    key: Key,
    env: &mut Enumerating,
    keys: &mut Vec<Key>,
    bugs: &mut BTreeSet<WorkerId>,
) {
    for &worker in system.enabled() {
        env.delivery = 0;
        loop {
            let (mut next, mut key) = (system.fork(), key.clone());
            env.candidates = 1;
            env.worker = worker.to_bits();
            recorder::with(Recorder::step);
            let delivery = env.delivery;
            let stepped = step(&mut next, &mut key, worker, env);
            let candidates = env.candidates;
            if matches!(stepped, Err(Stop::Bug(_))) {
                bugs.insert(worker);
            }
            if is_complete(&next, &stepped) {
                keys.push(key);
            } else if stepped.is_ok() {
                follow(next, key, env, keys, bugs);
            }
            env.delivery = delivery + 1;
            if env.delivery >= candidates {
                break;
            }
        }
    }
}

/// Keeps what the search counts as executed: not what it gave up since another execution covers it.
struct Executions {
    log: Arc<Mutex<Vec<Key>>>,
    executed: Mutex<Vec<Key>>,
}

impl Sink for Executions {
    fn wants_executions(&self) -> bool {
        true
    }

    fn executed(&self, _: &[Choice]) {
        let mut log = self.log.lock().unwrap();
        self.executed.lock().unwrap().extend(log.pop());
        log.clear();
    }
}

/// Runs the concolic search; answers what was executed, sorted, and the workers in whose steps bugs show.
fn explored(program: MpilProgram) -> (Vec<Key>, BTreeSet<WorkerId>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let logged = LoggedProgram { program, log: log.clone() };
    let options = Options { keep_going: true, shrink: false, ..Options::default() };
    let executions = Arc::new(Executions { log, executed: Mutex::default() });
    let (report, coverage) = dally_concolic::explore(Arc::new(logged), options, executions.clone());
    assert_eq!((report.ended, coverage.unknown), (Ended::Exhausted, 0));
    let mut executed = executions.executed.lock().unwrap().clone();
    executed.sort();
    (executed, report.findings.iter().filter_map(|finding| finding.bug.worker).collect())
}

fn compiled(text: &str) -> MpilProgram {
    MpilProgram::compile("random.mpil", text, &[]).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"))
}

#[test]
fn every_feasible_pair_of_class_and_path_is_executed_and_no_other() {
    let mut rng = Rng::with_seed(11);
    let mut pairs = 0;
    for number in 0..programs(400) {
        let text = random::program(&mut rng, false);
        let (expected, bugs) = enumerated(&compiled(&text));
        let (executed, found) = explored(compiled(&text));
        let missing: Vec<&Key> = expected.iter().filter(|key| !executed.contains(key)).collect();
        assert_eq!(executed, expected, "program {number}:\n{text}\nmissing: {missing:?}");
        assert_eq!(found, bugs, "program {number}:\n{text}");
        pairs += expected.len();
    }
    assert!(pairs > 1_000, "{pairs}");
}

#[test]
fn every_bug_that_enumeration_finds_is_found() {
    let mut rng = Rng::with_seed(12);
    let mut failing = 0;
    for number in 0..programs(300) {
        let text = random::program(&mut rng, true);
        let (_, bugs) = enumerated(&compiled(&text));
        let (_, found) = explored(compiled(&text));
        assert_eq!(found, bugs, "program {number}:\n{text}");
        failing += usize::from(!bugs.is_empty());
    }
    assert!(failing > 50, "{failing}");
}

#[test]
fn leader_election_has_as_many_pairs_as_enumeration_finds() {
    let path = format!("{}/../../protocols/mpil/leader_election.mpil", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let unordered = text.replace("mailboxes fifo", "mailboxes unordered");
    let within =
        |text: &str, range| text.replace("input id[i]", &format!("input id[i] in {range}"));
    let mut texts = vec![
        (within(&text, "0..=2"), 6),
        (unordered.replace("input id[i]", "id[i] = i"), 24),
        (within(&unordered, "0..=2"), 93),
    ];
    if programs(0) > 0 {
        // Ids below and above 0, with which `nbr` begins.
        texts.push((within(&unordered, "-3..=3"), 777));
    }
    for (text, pairs) in texts {
        let (expected, _) = enumerated(&compiled(&text));
        let (executed, _) = explored(compiled(&text));
        assert_eq!((expected.len(), executed.len()), (pairs, pairs));
        assert_eq!(executed, expected);
    }
}
