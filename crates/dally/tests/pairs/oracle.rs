//! All pairs of a class of orders and a path of a small program: every schedule is run with every
//! input, and executions that differ by an exchange of neighbours that are independent are one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dally::concolic::{Recorder, explore, recorder};
use dally::contract::{
    Access, Choice, Cut, Env, Event, Footprint, Input, MessageId, Program, Resource, Status, Stop,
    System, Tag, Text, WorkerId,
};
use dally::search::{Ended, Options, Sink};

/// How many programs to compare: `by_default`, or what `DALLY_PAIRS` says.
pub fn programs(by_default: u64) -> u64 {
    std::env::var("DALLY_PAIRS").ok().and_then(|text| text.parse().ok()).unwrap_or(by_default)
}

/// A step as executions of one class share it: who stepped, the messages it took, and the outcomes of
/// its branches.
type Label = (WorkerId, Vec<MessageId>, Vec<bool>);

struct Execution {
    footprints: Vec<Footprint>,
    stuck: bool,
}

/// What is decided at each point: the place of what is picked, and of how many.
#[derive(Default)]
struct Path {
    picked: Vec<(u64, u64)>,
    at: usize,
}

impl Path {
    fn pick(&mut self, of: u64) -> u64 {
        if self.picked.len() == self.at {
            self.picked.push((0, of));
        }
        self.at += 1;
        self.picked[self.at - 1].0
    }

    /// Goes on to the next one; `false` if that was the last.
    fn next(&mut self) -> bool {
        self.at = 0;
        while let Some((picked, of)) = self.picked.pop() {
            if picked + 1 < of {
                self.picked.push((picked + 1, of));
                return true;
            }
        }
        false
    }
}

/// Answers by a path, or as choices say, and notes what the step does.
struct Noting<'a> {
    answers: Answers<'a>,
    worker: u64,
    taken: Vec<MessageId>,
    footprint: Footprint,
}

enum Answers<'a> {
    Path(&'a mut Path),
    /// These, from a place on.
    Choices(&'a [Choice], &'a mut usize),
}

impl Answers<'_> {
    fn next(&mut self) -> Option<Choice> {
        let Answers::Choices(choices, at) = self else { return None };
        **at += 1;
        choices.get(**at - 1).copied()
    }
}

impl Env for Noting<'_> {
    fn value(&mut self, _: u32, _: Tag) -> Result<u32, Cut> {
        Err(Cut)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        let place = match &mut self.answers {
            Answers::Path(path) => path.pick(candidates.len() as u64) as usize,
            answers => match answers.next() {
                Some(Choice::Delivery(wanted)) => {
                    candidates.iter().position(|&one| one == wanted).ok_or(Cut)?
                }
                other => panic!("a delivery is chosen, not {other:?}"),
            },
        };
        self.taken.push(candidates[place]);
        Ok(place)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        let value = match &mut self.answers {
            Answers::Path(path) => {
                asked.least + path.pick(asked.most.abs_diff(asked.least) + 1) as i64
            }
            answers => match answers.next() {
                Some(Choice::Input(value)) => value,
                other => panic!("an input is chosen, not {other:?}"),
            },
        };
        recorder::with(|recorder| {
            let variable = recorder.next_input(self.worker, asked.least, asked.most);
            recorder.answered(self.worker, asked.name, variable, value);
        });
        Ok(value)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.footprint.event(&event);
        if let Event::Received { message, .. } = event
            && !self.taken.contains(&message)
        {
            self.taken.push(message);
        }
        Ok(())
    }
}

/// Takes a step; answers its label, what it touches, and whether it ends the execution.
fn step<S: System>(
    system: &mut S,
    worker: WorkerId,
    answers: Answers<'_>,
) -> (Label, Footprint, bool) {
    recorder::with(Recorder::step);
    let mut footprint = Footprint::default();
    footprint.begin(worker);
    let mut noting = Noting { answers, worker: worker.to_bits(), taken: Vec::new(), footprint };
    let stepped = system.step(worker, &mut noting);
    let Noting { taken, mut footprint, .. } = noting;
    let outcomes = recorder::with(|recorder| {
        recorder.of_step().iter().filter_map(|branch| branch.outcome).collect()
    });
    let failed = match stepped {
        Ok(()) => false,
        Err(Stop::Bug(_)) => true,
        Err(Stop::Cut) => panic!("a step is cut"),
    };
    if failed {
        // What ends the execution has an order with everything.
        footprint.add(Access::update(Resource::Execution));
    }
    ((worker, taken, outcomes.unwrap_or_default()), footprint, failed)
}

/// All executions by what their steps did; `None` if there are more than so many.
fn enumerate<P: Program>(program: &P, most: usize) -> Option<BTreeMap<Vec<Label>, Execution>> {
    let mut all = BTreeMap::new();
    let mut path = Path::default();
    let mut runs = 0;
    loop {
        recorder::with(Recorder::begin);
        let mut system = program.start().unwrap();
        let (mut word, mut footprints) = (Vec::new(), Vec::new());
        while !system.enabled().is_empty() {
            let of = system.enabled().len() as u64;
            let worker = system.enabled()[path.pick(of) as usize];
            let (label, footprint, failed) = step(&mut system, worker, Answers::Path(&mut path));
            word.push(label);
            footprints.push(footprint);
            if failed {
                break;
            }
        }
        let stuck = matches!(system.status(), Status::Stuck(_));
        recorder::with(Recorder::stop);
        let _ = system.end();
        all.insert(word, Execution { footprints, stuck });
        runs += 1;
        if runs > most {
            return None;
        }
        if !path.next() {
            return Some(all);
        }
    }
}

/// The number of the pair that each execution belongs to, and how many there are.
fn classes(all: &BTreeMap<Vec<Label>, Execution>) -> (BTreeMap<Vec<Label>, usize>, usize) {
    let mut known: BTreeMap<Vec<Label>, usize> = BTreeMap::new();
    let mut count = 0;
    for start in all.keys() {
        if known.contains_key(start) {
            continue;
        }
        let mut open = vec![start.clone()];
        known.insert(start.clone(), count);
        while let Some(word) = open.pop() {
            let execution = &all[&word];
            for at in 1..word.len() {
                let [first, second] = [&execution.footprints[at - 1], &execution.footprints[at]];
                if first.orders(second) {
                    continue;
                }
                let mut other = word.clone();
                other.swap(at - 1, at);
                let exchanged = all.get(&other).unwrap_or_else(|| {
                    panic!("steps {} and {at} cannot be exchanged: {word:?}", at - 1)
                });
                assert_eq!(exchanged.stuck, execution.stuck, "{word:?}");
                if known.insert(other.clone(), count).is_none() {
                    open.push(other);
                }
            }
        }
        count += 1;
    }
    (known, count)
}

#[derive(Default)]
struct Executed(Mutex<Vec<Vec<Choice>>>);

impl Sink for Executed {
    fn wants_executions(&self) -> bool {
        true
    }

    fn executed(&self, choices: &[Choice]) {
        self.0.lock().unwrap().push(choices.to_vec());
    }
}

/// Compares the concolic search with enumeration, unless there are more executions than so many;
/// answers how many pairs there are.
pub fn compare<P: Program + 'static>(
    program: P,
    most: usize,
    what: &dyn Fn() -> String,
) -> Option<usize> {
    let program = Arc::new(program);
    recorder::enter(Box::default());
    let all = enumerate(&*program, most);
    let sink = Arc::new(Executed::default());
    let found = all.map(|all| {
        let (known, count) = classes(&all);
        let options =
            Options { keep_going: true, shrink: false, repeat_check: false, ..Options::default() };
        let (report, coverage) = explore(program.clone(), options, sink.clone());
        assert_eq!((report.ended, coverage.unknown), (Ended::Exhausted, 0), "{}", what());
        let mut executed = vec![0; count];
        for choices in sink.0.lock().unwrap().iter() {
            let word = follow(&*program, choices);
            let Some(&pair) = known.get(&word) else {
                panic!("there is no such execution: {word:?}\n{}", what());
            };
            executed[pair] += 1;
            assert_eq!(executed[pair], 1, "twice: {word:?}\n{}", what());
        }
        let missing = executed.iter().position(|&times| times == 0);
        let missing = missing.and_then(|pair| known.iter().find(|(_, known)| **known == pair));
        assert!(missing.is_none(), "{} pairs, but not {missing:?}\n{}", count, what());
        count
    });
    recorder::leave();
    found
}

/// What the steps of these choices do.
fn follow<P: Program>(program: &P, choices: &[Choice]) -> Vec<Label> {
    recorder::with(Recorder::begin);
    let mut system = program.start().unwrap();
    let mut word = Vec::new();
    let mut at = 0;
    while let Some(&Choice::Worker(worker)) = choices.get(at) {
        at += 1;
        let (label, _, failed) = step(&mut system, worker, Answers::Choices(choices, &mut at));
        word.push(label);
        if failed {
            break;
        }
    }
    recorder::with(Recorder::stop);
    let _ = system.end();
    word
}
