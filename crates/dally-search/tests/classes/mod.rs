//! The oracle of partial-order reduction: all executions of a small program, sorted into classes by
//! exchanging neighbours, and compared with what the reduction executes. Tests of front ends use
//! this file too.
//!
//! Nothing here uses the clocks or races of the reduction. Two executions are of one class if one
//! becomes the other by exchanging neighbouring steps whose footprints do not order them. Each such
//! exchange is checked: the exchanged execution exists, and nothing else about it differs, neither
//! what its steps did nor where it ends.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use dally_core::{
    Captured, Choice, Cut, Env, Event, Footprint, MessageId, Observe, Program, Status, Stop,
    System, Tag, Text, WorkerId,
};
use dally_search::reduction::Reduction;
use dally_search::strata::{Plan, RoundRobin, SearchKind, explore};
use dally_search::{Ended, Options, Report, Sink};

/// What is seen of where an execution ends.
pub type End = String;

/// What a step of an execution did.
#[derive(Clone, Debug)]
struct Taken {
    worker: WorkerId,
    /// What it was given; a message that it took without a choice is here too.
    given: Vec<Given>,
    footprint: Footprint,
    /// Those that could step.
    enabled: Vec<WorkerId>,
}

/// A step as executions of one class share it.
type Label = (WorkerId, Vec<Given>);

/// What a step was given, in an order: a value with how many there are, or a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Given {
    Value(u32, u32, Tag),
    Message(MessageId),
}

struct Execution {
    steps: Vec<Taken>,
    end: End,
}

impl Execution {
    fn word(&self) -> Vec<Label> {
        self.steps.iter().map(|step| (step.worker, step.given.clone())).collect()
    }

    /// How many preemptions or delays its choices of workers are.
    fn cost(&self, reduction: Reduction) -> u32 {
        let mut last: Option<WorkerId> = None;
        let mut cost = 0;
        for Taken { worker, enabled, .. } in &self.steps {
            let goes_on = last.filter(|last| enabled.contains(last));
            cost += match reduction {
                Reduction::Preemptions => u32::from(goes_on.is_some_and(|last| last != *worker)),
                Reduction::Delays => {
                    let later = enabled.iter().filter(|&&one| last.is_none_or(|last| one >= last));
                    let sooner = enabled.iter().filter(|&&one| last.is_some_and(|last| one < last));
                    later.chain(sooner).position(|one| one == worker).unwrap() as u32
                }
                _ => 0,
            };
            last = Some(*worker);
        }
        cost
    }
}

/// How the end of an execution of a captured system is told.
pub fn whole<S: Captured>(system: &S) -> String {
    let mut state = Vec::new();
    system.encode(&mut state);
    format!("{state:?} {:?}", system.fingerprint())
}

/// How it is told of another system.
pub fn seen<S: System>(system: &S) -> String {
    let hows = [Observe::Inboxes, Observe::Control, Observe::Custom];
    format!("{:?}", hows.map(|how| system.observe(how)))
}

/// All executions of a program, by running it again for each of them; `None` if there are more than
/// so many, or one has more than so many steps.
fn enumerate<P: Program>(
    program: &P,
    state: fn(&P::System) -> String,
    most: usize,
    longest: usize,
) -> Option<Vec<Execution>> {
    let mut all = Vec::new();
    // What is picked at each point: the place of a worker among the enabled, a value, a message.
    let mut path: Vec<(usize, usize)> = Vec::new();
    loop {
        let mut system = program.start().ok()?;
        let mut at = 0;
        let mut steps: Vec<Taken> = Vec::new();
        let end = loop {
            let enabled = system.enabled().to_vec();
            if enabled.is_empty() {
                let status = system.status();
                let stuck = matches!(status, Status::Stuck(_));
                let hot = system.acceptance().hot;
                break format!("{stuck} {hot} {}", state(&system));
            }
            if steps.len() >= longest {
                return None;
            }
            let worker = enabled[pick(&mut path, &mut at, enabled.len())];
            let mut footprint = Footprint::default();
            footprint.begin(worker);
            let taken = Taken { worker, given: Vec::new(), footprint, enabled };
            let mut asking = Asking { path: &mut path, at: &mut at, taken, events: 0 };
            let stepped = system.step(worker, &mut asking);
            let mut taken = asking.taken;
            let bug = match stepped {
                Ok(()) => None,
                Err(Stop::Bug(bug)) => Some(bug),
                Err(Stop::Cut) => return None,
            };
            if bug.is_some() {
                // What ends the execution has an order with everything.
                let ends = dally_core::Access::update(dally_core::Resource::Execution);
                taken.footprint.add(ends);
            }
            steps.push(taken);
            if let Some(bug) = bug {
                break format!("bug: {}", bug.message());
            }
        };
        let _ = system.end();
        all.push(Execution { steps, end });
        if all.len() > most {
            return None;
        }
        while let Some((picked, of)) = path.pop() {
            if picked + 1 < of {
                path.push((picked + 1, of));
                break;
            }
        }
        if path.is_empty() {
            return Some(all);
        }
    }
}

fn pick(path: &mut Vec<(usize, usize)>, at: &mut usize, of: usize) -> usize {
    if path.len() == *at {
        path.push((0, of));
    }
    *at += 1;
    path[*at - 1].0
}

struct Asking<'a> {
    path: &'a mut Vec<(usize, usize)>,
    at: &'a mut usize,
    taken: Taken,
    events: usize,
}

impl Env for Asking<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        let index = pick(self.path, self.at, of as usize) as u32;
        self.taken.given.push(Given::Value(index, of, tag));
        self.taken.footprint.value(index, tag);
        Ok(index)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        let place = pick(self.path, self.at, candidates.len());
        self.taken.given.push(Given::Message(candidates[place]));
        Ok(place)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.taken.footprint.event(&event);
        if let Event::Received { message, .. } = event
            && !self.taken.given.contains(&Given::Message(message))
        {
            self.taken.given.push(Given::Message(message));
        }
        self.events += 1;
        if self.events > 1_000 { Err(Cut) } else { Ok(()) }
    }
}

/// What the oracle knows of a program.
pub struct Oracle {
    /// The class of each execution, by its choices of workers and what they were given.
    classes: BTreeMap<Vec<Label>, usize>,
    /// How many classes there are.
    pub count: usize,
    /// How many preemptions and delays the cheapest execution of each class takes.
    costs: BTreeMap<usize, [u32; 2]>,
    /// All executions.
    pub executions: usize,
    /// The ends of all executions.
    pub ends: BTreeSet<End>,
    /// Exchanges that were made.
    pub exchanges: usize,
}

/// Sorts all executions of a program into classes; `None` if there are too many.
///
/// # Panics
/// If steps that their footprints do not order cannot be exchanged, or it makes a difference.
pub fn oracle<P: Program>(
    program: &P,
    state: fn(&P::System) -> String,
    most: usize,
    what: &dyn Fn() -> String,
) -> Option<Oracle> {
    let all = enumerate(program, state, most, 60)?;
    let places: BTreeMap<Vec<Label>, usize> =
        all.iter().enumerate().map(|(place, execution)| (execution.word(), place)).collect();
    assert_eq!(places.len(), all.len(), "executions differ in their steps: {}", what());
    let mut class: Vec<usize> = (0..all.len()).collect();
    let mut exchanges = 0;
    for (place, execution) in all.iter().enumerate() {
        let mut word = execution.word();
        for at in 1..word.len() {
            let (first, second) = (&execution.steps[at - 1], &execution.steps[at]);
            if first.footprint.orders(&second.footprint) {
                continue;
            }
            let context = || format!("{first:#?}\n{second:#?}\n{}", what());
            word.swap(at - 1, at);
            let Some(&other) = places.get(&word) else {
                panic!("steps {} and {at} cannot be exchanged: {}", at - 1, context());
            };
            word.swap(at - 1, at);
            exchanges += 1;
            assert_eq!(all[other].end, execution.end, "{}", context());
            let (later, earlier) = (&all[other].steps[at], &all[other].steps[at - 1]);
            assert!(
                !later.footprint.orders(&earlier.footprint),
                "they are dependent the other way round: {}\n{later:#?}\n{earlier:#?}",
                context()
            );
            let (one, two) = (root(&mut class, place), root(&mut class, other));
            class[one] = two;
        }
    }
    let mut classes = BTreeMap::new();
    let mut roots = BTreeSet::new();
    let mut costs = BTreeMap::new();
    for (word, place) in places {
        let root = root(&mut class, place);
        roots.insert(root);
        let cheapest = costs.entry(root).or_insert([u32::MAX; 2]);
        for (cheapest, reduction) in cheapest.iter_mut().zip(BOUNDED) {
            *cheapest = all[place].cost(reduction).min(*cheapest);
        }
        classes.insert(word, root);
    }
    let ends = all.iter().map(|execution| execution.end.clone()).collect();
    Some(Oracle { classes, count: roots.len(), costs, executions: all.len(), ends, exchanges })
}

const BOUNDED: [Reduction; 2] = [Reduction::Preemptions, Reduction::Delays];

fn root(class: &mut [usize], mut place: usize) -> usize {
    while class[place] != place {
        class[place] = class[class[place]];
        place = class[place];
    }
    place
}

/// The executions of a reduced search.
#[derive(Default)]
pub struct Executed(Mutex<Vec<Vec<Choice>>>);

impl Sink for Executed {
    fn wants_executions(&self) -> bool {
        true
    }

    fn executed(&self, choices: &[Choice]) {
        self.0.lock().unwrap().push(choices.to_vec());
    }
}

/// Runs a reduced search to its end.
pub fn reduce<P: Program + 'static>(program: Arc<P>) -> (Report, Vec<Vec<Choice>>) {
    reduce_by(program, Reduction::Optimal, None)
}

/// As [`reduce`], with such options.
pub fn reduce_with<P: Program + 'static>(
    program: Arc<P>,
    options: Options,
) -> (Report, Vec<Vec<Choice>>) {
    let plan = Plan { search: SearchKind::Dpor, ..Plan::default() };
    run(program, plan, options)
}

/// As [`reduce`], by this rule and with this bound.
pub fn reduce_by<P: Program + 'static>(
    program: Arc<P>,
    reduction: Reduction,
    delays: Option<u32>,
) -> (Report, Vec<Vec<Choice>>) {
    let plan = Plan { search: SearchKind::Dpor, reduction, delays, ..Plan::default() };
    run(program, plan, Options { keep_going: true, ..Options::default() })
}

fn run<P: Program + 'static>(
    program: Arc<P>,
    plan: Plan,
    options: Options,
) -> (Report, Vec<Vec<Choice>>) {
    let sink = Arc::new(Executed::default());
    let options = Options { shrink: false, repeat_check: false, ..options };
    let report = explore(program, RoundRobin::default(), plan, options, sink.clone());
    let executed = std::mem::take(&mut *sink.0.lock().unwrap());
    (report, executed)
}

/// A search to the first bug executes what one to the end does, as far as that bug.
fn compare_to_first_bug<P: Program + 'static>(
    program: Arc<P>,
    (to_end, executed): (&Report, &[Vec<Choice>]),
    what: &dyn Fn() -> String,
) {
    let Some(found_at) = to_end.findings.iter().map(|finding| finding.found_at).min() else {
        return;
    };
    let options = Options { keep_going: false, ..Options::default() };
    let (report, first) = reduce_with(program, options);
    let [finding] = &*report.findings else { panic!("it found no bug or several: {}", what()) };
    assert_eq!((report.ended, finding.found_at), (Ended::Bug, found_at), "{}", what());
    assert!(executed.starts_with(&first), "{}", what());
    assert_eq!(first.len() as u64, found_at, "{}", what());
}

/// How much was compared. Tests print it.
#[derive(Default, Debug)]
pub struct Tally {
    pub programs: usize,
    pub executions: usize,
    pub classes: usize,
    pub exchanges: usize,
    /// Ends of executions that differ.
    pub ends: usize,
    /// Beginnings of executions that the reduction gave up.
    pub redundant: u64,
    /// The executions of the other rules.
    pub by_rule: BTreeMap<String, u64>,
}

/// Compares the reduction with the oracle, unless the program is too large.
///
/// # Panics
/// If the reduction does not execute every class once, or something was found wrong.
pub fn compare<P: Program + 'static>(
    program: P,
    state: fn(&P::System) -> String,
    most: usize,
    tally: &mut Tally,
    what: &dyn Fn() -> String,
) {
    let Some(oracle) = oracle(&program, state, most, what) else { return };
    let program = Arc::new(program);
    let (report, executed) = reduce(program.clone());
    assert_eq!(report.ended, Ended::Exhausted, "{:?} {}", report.notes, what());
    let mut seen = BTreeMap::new();
    let mut ends = BTreeSet::new();
    for choices in &executed {
        let (word, end) = follow(&*program, state, choices, what);
        let Some(&class) = oracle.classes.get(&word) else {
            panic!("there is no such execution: {word:?} {}", what());
        };
        if let Some(before) = seen.insert(class, word.clone()) {
            panic!("one class twice:\n{before:?}\n{word:?}\n{}", what());
        }
        ends.insert(end);
    }
    if seen.len() < oracle.count {
        let missed: BTreeMap<usize, &Vec<Label>> = oracle
            .classes
            .iter()
            .filter(|(_, class)| !seen.contains_key(class))
            .map(|(word, class)| (*class, word))
            .collect();
        let all = enumerate(&*program, state, most, 60).unwrap_or_default();
        let shown = |words: &mut dyn Iterator<Item = &Vec<Label>>| {
            let of = |word: &&Vec<Label>| all.iter().find(|execution| execution.word() == **word);
            let steps = |execution: &Execution| {
                let step = |step: &Taken| {
                    let touched = step.footprint.accesses().iter();
                    let touched: Vec<String> = touched
                        .map(|access| format!("{:?} {}", access.mode, access.resource))
                        .collect();
                    format!("  {} {:?} {}", step.worker, step.given, touched.join(", "))
                };
                execution.steps.iter().map(step).collect::<Vec<_>>().join("\n")
            };
            words.filter_map(|word| of(&word)).map(steps).collect::<Vec<_>>().join("\n\n")
        };
        panic!(
            "{} of {} classes, not\n{}\n\nbut\n{}\n{}",
            seen.len(),
            oracle.count,
            shown(&mut missed.values().copied()),
            shown(&mut seen.values()),
            what()
        );
    }
    assert_eq!(ends, oracle.ends, "{}", what());
    assert_eq!(report.classes.as_ref().map(|classes| classes.astray), Some(0), "{}", what());
    compare_to_first_bug(program, (&report, &executed), what);
    tally.programs += 1;
    tally.executions += oracle.executions;
    tally.classes += oracle.count;
    tally.exchanges += oracle.exchanges;
    tally.ends += oracle.ends.len();
    tally.redundant += report.redundant;
}

/// Compares the other rules of reduction with the oracle, unless the program is too large. Returns how
/// many executions each rule took, without the bounded ones.
///
/// # Panics
/// If a rule misses a class, a bounded one one with an execution within the bound, or counts wrong.
pub fn compare_rules<P: Program + 'static>(
    program: P,
    state: fn(&P::System) -> String,
    most: usize,
    tally: &mut Tally,
    what: &dyn Fn() -> String,
) {
    let Some(oracle) = oracle(&program, state, most, what) else { return };
    let program = Arc::new(program);
    let all = [Reduction::Source, Reduction::NeedsDelay, Reduction::None];
    let within = |bound| BOUNDED.map(|reduction| (reduction, Some(bound)));
    let rules = all.map(|reduction| (reduction, None)).into_iter();
    for (reduction, bound) in rules.chain((0..3).flat_map(within)) {
        let what = || format!("{reduction} {bound:?}: {}", what());
        let (report, executed) = reduce_by(program.clone(), reduction, bound);
        assert!(matches!(report.ended, Ended::Exhausted | Ended::Bound), "{}", what());
        let mut seen = BTreeMap::new();
        for choices in &executed {
            let (word, _) = follow(&*program, state, choices, &what);
            let Some(&class) = oracle.classes.get(&word) else {
                panic!("there is no such execution: {word:?} {}", what());
            };
            if seen.insert(class, word).is_some() && reduction == Reduction::Source {
                panic!("one class twice: {}", what());
            }
        }
        assert_eq!(report.classes.unwrap().classes, seen.len() as u64, "{}", what());
        let wanted = |(class, costs): (&usize, &[u32; 2])| {
            let at = BOUNDED.iter().position(|&bounded| bounded == reduction);
            at.is_none_or(|at| costs[at] <= bound.unwrap()).then_some(*class)
        };
        let wanted: BTreeSet<usize> = oracle.costs.iter().filter_map(wanted).collect();
        let seen: BTreeSet<usize> = seen.into_keys().collect();
        let missed = |class: usize| oracle.classes.iter().find(|entry| *entry.1 == class);
        let first = wanted.difference(&seen).next().and_then(|&class| missed(class));
        assert_eq!(first, None, "{} of {} classes, {}", seen.len(), wanted.len(), what());
        if reduction == Reduction::None {
            assert_eq!(report.schedules, oracle.executions as u64, "{}", what());
        }
        assert_eq!(seen, wanted, "{}", what());
        *tally.by_rule.entry(format!("{reduction} {}", bound.unwrap_or_default())).or_default() +=
            report.schedules;
    }
    tally.programs += 1;
    tally.executions += oracle.executions;
    tally.classes += oracle.count;
}

/// Makes these choices, and says what happened as the oracle does.
fn follow<P: Program>(
    program: &P,
    state: fn(&P::System) -> String,
    choices: &[Choice],
    what: &dyn Fn() -> String,
) -> (Vec<Label>, End) {
    let Ok(mut system) = program.start() else { panic!("it started before: {}", what()) };
    let mut word = Vec::new();
    let mut at = 0;
    while let Some(&Choice::Worker(worker)) = choices.get(at) {
        at += 1;
        let mut following = Following { choices, at: &mut at, given: Vec::new() };
        let stepped = system.step(worker, &mut following);
        word.push((worker, following.given));
        if let Err(Stop::Bug(bug)) = stepped {
            return (word, format!("bug: {}", bug.message()));
        }
    }
    let stuck = matches!(system.status(), Status::Stuck(_));
    let hot = system.acceptance().hot;
    let end = format!("{stuck} {hot} {}", state(&system));
    let _ = system.end();
    (word, end)
}

struct Following<'a> {
    choices: &'a [Choice],
    at: &'a mut usize,
    given: Vec<Given>,
}

impl Env for Following<'_> {
    fn value(&mut self, _: u32, _: Tag) -> Result<u32, Cut> {
        let Choice::Value { index, of, tag } = self.choices[*self.at] else { return Err(Cut) };
        self.given.push(Given::Value(index, of, tag));
        *self.at += 1;
        Ok(index)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        let Choice::Delivery(message) = self.choices[*self.at] else { return Err(Cut) };
        self.given.push(Given::Message(message));
        *self.at += 1;
        candidates.iter().position(|&one| one == message).ok_or(Cut)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        if let Event::Received { message, .. } = event
            && !self.given.contains(&Given::Message(message))
        {
            self.given.push(Given::Message(message));
        }
        Ok(())
    }
}

/// The seeds of the programs to compare: so many, or what `DALLY_PROGRAMS` says, which is a number or a range
/// such as `5000..10000`.
///
/// # Panics
/// If it is something else.
pub fn seeds(by_default: u64) -> Range<u64> {
    let Ok(text) = std::env::var("DALLY_PROGRAMS") else { return 0..by_default };
    let number = |text: &str| text.parse().expect("DALLY_PROGRAMS is a number or a range");
    match text.split_once("..") {
        Some((from, to)) => number(from)..number(to),
        None => 0..number(&text),
    }
}

/// What a test of programs must have compared; anything at all if it was told how many to try.
///
/// # Panics
/// If it has not.
pub fn enough(tally: &Tally, programs: usize, classes: usize) {
    println!("{tally:?}");
    let told = std::env::var_os("DALLY_PROGRAMS").is_some();
    let (programs, classes) = if told { (0, 0) } else { (programs, classes) };
    assert!(tally.programs > programs && tally.classes > classes, "{tally:?}");
}
