//! Findings and runs as JSON. `docs/json.md` documents every field.

use dally_core::{
    Access, Bug, Choice, Discard, Event, Finding, Heat, Item, Schedule, Tag, TraceStep, Transition,
};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::about::{About, Statistics};

/// The version of both documents. Fields may be added without a new version; a field that goes
/// or changes its meaning makes one.
pub const VERSION: u32 = 1;

/// A finding as a document of the format `dally-trace`.
pub fn finding(finding: &Finding, about: &About) -> String {
    write(&trace_document(finding, &about.program, Some(&about.statistics)))
}

/// A whole run, with all its findings, as a document of the format `dally-run`.
pub fn run(program: &str, statistics: &Statistics, findings: &[Finding]) -> String {
    write(&RunDocument {
        format: "dally-run",
        version: VERSION,
        program,
        statistics: StatisticsDocument::from(statistics),
        findings: findings.iter().map(|found| trace_document(found, program, None)).collect(),
    })
}

fn write(document: &impl Serialize) -> String {
    // Only a map with keys that are not strings can fail, and there is none.
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    text
}

#[derive(Serialize)]
struct RunDocument<'a> {
    format: &'static str,
    version: u32,
    program: &'a str,
    statistics: StatisticsDocument<'a>,
    findings: Vec<TraceDocument<'a>>,
}

#[derive(Serialize)]
struct TraceDocument<'a> {
    format: &'static str,
    version: u32,
    program: &'a str,
    bug: BugDocument<'a>,
    found_at: u64,
    occurrences: u64,
    shrunk: Option<Shrunk>,
    notes: &'a [String],
    schedule: ScheduleDocument<'a>,
    workers: Vec<Worker<'a>>,
    steps: Vec<Step<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<StatisticsDocument<'a>>,
}

fn trace_document<'a>(
    finding: &'a Finding,
    program: &'a str,
    statistics: Option<&'a Statistics>,
) -> TraceDocument<'a> {
    TraceDocument {
        format: "dally-trace",
        version: VERSION,
        program,
        bug: BugDocument::from(&finding.bug),
        found_at: finding.found_at,
        occurrences: finding.occurrences,
        shrunk: finding.shrunk.map(|sizes| Shrunk {
            steps_before: sizes.steps_before,
            steps_after: sizes.steps_after,
            switches_before: sizes.switches_before,
            switches_after: sizes.switches_after,
        }),
        notes: &finding.notes,
        schedule: ScheduleDocument::from(&finding.schedule),
        workers: (finding.trace.names.iter())
            .map(|(id, name)| Worker { id: id.to_string(), name })
            .collect(),
        steps: (1..)
            .zip(&finding.trace.steps)
            .map(|(number, step)| Step { number, step })
            .collect(),
        statistics: statistics.map(StatisticsDocument::from),
    }
}

#[derive(Serialize)]
struct BugDocument<'a> {
    kind: &'static str,
    message: &'a str,
    culprit: Option<&'a str>,
    location: Option<Location<'a>>,
    cause: String,
}

#[derive(Serialize)]
struct Location<'a> {
    file: &'a str,
    line: u32,
    column: u32,
}

impl<'a> From<&'a Bug> for BugDocument<'a> {
    fn from(bug: &'a Bug) -> BugDocument<'a> {
        BugDocument {
            kind: bug.kind.name(),
            message: &bug.message,
            culprit: bug.culprit.as_deref(),
            location: (bug.location.as_ref()).map(|at| Location {
                file: &at.file,
                line: at.line,
                column: at.column,
            }),
            cause: bug.cause().to_string(),
        }
    }
}

#[derive(Serialize)]
struct Shrunk {
    steps_before: usize,
    steps_after: usize,
    switches_before: usize,
    switches_after: usize,
}

#[derive(Serialize)]
struct ScheduleDocument<'a> {
    program: &'a str,
    settings: Vec<Setting<'a>>,
    outcome: &'a str,
    token: String,
    choices: Vec<Value>,
}

#[derive(Serialize)]
struct Setting<'a> {
    name: &'a str,
    value: &'a str,
}

impl<'a> From<&'a Schedule> for ScheduleDocument<'a> {
    fn from(schedule: &'a Schedule) -> ScheduleDocument<'a> {
        let mut step = 0;
        let choices = schedule.choices.iter().map(|choice| {
            let Choice::Worker(worker) = choice else { return inner_choice(choice) };
            let enabled = schedule.enabled_at(step);
            step += 1;
            match enabled {
                [] => json!({ "worker": worker.to_string() }),
                _ => json!({
                    "worker": worker.to_string(),
                    "enabled": enabled.iter().map(ToString::to_string).collect::<Vec<_>>(),
                }),
            }
        });
        ScheduleDocument {
            program: &schedule.program,
            settings: (schedule.settings.iter())
                .map(|(name, value)| Setting { name, value })
                .collect(),
            outcome: &schedule.outcome,
            token: schedule.to_token(),
            choices: choices.collect(),
        }
    }
}

/// A choice inside a step.
fn inner_choice(choice: &Choice) -> Value {
    match choice {
        Choice::Worker(worker) => json!({ "worker": worker.to_string() }),
        Choice::Value { index, of, tag: Tag::Program } => json!({ "value": index, "of": of }),
        Choice::Value { index, of, tag: Tag::Fault } => json!({ "fault": index, "of": of }),
        Choice::Delivery(message) => json!({ "deliver": message.to_string() }),
    }
}

#[derive(Serialize)]
struct Worker<'a> {
    id: String,
    name: &'a str,
}

struct Step<'a> {
    number: usize,
    step: &'a TraceStep,
}

impl Serialize for Step<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields {
            step: usize,
            worker: String,
            clock: serde_json::Map<String, Value>,
            items: Vec<Value>,
        }
        let clock = self.step.clock.iter().map(|(worker, n)| (worker.to_string(), n.into()));
        let item = |item: &Item| match item {
            Item::Chose(choice) => inner_choice(choice),
            Item::Told(event) => event_value(event),
        };
        Fields {
            step: self.number,
            worker: self.step.worker.to_string(),
            clock: clock.collect(),
            items: self.step.items.iter().map(item).collect(),
        }
        .serialize(serializer)
    }
}

fn event_value(event: &Event<String>) -> Value {
    match event {
        Event::Created { worker, name } => {
            json!({ "event": "created", "worker": worker.to_string(), "name": name })
        }
        Event::Sent { message, to, payload } => json!({
            "event": "sent",
            "message": message.to_string(),
            "to": to.to_string(),
            "payload": payload,
        }),
        Event::Duplicated { message, copy } => json!({
            "event": "duplicated",
            "message": message.to_string(),
            "copy": copy.to_string(),
        }),
        Event::Received { message, payload } => {
            json!({ "event": "received", "message": message.to_string(), "payload": payload })
        }
        Event::Discarded { message, why } => {
            let why = match why {
                Discard::Lost => "lost",
                Discard::Ignored => "ignored",
                Discard::Gone => "gone",
                Discard::Cancelled => "cancelled",
            };
            json!({ "event": "discarded", "message": message.to_string(), "why": why })
        }
        Event::Raised { payload } => json!({ "event": "raised", "payload": payload }),
        Event::Changed { how, to } => {
            let how = match how {
                Transition::Start => "start",
                Transition::Goto => "goto",
                Transition::Push => "push",
                Transition::Pop => "pop",
            };
            json!({ "event": "changed", "how": how, "to": to })
        }
        Event::Enabled { worker } => {
            json!({ "event": "enabled", "worker": worker.to_string() })
        }
        Event::Blocked { on } => json!({ "event": "blocked", "on": on }),
        Event::Halted { worker } => json!({ "event": "halted", "worker": worker.to_string() }),
        Event::Accessed { object, access, what } => {
            let access = match access {
                Access::Read => "read",
                Access::Write => "write",
            };
            let object = format!("{}#{}", object.creator, object.number);
            json!({ "event": "accessed", "object": object, "access": access, "what": what })
        }
        Event::TimerSet { timer, payload } => {
            json!({ "event": "timer-set", "timer": timer.to_string(), "payload": payload })
        }
        Event::TimerCancelled { timer } => {
            json!({ "event": "timer-cancelled", "timer": timer.to_string() })
        }
        Event::Persisted { payload } => json!({ "event": "persisted", "payload": payload }),
        Event::Crashed { worker } => {
            json!({ "event": "crashed", "worker": worker.to_string() })
        }
        Event::Restarted { worker } => {
            json!({ "event": "restarted", "worker": worker.to_string() })
        }
        Event::Announced { payload } => json!({ "event": "announced", "payload": payload }),
        Event::MonitorChanged { monitor, to, heat } => {
            let heat = match heat {
                Heat::Hot => "hot",
                Heat::Cold => "cold",
                Heat::Neutral => "neutral",
            };
            json!({ "event": "monitor-changed", "monitor": monitor, "to": to, "heat": heat })
        }
        Event::Noted { text } => json!({ "event": "noted", "text": text }),
    }
}

#[derive(Serialize)]
struct StatisticsDocument<'a> {
    schedules: u64,
    steps: u64,
    distinct_observations: Option<u64>,
    elapsed_seconds: Option<f64>,
    strategy: &'a str,
    seed: u64,
    granularity: &'a str,
    threads: usize,
    coverage: &'a str,
    stopped: &'a str,
}

impl<'a> From<&'a Statistics> for StatisticsDocument<'a> {
    fn from(statistics: &'a Statistics) -> StatisticsDocument<'a> {
        StatisticsDocument {
            schedules: statistics.schedules,
            steps: statistics.steps,
            distinct_observations: statistics.distinct_observations,
            elapsed_seconds: statistics.elapsed.map(|time| time.as_millis() as f64 / 1000.0),
            strategy: &statistics.strategy,
            seed: statistics.seed,
            granularity: &statistics.granularity,
            threads: statistics.threads,
            coverage: &statistics.coverage,
            stopped: &statistics.stopped,
        }
    }
}
