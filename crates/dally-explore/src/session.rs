//! A session: a path of choices in a program, and where on it one is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dally_core::words::{count, grouped};
use dally_core::{Bug, Choice, Report, Schedule, Tag, Trace, WorkerId};
use dally_report::text;
use dally_search::by_hand::{Asked, Here, Walk};
use dally_search::strata::{Plan, SearchKind};
use dally_search::{Options, StrategyKind};

use crate::condition::Condition;
use crate::picture::{Life, Picture, Worker};
use crate::program::{Explorable, Search};
use crate::request::{Map, MapState, MapStep, Offer, Place, Reply, Request, View};
use crate::until::Goal;

/// An execution that is explored by hand.
///
/// It is a path of choices and a place on it. Whoever goes back and takes another step leaves the rest of the
/// path behind.
pub struct Session {
    program: Arc<dyn Explorable>,
    /// What schedules of this program are headed by.
    heading: Schedule,
    granularity: &'static str,
    path: Vec<Choice>,
    /// How many choices of the path are made.
    at: usize,
    marks: BTreeMap<String, Vec<Choice>>,
    step_time: Duration,
}

/// What would happen in a step is tried out while that takes no more steps than this.
const MOST_TRIED: usize = 200_000;

/// The most states of a map.
const MOST_STATES: usize = 300;
/// The most steps from the middle of a map.
const DEEPEST: u32 = 12;

/// The most memory of a search of states.
const MEMORY: u64 = 1 << 30;

impl Session {
    /// At the start of a program. The heading has the program's name and the settings that a replay needs,
    /// and the choices of a path to begin with.
    pub fn new(
        program: Arc<dyn Explorable>,
        granularity: &'static str,
        heading: Schedule,
    ) -> Session {
        let heading = Schedule { enabled: Vec::new(), bug: None, ..heading };
        let (path, marks) = (heading.choices.clone(), BTreeMap::new());
        let step_time = Options::default().step_time;
        let at = path.len();
        Session { program, heading, granularity, path, at, marks, step_time }
    }

    /// Another session in the same program, at its start.
    #[must_use]
    pub fn another(&self) -> Session {
        let heading = Schedule { choices: self.heading.choices.clone(), ..self.heading.clone() };
        Session::new(self.program.clone(), self.granularity, heading)
    }

    /// Does what it is asked.
    pub fn ask(&mut self, request: Request) -> Reply {
        let before = (self.path.clone(), self.at);
        let done = self.act(request).map(|mut reply| {
            reply.view = Some(Box::new(self.view()));
            reply
        });
        done.unwrap_or_else(|why| {
            (self.path, self.at) = before;
            Reply::error(why)
        })
    }

    fn act(&mut self, request: Request) -> Result<Reply, String> {
        let mut reply = Reply::default();
        match request {
            Request::Look => {}
            Request::Step { worker } => self.step(worker)?,
            Request::Answer { value } => self.answer(value)?,
            Request::Back { steps } => self.back(steps),
            Request::Forward { steps } => {
                let here = self.steps_before(self.at);
                self.at = self.after_steps(here.saturating_add(steps));
            }
            Request::To { step } => {
                let of = self.steps_before(self.path.len());
                if step > of {
                    return Err(format!("the path has {}", count(of as u64, "step")));
                }
                self.at = self.after_steps(step);
            }
            Request::Run { strategy, seed, steps } => {
                reply.said = self.run(&strategy, seed, steps)?;
            }
            Request::Search { by, seed, schedules, seconds, until } => {
                let time = Duration::from_secs(seconds);
                reply.said = self.search(&by, seed, schedules, time, until.as_deref())?;
            }
            Request::Mark { name } => {
                if name.trim().is_empty() || name == HERE {
                    return Err(format!("a mark needs a name, and `{HERE}` is the present state"));
                }
                reply.said.push(format!("this state is marked as `{name}`"));
                self.marks.insert(name, self.made().to_vec());
            }
            Request::Compare { one, other } => reply.said = self.compare(&one, &other)?,
            Request::Return { name } => {
                self.path = self.marked(&name)?;
                self.at = self.path.len();
            }
            Request::Save => reply.schedule = Some(self.schedule().to_text()),
            Request::Open { schedule } => self.open(&schedule)?,
            Request::Follow { choices } => {
                let to = [self.made(), &choices].concat();
                self.take(to);
            }
            Request::Map { depth } => reply.map = Some(self.map(depth)?),
        }
        Ok(reply)
    }

    /// The choices that lead here.
    fn made(&self) -> &[Choice] {
        &self.path[..self.at]
    }

    /// Goes where these choices lead; the rest of the path stays if they are its beginning.
    fn take(&mut self, choices: Vec<Choice>) {
        self.at = choices.len();
        if !self.path.starts_with(&choices) {
            self.path = choices;
        }
    }

    fn walk(&self, choices: &[Choice]) -> Walk {
        self.program.clone().walk(choices, self.step_time)
    }

    /// How many steps begin before this choice of the path.
    fn steps_before(&self, choice: usize) -> usize {
        self.path[..choice].iter().filter(|choice| is_step(choice)).count()
    }

    /// The place on the path after so many steps.
    fn after_steps(&self, steps: usize) -> usize {
        let mut begun = (0..).zip(&self.path).filter(|(_, choice)| is_step(choice));
        begun.nth(steps).map_or(self.path.len(), |(place, _)| place)
    }

    fn step(&mut self, worker: WorkerId) -> Result<(), String> {
        match self.walk(self.made()).here {
            Here::Between(workers) => match workers.iter().any(|(can, _)| *can == worker) {
                true => self.take([self.made(), &[Choice::Worker(worker)]].concat()),
                false => {
                    return Err(format!("worker {worker} cannot step here: `look` shows who can"));
                }
            },
            Here::Inside(..) => {
                return Err("the present step asks for something: answer it first".into());
            }
            Here::Done | Here::Failed(_) | Here::TooLong | Here::Lost(_) => {
                return Err("the execution is over here: go back to take another step".into());
            }
        }
        Ok(())
    }

    fn answer(&mut self, value: i64) -> Result<(), String> {
        let Here::Inside(_, asked) = self.walk(self.made()).here else {
            return Err("nothing is asked for here".into());
        };
        let place = usize::try_from(value).ok();
        let choice = match &asked {
            Asked::Value { of, tag } => {
                let index = place.and_then(|place| u32::try_from(place).ok()).filter(|i| i < of);
                index.map(|index| Choice::Value { index, of: *of, tag: *tag })
            }
            Asked::Delivery(messages) => place
                .and_then(|place| messages.get(place))
                .map(|&message| Choice::Delivery(message)),
            Asked::Input { least, most, .. } => {
                (least..=most).contains(&&value).then_some(Choice::Input(value))
            }
        };
        let choice = choice.ok_or_else(|| match &asked {
            Asked::Value { of, .. } => format!("the answers are the numbers from 0 to {}", of - 1),
            Asked::Delivery(messages) => {
                format!("the answers are the numbers from 0 to {}", messages.len().max(1) - 1)
            }
            Asked::Input { least, most, .. } => {
                format!("the answers are the numbers from {least} to {most}")
            }
        })?;
        self.take([self.made(), &[choice]].concat());
        Ok(())
    }

    fn back(&mut self, steps: usize) {
        let begun = self.steps_before(self.at);
        self.at = self.after_steps(begun.saturating_sub(steps));
    }

    /// The choices of whole steps: a search cannot begin inside of one.
    fn whole_steps(&self) -> Vec<Choice> {
        let mut choices = self.made().to_vec();
        if let Here::Inside(..) = self.walk(&choices).here {
            let last = choices.iter().rposition(is_step).unwrap_or(0);
            choices.truncate(last);
        }
        choices
    }

    /// Whole steps that the program can take and that do not end the execution.
    fn start_of_search(&self) -> Result<(Vec<Choice>, Walk), String> {
        let choices = self.whole_steps();
        let walk = self.walk(&choices);
        match (&walk.here, &walk.left_at) {
            (_, Some(left)) => Err(format!("the program does not fit this path: {left}")),
            (Here::Between(_), None) => Ok((choices, walk)),
            _ => Err("the execution is over here: go back to look for something else".into()),
        }
    }

    fn options(&self, strategy: &str, seed: u64, max_steps: usize) -> Result<Options, String> {
        let kind: StrategyKind = strategy.parse().map_err(|why| format!("{why}"))?;
        Ok(Options {
            program: self.heading.program.clone(),
            strategy: kind.build(seed, max_steps),
            seed,
            max_steps,
            step_time: self.step_time,
            ..Options::default()
        })
    }

    fn run(&mut self, strategy: &str, seed: u64, steps: usize) -> Result<Vec<String>, String> {
        let (choices, _) = self.start_of_search()?;
        let options = self.options(strategy, seed, steps.max(1))?;
        let ran = self.program.clone().run_from(&choices, options);
        let taken = ran.schedule.steps() as u64;
        let mut said = vec![format!("{strategy} took {}", count(taken, "step"))];
        said.extend(ran.bug.as_ref().map(|bug| format!("and there is a bug: {}", text::line(bug))));
        self.take([choices, ran.schedule.choices].concat());
        Ok(said)
    }

    fn search(
        &mut self,
        by: &str,
        seed: u64,
        schedules: u64,
        time: Duration,
        until: Option<&str>,
    ) -> Result<Vec<String>, String> {
        let condition: Option<Condition> = until
            .map(str::parse)
            .transpose()
            .map_err(|why: crate::ConditionError| format!("the condition cannot be read: {why}"))?;
        let (choices, walk) = self.start_of_search()?;
        let searching: Option<SearchKind> = by.parse().ok();
        if searching == Some(SearchKind::Concolic) {
            return Err(
                "a concolic search begins at the start: `dally check --search concolic`".into()
            );
        }
        let plan = searching.map(|search| Plan { search, memory: MEMORY, ..Plan::default() });
        let strategy = if plan.is_some() { "random" } else { by };
        let options = self.options(strategy, seed, Options::default().max_steps)?;
        let options = Options { schedules, time: Some(time), ..options };
        let picture = picture(&walk);
        let goal = condition.map(|condition| Goal { condition: Arc::new(condition), picture });
        if let (Some(goal), Here::Between(workers)) = (&goal, &walk.here) {
            let enabled: Vec<WorkerId> = workers.iter().map(|(worker, _)| *worker).collect();
            if goal.condition.holds(&goal.picture, &enabled) {
                return Ok(vec!["it holds here already".into()]);
            }
        }
        let reached = goal.as_ref().map(Goal::reached);
        let report = self.program.clone().search_from(&choices, Search { plan, goal }, options);
        let Some(finding) = report.findings.first() else { return Ok(not_found(&report)) };
        let steps = count(finding.schedule.steps() as u64, "step");
        let said = match reached.as_ref().map(Bug::cause) == Some(finding.bug.cause()) {
            true => format!("found a state in which it holds, {steps} from there"),
            false => format!("found a bug, {steps} from there: {}", text::line(&finding.bug)),
        };
        self.take([choices, finding.schedule.choices.clone()].concat());
        Ok(vec![said])
    }

    fn marked(&self, name: &str) -> Result<Vec<Choice>, String> {
        match self.marks.get(name) {
            _ if name == HERE => Ok(self.made().to_vec()),
            Some(choices) => Ok(choices.clone()),
            None => Err(match self.marks.keys().cloned().collect::<Vec<_>>().join(", ") {
                none if none.is_empty() => {
                    format!("nothing is marked as `{name}`, nor as anything")
                }
                names => format!("nothing is marked as `{name}`; there are: {names}"),
            }),
        }
    }

    fn compare(&self, one: &str, other: &str) -> Result<Vec<String>, String> {
        let [a, b] = [self.marked(one)?, self.marked(other)?].map(|choices| self.walk(&choices));
        let fingerprints =
            [&a, &b].map(|walk| walk.states.get(walk.trace.steps.len()).copied().flatten());
        let mut said = Vec::new();
        let differences = differences(&picture(&a), &picture(&b));
        match fingerprints {
            [Some(a), Some(b)] if a == b => {
                said.push(format!("`{one}` and `{other}` are the same state"))
            }
            [Some(_), Some(_)] if differences.is_empty() => said.push(format!(
                "`{one}` and `{other}` are different states; what shows of them is the same"
            )),
            _ if differences.is_empty() => {
                said.push(format!("what shows of `{one}` and `{other}` is the same"));
            }
            _ => said.push(format!("from `{one}` to `{other}`:")),
        }
        said.extend(differences);
        Ok(said)
    }

    /// The schedule that leads here.
    pub fn schedule(&self) -> Schedule {
        let walk = self.walk(self.made());
        let bug = match &walk.here {
            Here::Failed(bug) => Some(bug.record()),
            _ => None,
        };
        let (choices, enabled) = (walk.choices, walk.enabled);
        Schedule { choices, enabled, bug, ..self.heading.clone() }
    }

    fn open(&mut self, text: &str) -> Result<(), String> {
        let schedule =
            Schedule::parse(text).map_err(|why| format!("the schedule cannot be read: {why}"))?;
        if schedule.program != self.heading.program {
            return Err(format!(
                "the schedule is of `{}`, and this is `{}`",
                schedule.program, self.heading.program
            ));
        }
        let differing = self.heading.settings.iter().find(|(name, value)| {
            let recorded = schedule.setting(name);
            recorded != Some(value)
        });
        if let Some((name, value)) = differing {
            return Err(format!(
                "the schedule is of the same program with another setting: `{name}` is {} in it, and {value} here",
                schedule.setting(name).unwrap_or("not set")
            ));
        }
        self.path = schedule.choices;
        self.at = self.path.len();
        Ok(())
    }

    fn map(&self, depth: u32) -> Result<Map, String> {
        let (choices, walk) = self.start_of_search()?;
        let depth = depth.clamp(1, DEEPEST);
        let around = self.program.clone().around(&choices, depth, MOST_STATES, self.step_time);
        let around = around.map_err(|why| why.to_string())?;
        let known = picture(&walk).workers.into_iter().map(|(id, worker)| (id, worker.name));
        let names: BTreeMap<WorkerId, String> = known.chain(around.names.clone()).collect();
        let states = around.states.iter().map(|state| MapState {
            depth: state.depth,
            choices: state.choices.clone(),
            enabled: state.enabled,
            bug: state.bug.as_ref().map(text::line),
        });
        let steps = around.transitions.iter().map(|step| {
            let trace = Trace { names: names.clone(), steps: vec![step.step.clone()] };
            let (worker, does) = text::last_step(&trace);
            MapStep { from: step.from, to: step.to, worker, does }
        });
        let steps = steps.collect();
        Ok(Map { states: states.collect(), steps, depth, cut: around.cut })
    }

    fn view(&self) -> View {
        let walk = self.walk(self.made());
        let picture = picture(&walk);
        let at = walk.trace.steps.len();
        let here = self.place(&walk);
        let last = walk.states.get(at).copied().flatten();
        let same =
            |(step, state): (usize, &Option<_>)| (last.is_some() && *state == last).then_some(step);
        let is_between = matches!(walk.here, Here::Between(_) | Here::Done);
        let same_as = match is_between {
            true => walk.states.iter().take(at).enumerate().filter_map(same).collect(),
            false => Vec::new(),
        };
        let marks = self.marks.iter().map(|(name, choices)| {
            (name.clone(), choices.iter().filter(|choice| is_step(choice)).count())
        });
        View {
            program: self.heading.program.clone(),
            granularity: self.granularity.to_owned(),
            at,
            of: self.steps_before(self.path.len()).max(at),
            trace: walk.trace,
            enabled: walk.enabled,
            picture,
            here,
            same_as,
            marks: marks.collect(),
            left_at: walk.left_at.map(|left| left.to_string()),
        }
    }

    fn place(&self, walk: &Walk) -> Place {
        match &walk.here {
            Here::Between(workers) => Place::Between { workers: self.offers(walk, workers) },
            Here::Inside(worker, asked) => inside(*worker, asked, &walk.trace),
            Here::Done => Place::Done,
            Here::Failed(bug) => {
                Place::Failed { kind: bug.kind().name().to_owned(), bug: text::bug(bug) }
            }
            Here::TooLong => Place::Stopped {
                why: "the step is longer than a schedule of this program may have them".into(),
            },
            Here::Lost(why) => Place::Stopped { why: why.clone() },
        }
    }

    fn offers(&self, walk: &Walk, workers: &[(WorkerId, String)]) -> Vec<Offer> {
        let tried = (walk.choices.len() + 1) * workers.len() <= MOST_TRIED;
        let offer = |(worker, name): &(WorkerId, String)| {
            let does = if tried { self.tried(walk, *worker) } else { Vec::new() };
            Offer { worker: *worker, name: named(*worker, name), does }
        };
        workers.iter().map(offer).collect()
    }

    /// What happens in the step of this worker, line by line.
    fn tried(&self, walk: &Walk, worker: WorkerId) -> Vec<String> {
        let next = self.walk(&[&walk.choices[..], &[Choice::Worker(worker)]].concat());
        let (_, mut does) = text::last_step(&next.trace);
        match &next.here {
            Here::Inside(_, asked) => does.push(format!("asks for {}", question(asked))),
            Here::Failed(bug) => does.push(format!("BUG {}", text::line(bug))),
            _ => {}
        }
        if does.len() > 1 {
            does.retain(|line| line != "runs");
        }
        does
    }
}

/// The name of the present state where marked states are named.
const HERE: &str = "here";

fn is_step(choice: &Choice) -> bool {
    matches!(choice, Choice::Worker(_))
}

fn not_found(report: &Report) -> Vec<String> {
    let mut said = vec!["nothing was found".to_owned(), text::coverage(report)];
    said.extend(text::notes(report));
    said
}

/// What the state at the end of a walk shows.
fn picture(walk: &Walk) -> Picture {
    let mut picture = Picture::of(&walk.trace);
    if let Here::Between(workers) = &walk.here {
        workers.iter().for_each(|(worker, name)| picture.name(*worker, name));
    }
    picture
}

/// Name and id of a worker.
pub(crate) fn named(worker: WorkerId, name: &str) -> String {
    let id = worker.to_string();
    match name {
        _ if worker == WorkerId::FAULTS => id,
        "" if worker.is_environment() => format!("timer {id}"),
        "" => id,
        name if name == id => id,
        name => format!("{name} {id}"),
    }
}

fn question(asked: &Asked) -> String {
    match asked {
        Asked::Value { of, tag: Tag::Program } => {
            format!("one of {} values", grouped(u64::from(*of)))
        }
        Asked::Value { of, tag: Tag::Fault } => {
            format!("one of {} values: 0 is no fault", grouped(u64::from(*of)))
        }
        Asked::Delivery(messages) => format!("one of {}", count(messages.len() as u64, "message")),
        Asked::Input { name, least, most, .. } => {
            format!("the input {name}, from {least} to {most}")
        }
    }
}

/// Answers beyond this are not listed one by one.
const MOST_ANSWERS: u32 = 1_000;

fn inside(worker: WorkerId, asked: &Asked, trace: &Trace) -> Place {
    let question = question(asked);
    let (answers, range) = match asked {
        Asked::Value { of, .. } => {
            ((0..*of).take(MOST_ANSWERS as usize).map(|value| value.to_string()).collect(), None)
        }
        Asked::Delivery(messages) => {
            let picture = Picture::of(trace);
            let payload = |message| {
                let mut inboxes = picture.workers.values().flat_map(|worker| &worker.inbox);
                let sent = inboxes.find(|(id, _)| id == message);
                sent.map_or_else(|| format!("message {message}"), |(_, payload)| payload.clone())
            };
            (messages.iter().map(payload).collect(), None)
        }
        Asked::Input { least, most, given, .. } => (Vec::new(), Some((*least, *most, *given))),
    };
    Place::Inside { worker, question, answers, range }
}

/// How one picture differs from another, a line for each worker and monitor.
fn differences(one: &Picture, other: &Picture) -> Vec<String> {
    let none = Worker::default();
    let mut lines = Vec::new();
    let ids = one.workers.keys().chain(other.workers.keys());
    let ids: std::collections::BTreeSet<WorkerId> = ids.copied().collect();
    for id in ids {
        let [a, b] = [one, other].map(|picture| picture.workers.get(&id).unwrap_or(&none));
        let [before, after] = [a, b].map(described);
        if before != after {
            let name = if b.name.is_empty() { &a.name } else { &b.name };
            lines.push(format!("  {}: {before} -> {after}", named(id, name)));
        }
    }
    let monitors = one.monitors.keys().chain(other.monitors.keys());
    let monitors: std::collections::BTreeSet<&String> = monitors.collect();
    for name in monitors {
        let [before, after] = [one, other].map(|picture| {
            picture.monitors.get(name).map_or("not begun", |monitor| &monitor.state)
        });
        if before != after {
            lines.push(format!("  {name}: {before} -> {after}"));
        }
    }
    lines
}

/// A worker in words.
pub(crate) fn described(worker: &Worker) -> String {
    let mut words = Vec::new();
    match worker.life {
        Life::Halted => words.push("halted".to_owned()),
        Life::Crashed => words.push("crashed".to_owned()),
        Life::There => {}
    }
    if !worker.states.is_empty() {
        words.push(format!("in {}", worker.states.join(" > ")));
    }
    words.extend(worker.waits.iter().map(|on| format!("waits to {on}")));
    if !worker.inbox.is_empty() {
        let messages: Vec<&str> =
            worker.inbox.iter().map(|(_, payload)| payload.as_str()).collect();
        words.push(format!("inbox: {}", messages.join(", ")));
    }
    if words.is_empty() { "nothing shows".to_owned() } else { words.join("; ") }
}
