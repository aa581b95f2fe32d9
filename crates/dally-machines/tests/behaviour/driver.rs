//! Drives programs: every schedule of a small one, or every reachable state.

use std::collections::{BTreeMap, BTreeSet};

use dally_core::{
    Bug, Captured, Cut, Env, Event, MessageId, Program, Stop, System, Tag, Text, WorkerId,
};
use dally_machines::{MachineProgram, MachineSystem};

/// One execution from start to end.
#[derive(Debug)]
pub struct Run {
    pub steps: Vec<WorkerId>,
    pub events: Vec<(WorkerId, Event<String>)>,
    pub bug: Option<Bug>,
}

impl Run {
    /// What was announced, in order.
    pub fn announced(&self) -> Vec<&str> {
        let announced = self.events.iter().filter_map(|(_, event)| match event {
            Event::Announced { payload } => Some(payload.trim_matches('"')),
            _ => None,
        });
        announced.collect()
    }

    pub fn has(&self, wanted: impl Fn(&Event<String>) -> bool) -> bool {
        self.events.iter().any(|(_, event)| wanted(event))
    }
}

/// Answers from a list of choices, then with the first option, and remembers what it answered.
#[derive(Default)]
struct Script {
    choices: Vec<(u32, u32)>,
    at: usize,
    worker: Option<WorkerId>,
    events: Vec<(WorkerId, Event<String>)>,
}

impl Script {
    fn next(&mut self, of: usize) -> usize {
        if self.at == self.choices.len() {
            self.choices.push((0, of as u32));
        }
        let (chosen, options) = self.choices[self.at];
        assert_eq!(options, of as u32, "the program did not repeat itself");
        self.at += 1;
        chosen as usize
    }

    /// The next list in depth-first order; `false` after the last.
    fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((chosen, of)) = self.choices.pop() {
            if chosen + 1 < of {
                self.choices.push((chosen + 1, of));
                return true;
            }
        }
        false
    }
}

impl Env for Script {
    fn value(&mut self, of: u32, _: Tag) -> Result<u32, Cut> {
        Ok(self.next(of as usize) as u32)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        assert!(candidates.len() > 1);
        Ok(self.next(candidates.len()))
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        let worker = self.worker.unwrap_or(WorkerId::FAULTS);
        self.events.push((worker, event.map(|text| text.to_string())));
        Ok(())
    }
}

fn one(system: &mut MachineSystem, script: &mut Script) -> Run {
    let mut run = Run { steps: Vec::new(), events: Vec::new(), bug: None };
    while !system.enabled().is_empty() {
        assert!(system.enabled().is_sorted());
        assert!(run.steps.len() < 1000, "no end in sight: {:?}", run.steps);
        let worker = system.enabled()[script.next(system.enabled().len())];
        script.worker = Some(worker);
        run.steps.push(worker);
        match system.step(worker, script) {
            Ok(()) => {}
            Err(Stop::Bug(bug)) => {
                run.bug = Some(*bug);
                break;
            }
            Err(Stop::Cut) => panic!("nobody cuts here"),
        }
    }
    run.events = std::mem::take(&mut script.events);
    run
}

/// Every schedule, depth first, in the memory of one system.
pub fn schedules(program: &MachineProgram) -> Vec<Run> {
    let mut script = Script::default();
    let mut system = program.start().unwrap();
    let mut runs = Vec::new();
    loop {
        runs.push(one(&mut system, &mut script));
        assert!(runs.len() < 1_000_000, "too many schedules for a test");
        if !script.advance() {
            return runs;
        }
        program.restart(&mut system).unwrap();
    }
}

/// The schedule that always takes the first option.
pub fn first(program: &MachineProgram) -> Run {
    one(&mut program.start().unwrap(), &mut Script::default())
}

/// How often each sequence of announcements comes about over all schedules.
pub fn outcomes(program: &MachineProgram) -> BTreeMap<String, usize> {
    let mut outcomes = BTreeMap::new();
    for run in schedules(program) {
        assert_eq!(run.bug, None);
        *outcomes.entry(run.announced().join(" ")).or_default() += 1;
    }
    outcomes
}

/// The kinds of bug over all schedules, as (message's first line, was this announced before it).
pub fn bugs(program: &MachineProgram) -> BTreeSet<String> {
    let runs = schedules(program);
    let bugs = runs.iter().filter_map(|run| {
        let bug = run.bug.as_ref()?;
        let told = dally_report::text::bug(bug);
        let first = told.lines().next().unwrap_or("");
        Some(format!("{} | {first}", run.announced().join(" ")))
    });
    bugs.collect()
}

/// Every reachable state, breadth first, each with its encoding; `visit` sees each new state once.
pub fn states(program: &MachineProgram, mut visit: impl FnMut(&MachineSystem)) -> usize {
    let mut seen: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut queue = std::collections::VecDeque::from([program.start().unwrap()]);
    while let Some(system) = queue.pop_front() {
        let mut encoding = Vec::new();
        system.encode(&mut encoding);
        if !seen.insert(encoding) {
            continue;
        }
        assert!(seen.len() < 200_000, "too many states for a test");
        visit(&system);
        for &worker in system.enabled() {
            let mut script = Script::default();
            loop {
                let mut next = system.fork();
                if next.step(worker, &mut script).is_ok() {
                    queue.push_back(next);
                }
                if !script.advance() {
                    break;
                }
            }
        }
    }
    seen.len()
}

/// Takes the first option and listens to nothing.
pub struct Quiet;

impl Env for Quiet {
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

/// Takes random options.
pub struct Random(fastrand::Rng);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(fastrand::Rng::with_seed(seed))
    }

    /// Another that will make the same choices.
    pub fn twin(&self) -> Random {
        Random(self.0.clone())
    }

    pub fn worker(&mut self, system: &MachineSystem) -> Option<WorkerId> {
        let enabled = system.enabled();
        if enabled.is_empty() { None } else { Some(enabled[self.0.usize(..enabled.len())]) }
    }

    /// Takes so many steps; `false` if the execution is over before.
    pub fn walk(&mut self, system: &mut MachineSystem, steps: usize) -> bool {
        for _ in 0..steps {
            let Some(worker) = self.worker(system) else { return false };
            if system.step(worker, self).is_err() {
                return false;
            }
        }
        true
    }
}

impl Env for Random {
    fn value(&mut self, of: u32, _: Tag) -> Result<u32, Cut> {
        Ok(self.0.u32(..of))
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        Ok(self.0.usize(..candidates.len()))
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }
}

/// The same, and hears nothing, so that nothing is told.
pub struct Deaf(pub Random);

impl Env for Deaf {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        self.0.value(of, tag)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.0.delivery(candidates)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        panic!("an event that nobody wants to hear")
    }

    fn leeway(&self) -> u32 {
        u32::MAX
    }
}
