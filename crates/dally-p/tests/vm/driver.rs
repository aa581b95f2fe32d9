//! Runs small programs: along one schedule with all that is told, or along every schedule.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dally_core::{
    Bug, Captured, Cut, Env, Event, MessageId, Observe, Problem, Program, Status, Stop, System,
    Tag, Text, WorkerId,
};
use dally_p::source::Sources;
use dally_p::vm::{Foreign, PProgram, PSystem};

/// The first test of a source.
pub fn program(source: &str) -> PProgram {
    program_with(source, Foreign::default())
}

pub fn program_with(source: &str, foreign: Foreign) -> PProgram {
    let mut sources = Sources::default();
    sources.add("test.p", source);
    let compiled = dally_p::compile(sources);
    let Some(checked) = compiled.program else { panic!("{:#?}", compiled.diagnostics) };
    match PProgram::new(&Arc::new(checked), 0, foreign) {
        Ok(program) => program,
        Err(diagnostic) => panic!("{diagnostic:#?}"),
    }
}

/// Answers with given values and then with 0; hears everything.
#[derive(Default)]
pub struct Script {
    pub given: Vec<u32>,
    /// What was asked for: index and number of values.
    pub asked: Vec<(u32, u32)>,
    pub lines: Vec<String>,
    pub notes: Vec<String>,
    pub items: u32,
    pub quiet: bool,
}

const BOUND: u32 = 2_000;

impl Env for Script {
    fn value(&mut self, of: u32, _: Tag) -> Result<u32, Cut> {
        let index = self.given.get(self.asked.len()).copied().unwrap_or(0);
        self.asked.push((index, of));
        self.unheard(1)?;
        Ok(index)
    }

    fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> {
        Err(Cut)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.unheard(1)?;
        if let Event::Noted { text } = &event {
            self.notes.push(text.to_string());
        }
        self.lines.push(words(&event));
        Ok(())
    }

    fn leeway(&self) -> u32 {
        if self.quiet { BOUND } else { 0 }
    }

    fn unheard(&mut self, events: u32) -> Result<(), Cut> {
        self.items += events;
        if self.items > BOUND { Err(Cut) } else { Ok(()) }
    }
}

fn words(event: &Event<Text<'_>>) -> String {
    match event {
        Event::Created { worker, name } => format!("creates {name} {worker}"),
        Event::Sent { to, payload, .. } => format!("sends {payload} to {to}"),
        Event::Received { payload, .. } => format!("takes {payload}"),
        Event::Discarded { message, why } => format!("{why:?}: {message}"),
        Event::Raised { payload } => format!("raises {payload}"),
        Event::Changed { how, to } => format!("{how:?} {to}"),
        Event::Blocked { on } => format!("waits to {on}"),
        Event::Halted { worker } => format!("{worker} halts"),
        Event::Announced { payload } => format!("announces {payload}"),
        Event::MonitorChanged { monitor, to, heat } => format!("{monitor} is in {to}, {heat:?}"),
        Event::Noted { text } => format!("prints {text}"),
        Event::Sending { to, payload } => format!("tells specs of {payload} to {to}"),
        Event::Observed { monitor, what, state } => format!("{monitor} handles {what} in {state}"),
        Event::Handled { what, state } => format!("handles {what} in {state}"),
        Event::Chosen { value } => format!("chooses {value}"),
        other => format!("{:?}", other.map(|text| text.to_string())),
    }
}

/// How an execution ended, in words.
fn ended(system: &PSystem) -> String {
    match system.status() {
        Status::Running => "still running".into(),
        Status::Done if system.acceptance().hot != 0 => {
            let (spec, state) = system.monitor(system.acceptance().hot.trailing_zeros() as usize);
            format!("{spec} is hot in {state}")
        }
        Status::Done => "done".into(),
        Status::Stuck(waiting) => dally_report::text::bug(&Bug::new(Problem::Deadlock { waiting })),
    }
}

pub fn stopped(stop: Stop) -> String {
    match stop {
        Stop::Bug(bug) => format!("{}: {}", bug.kind(), dally_report::text::bug(&bug)),
        Stop::Cut => "a step without end".into(),
    }
}

/// One schedule: always the first worker that can step, and always the first value.
pub struct Story {
    pub lines: Vec<String>,
    pub notes: Vec<String>,
    pub end: String,
    pub steps: usize,
}

pub fn story_of(program: &PProgram) -> Story {
    let mut script = Script::default();
    let mut lines = Vec::new();
    let mut system = match program.start() {
        Ok(system) => system,
        Err(bug) => {
            let end = format!("{}: {}", bug.kind(), dally_report::text::bug(&bug));
            return Story { lines, notes: Vec::new(), end, steps: 0 };
        }
    };
    for steps in 0..500 {
        let Some(&worker) = system.enabled().first() else {
            return Story { lines, notes: script.notes, end: ended(&system), steps };
        };
        script.items = 0;
        let stop = system.step(worker, &mut script);
        let name = system.name(worker);
        lines.extend(script.lines.drain(..).map(|line| format!("{name} {worker}: {line}")));
        if let Err(stop) = stop {
            return Story { lines, notes: script.notes, end: stopped(stop), steps: steps + 1 };
        }
        assert_eq!(system.fingerprint(), system.fingerprint_from_scratch());
        let control = Observe::Control;
        assert_eq!(system.observe(control), system.observe_from_scratch(control));
    }
    Story { lines, notes: script.notes, end: "500 steps".into(), steps: 500 }
}

/// What a program prints along one schedule, and how that ends, a line each.
pub fn prints(source: &str) -> String {
    let story = story_of(&program(source));
    let mut lines = story.notes;
    lines.push(story.end);
    lines.join("\n")
}

/// All that happens along one schedule.
pub fn story(source: &str) -> String {
    let story = story_of(&program(source));
    let mut lines = story.lines;
    lines.push(story.end);
    lines.join("\n")
}

/// What a program prints that does nothing but this on entering its first state.
pub fn prints_body(body: &str) -> String {
    prints(&format!(
        "machine Main {{ start state S {{ entry {{ {body} }} }} }} test t [main=Main]: {{Main}};"
    ))
}

/// Everything that can happen.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct All {
    /// Different states, by their encoding.
    pub states: usize,
    /// How executions end, each way once.
    pub ends: BTreeSet<String>,
    /// The encodings of the states in which nothing is left to do.
    pub finals: BTreeSet<Vec<u8>>,
}

/// Goes through all schedules and values by forking, and checks on the way that fingerprints,
/// encodings and enabled sets agree.
pub fn all_of(program: &PProgram) -> All {
    all_within(program, 200_000).expect("a small program")
}

/// As [`all_of`]; `None` if there are more states than this.
pub fn all_within(program: &PProgram, most: usize) -> Option<All> {
    let mut all = All::default();
    let first = match program.start() {
        Ok(system) => system,
        Err(bug) => {
            all.ends.insert(format!("{}: {}", bug.kind(), dally_report::text::bug(&bug)));
            return Some(all);
        }
    };
    let mut seen: BTreeMap<Vec<u8>, (u64, Vec<WorkerId>)> = BTreeMap::new();
    let mut hashes = BTreeMap::new();
    let mut open = vec![first];
    while let Some(state) = open.pop() {
        let mut bytes = Vec::new();
        state.encode(&mut bytes);
        let look = (state.fingerprint().unwrap().0, state.enabled().to_vec());
        assert_eq!(state.fingerprint(), state.fingerprint_from_scratch());
        if let Some(known) = seen.get(&bytes) {
            assert_eq!(*known, look, "equal encodings, different looks");
            continue;
        }
        let other = hashes.insert(look.0, bytes.clone());
        assert!(other.is_none_or(|other| other == bytes), "two states with one fingerprint");
        seen.insert(bytes.clone(), look);
        if seen.len() > most {
            return None;
        }
        if state.enabled().is_empty() {
            all.ends.insert(ended(&state));
            all.finals.insert(bytes);
            continue;
        }
        for &worker in state.enabled() {
            let mut values: Vec<u32> = Vec::new();
            loop {
                let mut next = state.fork();
                let mut script = Script { given: values.clone(), quiet: true, ..Script::default() };
                match next.step(worker, &mut script) {
                    Ok(()) => open.push(next),
                    Err(stop) => {
                        all.ends.insert(stopped(stop));
                    }
                }
                let mut asked = script.asked;
                while asked.last().is_some_and(|&(index, of)| index + 1 >= of) {
                    asked.pop();
                }
                let Some(last) = asked.last_mut() else { break };
                last.0 += 1;
                values = asked.into_iter().map(|(index, _)| index).collect();
            }
        }
    }
    all.states = seen.len();
    Some(all)
}

/// How executions of a program can end.
pub fn ends(source: &str) -> Vec<String> {
    all_of(&program(source)).ends.into_iter().collect()
}
