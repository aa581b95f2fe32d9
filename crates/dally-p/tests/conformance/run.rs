//! Runs a case and says what is not as expected.

use std::sync::Arc;
use std::time::Duration;

use dally_core::{
    Cut, Env, Event, Finding, Item, MessageId, Program as _, System, Tag, Text, Trace,
};
use dally_p::diagnostic::{Diagnostic, Severity};
use dally_p::source::Sources;
use dally_p::vm::{Foreign, PProgram};
use dally_p::{Compiled, compile};
use dally_search::sampling::{Random, Sampler};
use dally_search::strata::{Plan, RoundRobin, SearchKind, explore};
use dally_search::{Ended, Options, run};

use crate::document::{Case, Expectation, Verdict};

/// How many random schedules are run besides the search, and how long they may be.
const SCHEDULES: u64 = 100;
const MAX_STEPS: usize = 1_000;

/// What is wrong with a case, a line each; empty if all is as expected.
pub fn check(case: &Case) -> Vec<String> {
    let mut sources = Sources::default();
    for (name, text) in &case.files {
        sources.add(name, text);
    }
    let Compiled { program, mut diagnostics, sources } = compile(sources);
    let mut tests = Vec::new();
    if let Some(program) = program {
        let program = Arc::new(program);
        for test in 0..program.tests.len() {
            match PProgram::new(&program, test, Foreign::default()) {
                Ok(test) => tests.push(Arc::new(test)),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
    }
    let mut wrong = diagnosed(case, &sources, &diagnostics);
    if wrong.is_empty() {
        counted(case, &tests, &mut wrong);
        for test in &tests {
            judged(case, test, &mut wrong);
        }
    }
    wrong
}

/// What is wrong with the diagnostics of a case: errors and warnings are as expected, one by one.
fn diagnosed(case: &Case, sources: &Sources, diagnostics: &[Diagnostic]) -> Vec<String> {
    let of = |severity| diagnostics.iter().filter(move |one| one.severity == severity);
    let (mut errors, mut warnings) = (of(Severity::Error), of(Severity::Warning));
    let mut wrong = Vec::new();
    for expectation in &case.expectations {
        let (kind, found, place, fragment) = match expectation {
            Expectation::Error(place, fragment) => ("error", errors.next(), place, fragment),
            Expectation::Warning(fragment) => ("warning", warnings.next(), &None, fragment),
            _ => continue,
        };
        let Some(found) = found else {
            wrong.push(format!("no {kind}: {fragment}"));
            continue;
        };
        let at = found.span.map(|span| sources.location(span));
        let there = at.map(|at| (at.line, at.column));
        if !says(found, fragment) || place.is_some() && *place != there {
            let place = place.map_or(String::new(), |(line, column)| format!(" {line}:{column}"));
            wrong.push(format!("expected {kind}{place}: {fragment}"));
            wrong.push(format!("but got {}", shown(found, sources)));
        }
    }
    let more = errors.chain(warnings);
    wrong.extend(more.map(|found| format!("not expected: {}", shown(found, sources))));
    wrong
}

/// Whether a diagnostic contains a fragment, letter case aside.
fn says(diagnostic: &Diagnostic, fragment: &str) -> bool {
    let Diagnostic { message, label, hint, .. } = diagnostic;
    let hint = hint.as_deref().unwrap_or("");
    [message, label, hint].iter().any(|text| text.to_lowercase().contains(&fragment.to_lowercase()))
}

fn shown(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let Diagnostic { severity, message, label, span, hint, .. } = diagnostic;
    let at = span.map_or(String::new(), |span| sources.location(span).to_string());
    let hint = hint.as_deref().unwrap_or("");
    format!("{severity:?} {at}: {message} | {label} | {hint}")
}

/// Whether there are as many tests as expected, and those that expectations name.
fn counted(case: &Case, tests: &[Arc<PProgram>], wrong: &mut Vec<String>) {
    let names: Vec<&str> = tests.iter().map(|test| test.name()).collect();
    for expectation in &case.expectations {
        let met = match expectation {
            Expectation::Tests(count) => count.contains(&names.len()),
            Expectation::Verdict(Some(name), _) => names.contains(&name.as_str()),
            Expectation::Verdict(None, _) | Expectation::Prints(_) => !names.is_empty(),
            _ => true,
        };
        if !met {
            wrong.push(format!("{expectation:?}, but the tests are {names:?}"));
        }
    }
}

/// What is wrong with the runs of a test: a search of all schedules, some random ones, and one
/// that is listened to.
fn judged(case: &Case, test: &Arc<PProgram>, wrong: &mut Vec<String>) {
    let expectations = case.expectations.iter();
    let verdicts: Vec<&Verdict> = expectations
        .filter_map(|expectation| match expectation {
            Expectation::Verdict(name, verdict) => {
                name.as_ref().is_none_or(|name| name == test.name()).then_some(verdict)
            }
            _ => None,
        })
        .collect();
    if !verdicts.is_empty() {
        let findings = searched(test, wrong);
        compare(test.name(), &verdicts, &findings, wrong);
        for verdict in &verdicts {
            if **verdict != Verdict::Pass && !findings.iter().any(|finding| verdict.is(finding)) {
                wrong.push(format!("{}: not found: {verdict:?}", test.name()));
            }
        }
        traced(case, &findings, wrong);
        compare(&format!("{} at random", test.name()), &verdicts, &sampled(test), wrong);
    }
    printed(case, test, wrong);
}

fn options() -> Options {
    let time = Some(Duration::from_secs(60));
    Options { keep_going: true, shrink: false, time, max_steps: MAX_STEPS, ..Options::default() }
}

/// The bugs that a search of all schedules finds, cycles of states among them.
fn searched(test: &Arc<PProgram>, wrong: &mut Vec<String>) -> Vec<Finding> {
    let plan = Plan { search: SearchKind::Ndfs, memory: 64 << 20, ..Plan::default() };
    let report = explore(test.clone(), RoundRobin::default(), plan, options(), Arc::new(()));
    // Nothing is searched of a program whose specs fail before it starts.
    if report.ended != Ended::Exhausted && test.start().is_ok() {
        let (ended, states) = (report.ended, &report.states);
        wrong.push(format!("{}: ended by {ended:?}: {states:?}", test.name()));
    }
    report.findings
}

/// The bugs that random schedules find.
fn sampled(test: &Arc<PProgram>) -> Vec<Finding> {
    let strategy = Box::new(Random.seeded(0));
    let options = Options { strategy, schedules: SCHEDULES, ..options() };
    run(test.clone(), options, Arc::new(())).findings
}

/// Whether each bug is one that is expected.
fn compare(name: &str, verdicts: &[&Verdict], findings: &[Finding], wrong: &mut Vec<String>) {
    let others = findings.iter().filter(|finding| !verdicts.iter().any(|one| one.is(finding)));
    wrong.extend(others.map(|finding| format!("{name}: not expected: {}", described(finding))));
}

impl Verdict {
    /// Whether it expects this bug.
    fn is(&self, finding: &Finding) -> bool {
        match self {
            Verdict::Pass => false,
            Verdict::Fail(kind, fragment) => {
                *kind == finding.bug.kind() && described(finding).contains(fragment)
            }
        }
    }
}

fn described(finding: &Finding) -> String {
    let bug = &finding.bug;
    let at = bug.location.as_ref().map_or(String::new(), |at| at.to_string());
    format!("{}: {} at {at}", bug.kind(), dally_report::text::bug(bug))
}

/// Whether the traces of findings contain the fragments that are expected, in order.
fn traced(case: &Case, findings: &[Finding], wrong: &mut Vec<String>) {
    let fragments = case.expectations.iter().filter_map(|expectation| match expectation {
        Expectation::Trace(fragment) => Some(fragment),
        _ => None,
    });
    let lines: Vec<String> = findings.iter().flat_map(|finding| told(&finding.trace)).collect();
    let mut rest = lines.iter();
    for fragment in fragments {
        if !rest.any(|line| line.contains(fragment)) {
            wrong.push(format!("no `{fragment}` in the trace:"));
            wrong.extend(lines.iter().map(|line| format!("  {line}")));
            return;
        }
    }
}

/// A trace in words: who did what.
fn told(trace: &Trace) -> Vec<String> {
    let mut lines = Vec::new();
    for step in &trace.steps {
        let who = trace.names.get(&step.worker).map_or("", String::as_str);
        for item in &step.items {
            let Item::Event(event) = item else { continue };
            let what = match event {
                Event::Created { name, .. } => format!("creates {name}"),
                Event::Sent { payload, to, .. } => {
                    let to = trace.names.get(to).map_or("", String::as_str);
                    format!("sends {payload} to {to}")
                }
                Event::Received { payload, .. } => format!("receives {payload}"),
                Event::Raised { payload } => format!("raises {payload}"),
                Event::Changed { to, .. } => format!("enters {to}"),
                Event::Announced { payload } => format!("announces {payload}"),
                Event::MonitorChanged { monitor, to, .. } => format!("moves {monitor} to {to}"),
                Event::Noted { text } => format!("prints {text}"),
                Event::Halted { .. } => "halts".to_owned(),
                _ => continue,
            };
            lines.push(format!("{who} {what}"));
        }
    }
    lines
}

/// Whether a run of the test prints the lines that are expected, in order.
fn printed(case: &Case, test: &PProgram, wrong: &mut Vec<String>) {
    let lines = case.expectations.iter().filter_map(|expectation| match expectation {
        Expectation::Prints(line) => Some(line),
        _ => None,
    });
    let lines: Vec<&String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    let mut listener = Listener { random: fastrand::Rng::with_seed(1), lines: Vec::new() };
    let mut system = test.start().expect("specs of such cases start without a bug");
    while !system.enabled().is_empty() && listener.lines.len() < MAX_STEPS {
        let worker = system.enabled()[listener.random.usize(..system.enabled().len())];
        if let Err(stop) = system.step(worker, &mut listener) {
            wrong.push(format!("{}: the run ends with {stop:?}", test.name()));
            break;
        }
    }
    let mut rest = listener.lines.iter();
    for line in lines {
        if !rest.any(|printed| printed == line) {
            wrong.push(format!("{}: `{line}` is not printed: {:?}", test.name(), listener.lines));
            return;
        }
    }
}

/// Chooses at random and notes what is printed.
struct Listener {
    random: fastrand::Rng,
    lines: Vec<String>,
}

impl Env for Listener {
    fn value(&mut self, of: u32, _: Tag) -> Result<u32, Cut> {
        Ok(self.random.u32(..of))
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        Ok(self.random.usize(..candidates.len()))
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        if let Event::Noted { text } = event {
            self.lines.push(text.to_string());
        }
        Ok(())
    }
}
