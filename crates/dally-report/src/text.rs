//! Findings and runs as text for a terminal.

mod bug;
mod causality;
mod coverage;
mod folding;
mod lasso;
mod nearest;
pub(crate) mod source;
mod story;
mod style;
mod summary;
mod table;
mod words;

use dally_core::words::{count, grouped, is_hidden, visible};
use dally_core::{
    BugKind, Choice, Delays, Finding, Item, Problem, Report, Shrunk, Trace, TraceStep,
};

use self::bug::{Words, culprit, help, untold_culprit};
pub use self::bug::{bug, line};
pub(crate) use self::causality::{Fate, Messages, Names, States, Touched};
pub use self::coverage::{coverage, foreign, notes, stopped};
use self::story::Story;
pub(crate) use self::story::is_fault;
use self::style::Ink;
pub use self::style::Style;
pub use self::summary::summary;
use crate::about::About;

/// The text that a failing test prints: what broke and where, after how much work, the steps, and
/// last the command that replays it. `run` is the run that showed it, as far as it is known.
pub fn finding(finding: &Finding, run: &Report, about: &About) -> String {
    shown(about.style, |style| told(finding, run, &About { style, ..about.clone() }))
}

/// A text with nothing of a stranger's left that a terminal would act on. Where there was some, it has
/// no colours, so that none can be taken for ours.
fn shown(style: Style, text: impl Fn(Style) -> String) -> String {
    let plain = text(Style::Plain);
    match plain.contains(is_hidden) {
        true => visible(&plain).into_owned(),
        false if style == Style::Plain => plain,
        false => text(style),
    }
}

/// The parts of the text of a finding, without layout and not yet made visible.
pub(crate) struct Parts {
    pub headline: String,
    pub more: Vec<String>,
    pub facts: Vec<(&'static str, String)>,
    pub heading: String,
    pub steps: Vec<Told>,
    /// The first step of a loop, from 1, and what is said before it.
    pub divider: Option<(usize, String)>,
    /// What holds after the last step, as a text.
    pub ending: String,
    pub replay: Vec<String>,
    /// What would have had to be otherwise, and the steps as they would have been.
    pub nearest: Option<Otherwise>,
}

/// The nearest schedule that does not fail, in words.
pub(crate) struct Otherwise {
    pub sentence: String,
    pub steps: Vec<Told>,
}

/// A step: the name of the worker, and lines that say whether they are about a fault.
pub(crate) type Told = (String, Vec<(bool, String)>);

/// The parts of what [`finding`] says, for other layouts.
pub(crate) fn parts(finding: &Finding, run: &Report, about: &About) -> Parts {
    let Words { headline, more, .. } = Words::of(&finding.bug);
    let about = About { style: Style::Plain, ..about.clone() };
    let chosen = chosen(finding);
    let trace = if finding.trace.steps.is_empty() { &chosen } else { &finding.trace };
    let story = story(trace, finding);
    Parts {
        headline,
        more,
        facts: facts(finding, run, &about),
        heading: heading("What happened", trace, finding, run),
        steps: steps_of(&story),
        divider: finding.lasso.as_ref().map(|lasso| lasso::divider(lasso, 0)),
        ending: ending(&story, trace, finding, Style::Plain),
        replay: commands(finding, &about),
        nearest: finding.nearest.as_ref().map(|nearest| Otherwise {
            sentence: nearest::sentence(finding, nearest),
            steps: steps_of(&Story::of(&nearest.trace)),
        }),
    }
}

fn steps_of(story: &Story<'_>) -> Vec<Told> {
    let steps = story.steps.iter().map(|(worker, lines)| {
        let lines = lines.iter().map(|line| (line.ink.is_some(), line.text.clone())).collect();
        (story.names.of(*worker), lines)
    });
    steps.collect()
}

fn told(finding: &Finding, run: &Report, about: &About) -> String {
    let mut out = head(finding, run, about);
    if !finding.trace.steps.is_empty() {
        out += &happened("What happened", &finding.trace, finding, run, about);
        let nearest = finding.nearest.as_ref();
        out += &nearest.map_or_else(String::new, |nearest| {
            format!("\n{}\n", nearest::sentence(finding, nearest))
        });
    } else if !finding.schedule.choices.is_empty() {
        out += "\nThere is no trace: the execution could not be made again.\n";
        out += &happened("What was chosen", &chosen(finding), finding, run, about);
    }
    if !finding.schedule.choices.is_empty() {
        out += &replay(finding, about);
    }
    out
}

fn head(finding: &Finding, run: &Report, about: &About) -> String {
    let (bug, style) = (&finding.bug, about.style);
    let Words { mut headline, more, leads_on } = Words::of(bug);
    if leads_on {
        headline.push(':');
    }
    let mut out = format!(
        "{} {}\n",
        style.paint(Ink::Bug, format!("bug[{}]:", bug.kind())),
        style.paint(Ink::Heading, headline)
    );
    for line in more {
        out += &format!("  {line}\n");
    }
    let mut margin = "  ".to_owned();
    if let Some(at) = &bug.location {
        let who = culprit(bug).map_or_else(String::new, |who| format!(", in {who}"));
        out += &source::excerpt(at, &who, about.source_root.as_deref(), style);
        margin = " ".repeat(at.line.to_string().len());
    }
    let sign = style.paint(Ink::Faint, "=");
    for (label, fact) in facts(finding, run, about) {
        let fact = fact.replace('\n', &format!("\n{margin}   "));
        out += &format!("{margin} {sign} {}: {fact}\n", style.paint(Ink::Heading, label));
    }
    out
}

fn facts(finding: &Finding, run: &Report, about: &About) -> Vec<(&'static str, String)> {
    let bug = &finding.bug;
    let mut facts = Vec::new();
    if let Some(who) = untold_culprit(bug).filter(|_| bug.location.is_none()) {
        facts.push(("in", who));
    }
    let settings = finding.schedule.settings.iter();
    let settings: String = settings.map(|(name, value)| format!(", {name} {value}")).collect();
    facts.push(("program", format!("{}{settings}", about.program)));
    if !run.strategy.is_empty() {
        let by = if run.states.is_some() { "search" } else { "strategy" };
        let how = format!("{by} {}, seed {}", run.strategy, run.seed);
        let number = grouped(finding.found_at);
        let all = count(run.schedules, "schedule");
        let by_states = run.states.as_ref().is_some_and(|states| states.states > 0);
        facts.push(match (bug.kind(), finding.occurrences) {
            (BugKind::NoFailure, _) => ("tried", format!("{all} ({how})")),
            (_, 0 | 1) if by_states => ("found", format!("after {number} states ({how})")),
            (_, times) if by_states => {
                let times = count(times, "transition");
                ("found", format!("after {number} states; {times} show it ({how})"))
            }
            (_, 0 | 1) => ("found", format!("in schedule {number} ({how})")),
            (_, times) => {
                let times = grouped(times);
                ("found", format!("in schedule {number}; {times} of {all} show it ({how})"))
            }
        });
    }
    // Sizes are shown only if shrinking made the schedule smaller.
    let smaller = |sizes: &&Shrunk| {
        (sizes.steps_after, sizes.switches_after) != (sizes.steps_before, sizes.switches_before)
    };
    if let Some(sizes) = finding.shrunk.as_ref().filter(smaller) {
        let steps = count(sizes.steps_after as u64, "step");
        let switches = count(sizes.switches_after as u64, "change");
        facts.push((
            "shrunk",
            format!(
                "to {steps} from {}, to {switches} of worker from {}",
                grouped(sizes.steps_before as u64),
                grouped(sizes.switches_before as u64),
            ),
        ));
    }
    if let Some(delays) = &finding.delays {
        facts.push(("delays", in_delays(delays)));
    }
    facts.extend(finding.notes.iter().map(|note| ("note", note.clone())));
    facts.extend(help(bug.kind()).map(|help| ("help", help.to_owned())));
    facts
}

/// The distance of the schedule from the explorer's own, in delays.
fn in_delays(Delays { explorer, count: delays, minimal, .. }: &Delays) -> String {
    match (delays, minimal) {
        (0, _) => format!("none: it is what {explorer} does of itself"),
        (_, true) => format!("{} under {explorer}, and fewer do not do", grouped(*delays)),
        (_, false) => format!("{} under {explorer}, the fewest found", grouped(*delays)),
    }
}

/// One execution without a bug, with all its steps. `how` says how it was chosen.
pub fn execution(trace: &Trace, program: &str, how: &str, style: Style) -> String {
    shown(style, |style| {
        let story = Story::of(trace);
        let steps = count(trace.steps.len() as u64, "step");
        let workers = count(of_workers(trace), "worker");
        let heading = format!("One execution of {program}, {steps} of {workers} ({how}):");
        let mut out = format!("{}\n\n", style.paint(Ink::Heading, heading));
        let rows = folding::plainly(&story, 0..trace.steps.len());
        out += &table::steps(&story, &rows, |_| true, None, None, style);
        out + &table::ending(&story, "In the end:", style) + "\n"
    })
}

/// Who takes each step of an execution, and what happens in it, line by line.
pub fn steps(trace: &Trace) -> Vec<(String, Vec<String>)> {
    let story = Story::of(trace);
    let texts = |lines: &[story::Line]| lines.iter().map(|line| line.text.clone()).collect();
    story.steps.iter().map(|(worker, lines)| (story.names.of(*worker), texts(lines))).collect()
}

/// Who takes the last step of an execution that goes on, and what happens in it, line by line.
pub fn last_step(trace: &Trace) -> (String, Vec<String>) {
    let (worker, mut lines) = steps(trace).pop().unwrap_or_default();
    for line in &mut lines {
        // Nothing that was sent in the last step can have been received.
        if let Some(sent) = line.strip_suffix(story::NOT_RECEIVED) {
            line.truncate(sent.len());
        }
    }
    (worker, lines)
}

fn of_workers(trace: &Trace) -> u64 {
    let mut workers: Vec<_> = trace.steps.iter().map(|step| step.worker).collect();
    workers.sort_unstable();
    workers.dedup();
    workers.len() as u64
}

fn happened(
    heading_word: &str,
    trace: &Trace,
    finding: &Finding,
    run: &Report,
    about: &About,
) -> String {
    let style = about.style;
    let story = story(trace, finding);
    let total = trace.steps.len();
    // Of choices alone it is not known which led to the bug.
    let (past, idle) = (finding.past(), idle(finding));
    let all = about.steps_shown.is_none();
    let is_past = |at: usize| all || past.get(at).copied().unwrap_or(true);
    let is_idle = |at: usize| !all && idle.get(at).copied().unwrap_or(false);
    let apart = finding.lasso.as_ref().map(|lasso| lasso.stem);
    let mut rows = folding::plainly(&story, (0..total).filter(|&at| is_past(at) && !is_idle(at)));
    if !all {
        rows = folding::folded(&story, trace, rows, apart);
    }
    // The last rows, from the beginning where there are not more.
    let more = about.steps_shown.map_or(0, |most| rows.len().saturating_sub(most));
    let from = more.checked_sub(1).map_or(0, |last| rows[last].steps.1 + 1);
    let rows = &rows[more..];
    let heading = heading(heading_word, trace, finding, run);
    let mut out = format!("\n{}\n\n", style.paint(Ink::Heading, heading));
    let mut note = |text: String| {
        let text = match (&about.see_all, &about.saved) {
            (Some(see_all), _) => format!("{text}; {see_all}"),
            (None, Some(saved)) => {
                let json = saved.with_extension("json");
                format!("{text}; all of them are in {}", json.display())
            }
            (None, None) => text,
        };
        out += &format!(" {}\n", style.paint(Ink::Faint, text));
    };
    if from > 0 {
        note(format!("... {} not shown", count(from as u64, "earlier step")));
    } else if let 1.. = idle.iter().filter(|idle| **idle && !all).count() {
        let steps = idle.iter().filter(|idle| **idle).count();
        note(format!("... {} without a consequence left out", count(steps as u64, "step")));
    }
    let bug = Words::of(&finding.bug).headline;
    let divider = finding.lasso.as_ref().map(|lasso| lasso::divider(lasso, from));
    out += &table::steps(&story, rows, is_past, divider, Some(&bug), style);
    out + &ending(&story, trace, finding, style)
}

/// The steps without a consequence; what an explorer was late with is told all the same.
pub(crate) fn idle(finding: &Finding) -> Vec<bool> {
    let mut idle = finding.idle();
    for late in finding.delays.iter().flat_map(|delays| &delays.at) {
        if let Some(idle) = idle.get_mut(late.step.saturating_sub(1)) {
            *idle = false;
        }
    }
    idle
}

fn story<'a>(trace: &'a Trace, finding: &Finding) -> Story<'a> {
    let mut story = Story::of(trace);
    if let Some(delays) = &finding.delays {
        story.tell_delays(delays);
    }
    story
}

fn heading(heading: &str, trace: &Trace, finding: &Finding, run: &Report) -> String {
    let granularity = match run.granularity.as_str() {
        "" => String::new(),
        granularity => format!(" (granularity {granularity})"),
    };
    let with = match &finding.delays {
        Some(delays) if delays.count > 0 => format!(", with {}", count(delays.count, "delay")),
        _ => String::new(),
    };
    format!(
        "{heading}{with}, {} of {}{granularity}:",
        count(trace.steps.len() as u64, "step"),
        count(of_workers(trace), "worker")
    )
}

/// What holds after the last step.
fn ending(story: &Story<'_>, trace: &Trace, finding: &Finding, style: Style) -> String {
    if let Some(lasso) = &finding.lasso {
        return lasso::closing(lasso, trace, &finding.schedule, style)
            + &table::ending(story, "After each round:", style);
    }
    // The description of a deadlock says already which workers wait for what.
    match &*finding.bug.problem {
        Problem::Deadlock { waiting } if !waiting.is_empty() => String::new(),
        _ => table::ending(story, "In the end:", style),
    }
}

/// The trace that follows from the schedule alone, where no events were recorded.
fn chosen(finding: &Finding) -> Trace {
    let mut steps: Vec<TraceStep> = Vec::new();
    for choice in &finding.schedule.choices {
        match (choice, steps.last_mut()) {
            (Choice::Worker(worker), _) => {
                let (worker, items, after) = (*worker, Vec::new(), Vec::new());
                steps.push(TraceStep { worker, items, after, clock: None, fields: None });
            }
            (inner, Some(step)) => step.items.push(Item::Choice(*inner)),
            (_, None) => {}
        }
    }
    Trace { names: finding.trace.names.clone(), steps }
}

fn replay(finding: &Finding, about: &About) -> String {
    let mut out = String::new();
    if let Some(saved) = &about.saved {
        out += &format!("\nThe schedule is saved in {}\n", saved.display());
        if let Some(page) = &about.page {
            out += &format!("To see it, open     {}\n", page.display());
        }
    }
    let heading = about.style.paint(Ink::Heading, "Replay it with");
    out += &format!("\n{heading}\n\n");
    let commands = commands(finding, about);
    out +=
        &commands.iter().map(|command| format!("  {command}\n")).collect::<Vec<_>>().join("or\n");
    out
}

fn commands(finding: &Finding, about: &About) -> Vec<String> {
    match about.replay.as_slice() {
        [] => vec![format!("dally replay {}", finding.schedule.to_token())],
        commands => commands.to_vec(),
    }
}
