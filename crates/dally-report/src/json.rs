//! Findings and runs as JSON. `docs/json.md` documents every field.

mod item;
mod layout;

use dally_core::{Bug, Choice, Delays, Finding, Schedule, TraceStep};
use serde::Serialize;

use self::item::Fields;
use crate::about::{About, Searched, Statistics};

/// The version of both documents. Fields may be added without a new version; a field that goes
/// or changes its meaning makes one.
pub const VERSION: u32 = 1;

/// A finding as a document of the format `dally-trace`.
pub fn finding(finding: &Finding, about: &About) -> String {
    layout::write(&trace_document(finding, &about.program, Some(&about.statistics)), 2)
}

/// A whole run, with all its findings, as a document of the format `dally-run`.
pub fn run(program: &str, statistics: &Statistics, findings: &[Finding]) -> String {
    let document = RunDocument {
        format: "dally-run",
        version: VERSION,
        program,
        statistics: StatisticsDocument::from(statistics),
        findings: findings.iter().map(|found| trace_document(found, program, None)).collect(),
    };
    // Findings are two levels deep in a run.
    layout::write(&document, 4)
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
    #[serde(skip_serializing_if = "Option::is_none")]
    lasso: Option<LassoDocument<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delays: Option<DelaysDocument<'a>>,
    notes: &'a [String],
    schedule: ScheduleDocument<'a>,
    workers: Vec<Worker<'a>>,
    steps: Vec<Step>,
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
        lasso: finding.lasso.as_ref().map(|lasso| LassoDocument {
            stem: lasso.stem,
            length: finding.schedule.steps().saturating_sub(lasso.stem),
            monitor: &lasso.monitor,
            states: &lasso.states,
            rounds: lasso.rounds,
            whole: lasso.whole,
        }),
        delays: finding.delays.as_ref().map(DelaysDocument::from),
        notes: &finding.notes,
        schedule: ScheduleDocument::from(&finding.schedule),
        workers: (finding.trace.names.iter())
            .map(|(id, name)| Worker { id: id.to_string(), name })
            .collect(),
        steps: (1..)
            .zip(&finding.trace.steps)
            .map(|(number, step)| Step::new(number, step))
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
struct LassoDocument<'a> {
    stem: usize,
    length: usize,
    monitor: &'a str,
    states: &'a [String],
    rounds: u32,
    whole: bool,
}

#[derive(Serialize)]
struct DelaysDocument<'a> {
    explorer: &'a str,
    count: u64,
    minimal: bool,
    at: Vec<DelayAtDocument>,
}

#[derive(Serialize)]
struct DelayAtDocument {
    step: usize,
    delays: u32,
    instead_of: Option<String>,
}

impl<'a> From<&'a Delays> for DelaysDocument<'a> {
    fn from(delays: &'a Delays) -> DelaysDocument<'a> {
        let at = delays.at.iter().map(|at| DelayAtDocument {
            step: at.step,
            delays: at.delays,
            instead_of: at.instead_of.map(|worker| worker.to_string()),
        });
        DelaysDocument {
            explorer: &delays.explorer,
            count: delays.count,
            minimal: delays.minimal,
            at: at.collect(),
        }
    }
}

#[derive(Serialize)]
struct ScheduleDocument<'a> {
    program: &'a str,
    settings: Vec<Setting<'a>>,
    outcome: &'a str,
    token: String,
    choices: Vec<Fields>,
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
            let mut fields = item::choice(choice);
            if let Choice::Worker(_) = choice {
                let enabled = schedule.enabled_at(step).iter().map(ToString::to_string);
                step += 1;
                if enabled.len() > 0 {
                    fields.0.push(("enabled", enabled.collect()));
                }
            }
            fields
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

#[derive(Serialize)]
struct Worker<'a> {
    id: String,
    name: &'a str,
}

#[derive(Serialize)]
struct Step {
    step: usize,
    worker: String,
    clock: Fields<String>,
    items: Vec<Fields>,
}

impl Step {
    fn new(number: usize, step: &TraceStep) -> Step {
        let clock = step.clock.iter().map(|(worker, count)| (worker.to_string(), count.into()));
        Step {
            step: number,
            worker: step.worker.to_string(),
            clock: Fields(clock.collect()),
            items: step.items.iter().map(item::item).collect(),
        }
    }
}

#[derive(Serialize)]
struct StatisticsDocument<'a> {
    schedules: u64,
    steps: u64,
    distinct_observations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<SeenDocument<'a>>,
    elapsed_seconds: Option<f64>,
    strategy: &'a str,
    seed: u64,
    granularity: &'a str,
    threads: usize,
    coverage: &'a str,
    stopped: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<SearchDocument<'a>>,
}

#[derive(Serialize)]
struct SeenDocument<'a> {
    last_new: Option<u64>,
    judged: u64,
    alone: u64,
    chance_of_new: Option<f64>,
    growth: &'a [(u64, u64)],
}

#[derive(Serialize)]
struct SearchDocument<'a> {
    states: u64,
    transitions: u64,
    deepest: u64,
    unit: &'a str,
    cache: &'a str,
    cache_bytes: u64,
    expected_omissions: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<CyclesDocument<'a>>,
    strata: Vec<StratumDocument>,
}

#[derive(Serialize)]
struct CyclesDocument<'a> {
    fairness: &'a str,
    edges: u64,
    edge_bytes: u64,
    calculating_seconds: f64,
    refining_seconds: f64,
}

#[derive(Serialize)]
struct StratumDocument {
    bound: Option<u32>,
    states: u64,
    transitions: u64,
    frontier: u64,
    cache_bytes: u64,
    elapsed_seconds: f64,
    complete: bool,
}

impl<'a> From<&'a Searched> for SearchDocument<'a> {
    fn from(searched: &'a Searched) -> SearchDocument<'a> {
        let strata = searched.strata.iter().map(|stratum| StratumDocument {
            bound: stratum.bound,
            states: stratum.states,
            transitions: stratum.transitions,
            frontier: stratum.frontier,
            cache_bytes: stratum.cache_bytes,
            elapsed_seconds: stratum.elapsed.as_millis() as f64 / 1000.0,
            complete: stratum.complete,
        });
        SearchDocument {
            states: searched.states,
            transitions: searched.transitions,
            deepest: searched.deepest,
            unit: &searched.unit,
            cache: &searched.cache,
            cache_bytes: searched.cache_bytes,
            expected_omissions: searched.expected_omissions,
            cycles: searched.cycles.as_ref().map(|cycles| CyclesDocument {
                fairness: &cycles.fairness,
                edges: cycles.edges,
                edge_bytes: cycles.edge_bytes,
                calculating_seconds: cycles.calculating.as_millis() as f64 / 1000.0,
                refining_seconds: cycles.refining.as_millis() as f64 / 1000.0,
            }),
            strata: strata.collect(),
        }
    }
}

impl<'a> From<&'a Statistics> for StatisticsDocument<'a> {
    fn from(statistics: &'a Statistics) -> StatisticsDocument<'a> {
        StatisticsDocument {
            schedules: statistics.schedules,
            steps: statistics.steps,
            distinct_observations: statistics.distinct_observations,
            seen: statistics.seen.as_ref().map(|seen| SeenDocument {
                last_new: seen.last_new,
                judged: seen.judged,
                alone: seen.alone,
                chance_of_new: seen.chance_of_new(),
                growth: &seen.growth,
            }),
            elapsed_seconds: statistics.elapsed.map(|time| time.as_millis() as f64 / 1000.0),
            strategy: &statistics.strategy,
            seed: statistics.seed,
            granularity: &statistics.granularity,
            threads: statistics.threads,
            coverage: &statistics.coverage,
            stopped: &statistics.stopped,
            search: statistics.searched.as_ref().map(SearchDocument::from),
        }
    }
}
