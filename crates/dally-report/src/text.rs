//! Findings and runs as text for a terminal.

mod causality;
mod source;
mod story;
mod style;
mod summary;
mod table;
mod words;

use dally_core::{BugKind, Choice, Finding, Tag};

use self::story::Story;
use self::style::Ink;
pub use self::style::Style;
pub use self::summary::summary;
use self::words::{count, grouped};
use crate::about::About;

/// Where there is no trace, this many choices of the schedule are shown.
const CHOICES_SHOWN: usize = 12;

/// What a failing test prints: what broke and where, after how much work, what happened step by
/// step, and, last, the command that replays it.
pub fn finding(finding: &Finding, about: &About) -> String {
    let mut out = head(finding, about);
    if !finding.trace.steps.is_empty() {
        out += &happened(finding, about);
    } else if !finding.schedule.choices.is_empty() {
        out += &chosen(finding, about);
    }
    if !finding.schedule.choices.is_empty() {
        out += &replay(finding, about);
    }
    out
}

/// What broke, where, and after how much work.
fn head(finding: &Finding, about: &About) -> String {
    let (bug, style) = (&finding.bug, about.style);
    let mut lines = bug.message.lines();
    let mut out = format!(
        "{} {}\n",
        style.paint(Ink::Bug, format!("bug[{}]:", bug.kind)),
        style.paint(Ink::Heading, lines.next().unwrap_or("(no message)"))
    );
    for line in lines {
        out += &format!("  {line}\n");
    }
    let culprit = bug.culprit.as_ref().map(|culprit| match bug.kind {
        BugKind::Monitor | BugKind::HotAtEnd | BugKind::Temperature => format!("monitor {culprit}"),
        _ => culprit.clone(),
    });
    let mut facts = Vec::new();
    let mut margin = " ".repeat(2);
    match (&bug.location, culprit) {
        (Some(at), culprit) => {
            let who = culprit.map_or_else(String::new, |culprit| format!(", in {culprit}"));
            out += &source::excerpt(at, &who, about.source_root.as_deref(), style);
            margin = " ".repeat(at.line.to_string().len());
        }
        (None, Some(culprit)) => facts.push(format!("in {culprit}")),
        (None, None) => {}
    }
    facts.push(found(finding, about));
    if let Some(sizes) = &finding.shrunk {
        facts.push(format!(
            "shrunk from {} with {} of worker to {} with {}",
            count(sizes.steps_before as u64, "step"),
            count(sizes.switches_before as u64, "change"),
            count(sizes.steps_after as u64, "step"),
            grouped(sizes.switches_after as u64),
        ));
    }
    facts.extend(finding.notes.iter().map(|note| format!("note: {note}")));
    facts.extend(help(bug.kind).map(|help| format!("help: {help}")));
    let sign = style.paint(Ink::Faint, "=");
    for fact in facts {
        let fact = fact.replace('\n', &format!("\n{margin}   "));
        out += &format!("{margin} {sign} {fact}\n");
    }
    out
}

/// In which schedule of what.
fn found(finding: &Finding, about: &About) -> String {
    let statistics = &about.statistics;
    let mut settings = String::new();
    for (name, value) in &finding.schedule.settings {
        settings += &format!(", {name} {value}");
    }
    let program = format!("{}{settings}", about.program);
    if statistics.strategy.is_empty() {
        return format!("in {program}");
    }
    let how = format!("strategy {}, seed {}", statistics.strategy, statistics.seed);
    if finding.bug.kind == BugKind::NoFailure {
        let tried = count(statistics.schedules, "schedule");
        return format!("in {program}: {tried} run ({how})");
    }
    let mut text = format!("in {program}: schedule {} ({how})", grouped(finding.found_at));
    if finding.occurrences > 1 {
        text += &format!(
            ", and {} of {} in all",
            grouped(finding.occurrences),
            count(statistics.schedules, "schedule")
        );
    }
    text
}

/// What happened, step by step.
fn happened(finding: &Finding, about: &About) -> String {
    let style = about.style;
    let story = Story::of(&finding.trace);
    let total = finding.trace.steps.len();
    let shown = about.steps_shown.unwrap_or(total).min(total);
    let mut workers: Vec<_> = finding.trace.steps.iter().map(|step| step.worker).collect();
    workers.sort_unstable();
    workers.dedup();
    let granularity = match about.statistics.granularity.as_str() {
        "" => String::new(),
        granularity => format!(" ({granularity})"),
    };
    let heading = format!(
        "What happened, {} of {}{granularity}:",
        count(total as u64, "step"),
        count(workers.len() as u64, "worker")
    );
    let mut out = format!("\n{}\n\n", style.paint(Ink::Heading, heading));
    if shown < total {
        let hidden = count((total - shown) as u64, "earlier step");
        let mut text = format!("... {hidden} not shown");
        if let Some(see_all) = &about.see_all {
            text += &format!("; {see_all}");
        } else if let Some(saved) = &about.saved {
            let json = saved.with_extension("json");
            text += &format!("; all of them are in {}", json.display());
        }
        out += &format!(" {}\n", style.paint(Ink::Faint, text));
    }
    let bug = finding.bug.message.lines().next().unwrap_or("(no message)");
    out += &table::steps(&story, shown, bug, style);
    out + &table::ending(&story, style)
}

/// The end of the schedule, where nobody could watch what happened.
fn chosen(finding: &Finding, about: &About) -> String {
    let choices = &finding.schedule.choices;
    let from = choices.len().saturating_sub(CHOICES_SHOWN);
    let which = match from {
        0 => format!("Its {}", count(choices.len() as u64, "choice")),
        _ => format!("The last {CHOICES_SHOWN} of its {}", count(choices.len() as u64, "choice")),
    };
    let text = format!("No trace: the execution could not be made again. {which}:");
    let mut out = format!("\n{}\n\n", about.style.paint(Ink::Heading, text));
    for choice in &choices[from..] {
        out += &match choice {
            Choice::Worker(worker) => {
                let name = finding.trace.names.get(worker);
                name.map_or_else(|| format!(" {worker}\n"), |name| format!(" {name} {worker}\n"))
            }
            Choice::Value { index, of, tag: Tag::Program } => {
                format!("   chooses {index} from 0..{of}\n")
            }
            Choice::Value { index, of, tag: Tag::Fault } => format!("   fault {index} of {of}\n"),
            Choice::Delivery(message) => format!("   is handed message {message}\n"),
        };
    }
    out
}

fn replay(finding: &Finding, about: &About) -> String {
    let mut out = String::new();
    if let Some(saved) = &about.saved {
        out += &format!("\nThe schedule is saved in {}\n", saved.display());
    }
    let token;
    let commands = match about.replay.as_slice() {
        [] => {
            token = [format!("dally replay {}", finding.schedule.to_token())];
            &token
        }
        commands => commands,
    };
    let heading = about.style.paint(Ink::Heading, "Replay it with");
    out += &format!("\n{heading}\n\n");
    out +=
        &commands.iter().map(|command| format!("  {command}\n")).collect::<Vec<_>>().join("or\n");
    out
}

/// What the reader of such a bug may need to be told.
fn help(kind: BugKind) -> Option<&'static str> {
    Some(match kind {
        BugKind::Panic | BugKind::Deadlock | BugKind::Monitor => return None,
        BugKind::UnhandledEvent => "in that state, handle the event, defer it or ignore it",
        BugKind::HotAtEnd => {
            "a hot state says that something is still due; nothing can bring it now"
        }
        BugKind::Temperature => {
            "the schedule was fair and nothing good happened for that long; if it only needs \
             longer, raise the bound"
        }
        BugKind::StepBound => "if the program only needs longer, raise the bound",
        BugKind::EndlessStep => {
            "a step must come to its next scheduling point: look for a loop without an await or a \
             call that blocks the thread"
        }
        BugKind::Uncontrolled => {
            "look for the clock, random numbers, the order of a HashMap, threads, files or \
             static variables that outlive a schedule"
        }
        BugKind::NoFailure => "is the bug fixed? else try more schedules or another strategy",
    })
}
