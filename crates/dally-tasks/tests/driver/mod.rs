//! A driver that runs every schedule of a small program: the oracle of these tests.
#![allow(dead_code)] // each test file uses a part

use std::collections::BTreeMap;

use dally_core::{
    Bug, Cut, Env, Event, MessageId, Program, Status, Stop, System, Tag, Text, WorkerId,
};
use dally_tasks::TaskProgram;

/// All schedules of a program and how they ended.
#[derive(Debug, Default)]
pub struct Explored {
    pub schedules: usize,
    pub steps: usize,
    /// What the program noted, and how it ended, with how many schedules did so.
    pub outcomes: BTreeMap<String, usize>,
    pub bugs: Vec<Bug>,
}

impl Explored {
    /// The outcomes alone.
    pub fn kinds(&self) -> Vec<&str> {
        self.outcomes.keys().map(String::as_str).collect()
    }
}

/// Runs every schedule. An outcome is the program's notes, then `done`, `stuck` or the bug.
pub fn explore(program: &TaskProgram) -> Explored {
    explore_up_to(program, 1_000)
}

/// As [`explore`], giving up each schedule after so many steps (outcome `cut`).
pub fn explore_up_to(program: &TaskProgram, max_steps: usize) -> Explored {
    let mut explored = Explored::default();
    let mut script = Script::default();
    let mut system = program.start().expect("starts");
    system.end().expect("ends");
    loop {
        script.next = 0;
        script.notes.clear();
        program.restart(&mut system).expect("starts again");
        let ended = run(&mut system, &mut script, max_steps, &mut explored.steps);
        let ended = match (ended, system.end()) {
            (Ended::Bug(bug), _) | (_, Err(bug)) => {
                let text = format!("{}: {}", bug.kind(), dally_report::text::bug(&bug));
                explored.bugs.push(bug);
                text
            }
            (Ended::Plain(text), Ok(())) => text.to_owned(),
        };
        script.notes.push(ended);
        *explored.outcomes.entry(script.notes.join(" ")).or_default() += 1;
        explored.schedules += 1;
        assert!(explored.schedules < 2_000_000, "too large to be a litmus test");
        if !script.advance() {
            return explored;
        }
    }
}

/// Runs one schedule: always the first enabled worker, except where `prefer` names another.
pub fn run_one(program: &TaskProgram, prefer: &[&str]) -> (Result<(), Bug>, Vec<String>, Status) {
    let mut env = Script { recording: true, ..Script::default() };
    let mut system = program.start().expect("starts");
    let mut wanted = prefer.iter().map(|id| id.parse::<WorkerId>().expect("a worker's id"));
    let mut result = Ok(());
    let mut steps = 0;
    while !system.enabled().is_empty() && steps < 1_000 {
        steps += 1;
        let worker = wanted.next().unwrap_or(system.enabled()[0]);
        assert!(system.enabled().contains(&worker), "{worker} is not among {:?}", system.enabled());
        env.log.push(format!("-- {worker} {}", system.name(worker)));
        match system.step(worker, &mut env) {
            Ok(()) => {}
            Err(Stop::Bug(bug)) => {
                result = Err(*bug);
                break;
            }
            Err(Stop::Cut) => break,
        }
    }
    let status = system.status();
    let end = system.end();
    (result.and(end), env.log, status)
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

enum Ended {
    Plain(&'static str),
    Bug(Bug),
}

fn run(
    system: &mut impl System,
    script: &mut Script,
    max_steps: usize,
    steps: &mut usize,
) -> Ended {
    let mut seen: Vec<WorkerId> = Vec::new();
    for _ in 0..max_steps {
        seen.retain(|worker| !system.enabled().contains(worker));
        assert!(!seen.iter().any(|&worker| system.is_enabled(worker)), "not in the list");
        seen.extend(system.enabled());
        assert!(system.enabled().iter().all(|&worker| system.is_enabled(worker)), "in the list");
        let enabled = system.enabled().len();
        if enabled == 0 {
            return match system.status() {
                Status::Done => Ended::Plain("done"),
                Status::Stuck(_) => Ended::Plain("stuck"),
                Status::Running => unreachable!("running without a worker that can step"),
            };
        }
        assert!(system.enabled().is_sorted(), "enabled workers are sorted");
        let worker = system.enabled()[script.choose(enabled)];
        *steps += 1;
        match system.step(worker, script) {
            Ok(()) => {}
            Err(Stop::Cut) => return Ended::Plain("cut"),
            Err(Stop::Bug(bug)) => return Ended::Bug(*bug),
        }
    }
    Ended::Plain("cut")
}

/// The choices of the present schedule, each with the number of its options.
#[derive(Default)]
struct Script {
    choices: Vec<(usize, usize)>,
    next: usize,
    notes: Vec<String>,
    recording: bool,
    log: Vec<String>,
}

impl Script {
    fn choose(&mut self, of: usize) -> usize {
        if self.next == self.choices.len() {
            self.choices.push((0, of));
        }
        let (index, recorded) = self.choices[self.next];
        assert_eq!(recorded, of, "the program is not deterministic");
        self.next += 1;
        index
    }

    /// The next schedule in depth-first order.
    fn advance(&mut self) -> bool {
        while let Some((index, of)) = self.choices.pop() {
            if index + 1 < of {
                self.choices.push((index + 1, of));
                return true;
            }
        }
        false
    }
}

impl Env for Script {
    fn value(&mut self, of: u32, _: Tag) -> Result<u32, Cut> {
        Ok(if self.recording { 0 } else { self.choose(of as usize) as u32 })
    }

    fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> {
        unreachable!("tasks have no mailboxes")
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        if self.recording {
            let told = event.map(|text| text.to_string());
            self.log.push(format!("{told:?}"));
        } else if let Event::Noted { text } = event {
            self.notes.push(text.to_string());
        }
        Ok(())
    }
}
