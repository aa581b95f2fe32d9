//! Steps that are told together: a message to several workers, and what is done again and again.

use std::ops::Range;

use dally_core::{Choice, Event, Item, MessageId, Tag, Trace, TraceStep, WorkerId};

use super::causality::Fate;
use super::story::{Line, Story, plain};
use super::words::clip;

/// What is told of one step or of several.
pub(super) struct Row<'a> {
    /// The steps, from 0: the first and the last, between which others may be left out.
    pub steps: (usize, usize),
    pub worker: WorkerId,
    pub lines: Lines<'a>,
}

pub(super) enum Lines<'a> {
    Told(&'a [Line]),
    /// In place of the lines of several steps.
    Together(Line),
}

impl Lines<'_> {
    pub fn all(&self) -> &[Line] {
        match self {
            Lines::Told(lines) => lines,
            Lines::Together(line) => std::slice::from_ref(line),
        }
    }
}

impl Row<'_> {
    /// The number of its step, or of the first and the last.
    pub fn number(&self) -> String {
        match self.steps {
            (first, last) if first == last => (first + 1).to_string(),
            (first, last) => format!("{}-{}", first + 1, last + 1),
        }
    }
}

/// These steps, which are in order, a row each.
pub(super) fn plainly<'a>(
    story: &'a Story<'_>,
    shown: impl Iterator<Item = usize>,
) -> Vec<Row<'a>> {
    let row = |at: usize| {
        let (worker, lines) = &story.steps[at];
        Row { steps: (at, at), worker: *worker, lines: Lines::Told(lines) }
    };
    shown.map(row).collect()
}

/// These rows with those together that can be told together. `apart` is a step that begins a part of its own.
pub(super) fn folded<'a>(
    story: &'a Story<'_>,
    trace: &Trace,
    rows: Vec<Row<'a>>,
    apart: Option<usize>,
) -> Vec<Row<'a>> {
    again(several(story, trace, rows, apart), apart)
}

/// What a step does to another worker, if it does nothing else.
#[derive(PartialEq)]
enum Does<'a> {
    Sends(&'a str),
    Creates(&'a str),
}

fn only<'a>(story: &Story<'_>, step: &'a TraceStep) -> Option<(Does<'a>, WorkerId, Option<usize>)> {
    let mut does = None;
    for item in &step.items {
        let this = match item {
            Item::Event(Event::Sent { message, to, payload }) => {
                (Does::Sends(payload), *to, Some(received(story, *message)?))
            }
            Item::Event(Event::Created { worker, name }) => (Does::Creates(name), *worker, None),
            Item::Event(Event::Enabled { .. })
            | Item::Choice(Choice::Value { index: 0, tag: Tag::Fault, .. }) => continue,
            _ => return None,
        };
        if does.replace(this).is_some() {
            return None;
        }
    }
    does
}

fn received(story: &Story<'_>, message: MessageId) -> Option<usize> {
    match story.messages.fate.get(&message)? {
        Fate::Received(step) => Some(*step),
        Fate::Discarded(..) => None,
    }
}

/// A message to several workers, or several workers of one kind that are created.
fn several<'a>(
    story: &'a Story<'_>,
    trace: &Trace,
    rows: Vec<Row<'a>>,
    apart: Option<usize>,
) -> Vec<Row<'a>> {
    let mut told: Vec<Row<'a>> = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        let doing = |row: &Row<'_>| only(story, trace.steps.get(row.steps.0)?);
        let first = doing(&rows[at]);
        let mut all = Vec::new();
        let mut end = at;
        while let (Some(row), Some((does, _, _))) = (rows.get(end), &first) {
            let same = row.worker == rows[at].worker && (end == at || Some(row.steps.0) != apart);
            match doing(row).filter(|(other, _, _)| same && other == does) {
                Some((_, to, step)) => all.push((to, step)),
                None => break,
            }
            end += 1;
        }
        let row = &rows[at];
        if let (Some((does, _, _)), true) = (first, all.len() > 1) {
            let times = all.len();
            let mut names: Vec<String> = all.iter().map(|(to, _)| story.names.of(*to)).collect();
            names.dedup();
            let times = if names.len() == 1 { format!(", {times} times,") } else { String::new() };
            let steps: Vec<String> =
                all.iter().filter_map(|(_, step)| Some(step.as_ref()?.to_string())).collect();
            let text = match does {
                Does::Sends(payload) => format!(
                    "sends {}{times} to {} (-> steps {})",
                    clip(payload),
                    names.join(", "),
                    steps.join(", ")
                ),
                Does::Creates(_) => format!("creates {}", names.join(", ")),
            };
            let steps = (row.steps.0, rows[end - 1].steps.1);
            told.push(Row { steps, worker: row.worker, lines: Lines::Together(plain(text)) });
        } else {
            let lines = match &row.lines {
                Lines::Told(lines) => Lines::Told(lines),
                Lines::Together(line) => Lines::Together(plain(line.text.clone())),
            };
            told.push(Row { steps: row.steps, worker: row.worker, lines });
        }
        at = at.max(end.saturating_sub(1)) + 1;
    }
    told
}

/// The most rows of one round of what is done again and again.
const ROUND: usize = 4;

/// What a worker does three times or more with nobody between is told once.
fn again<'a>(rows: Vec<Row<'a>>, apart: Option<usize>) -> Vec<Row<'a>> {
    let shapes: Vec<Vec<String>> =
        rows.iter().map(|row| row.lines.all().iter().map(shape).collect()).collect();
    let same = |one: usize, other: usize| {
        rows[one].worker == rows[other].worker && shapes[one] == shapes[other]
    };
    let mut rounds: Vec<(Range<usize>, usize)> = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        let times = |round: usize| {
            let next = (at + round..rows.len())
                .take_while(|&next| same(next, next - round) && Some(rows[next].steps.0) != apart)
                .count();
            1 + next / round
        };
        let one_worker =
            |round: usize| rows[at..].iter().take(round).all(|row| row.worker == rows[at].worker);
        let found = (1..=ROUND).find(|&round| one_worker(round) && times(round) >= 3);
        let (round, times) = found.map_or((1, 1), |round| (round, times(round)));
        rounds.push((at..at + round, times));
        at += round * times;
    }
    let mut rows: Vec<Option<Row<'a>>> = rows.into_iter().map(Some).collect();
    let mut told = Vec::new();
    for (round, times) in rounds {
        told.extend(round.clone().filter_map(|at| rows[at].take()));
        if times > 1 {
            let rest = round.end..round.start + (round.end - round.start) * times;
            let ends = rows[rest.start].take().zip(rows[rest.end - 1].take());
            if let Some((first, last)) = ends {
                let text = format!("the same {} more times", times - 1);
                let (steps, worker) = ((first.steps.0, last.steps.1), first.worker);
                told.push(Row { steps, worker, lines: Lines::Together(plain(text)) });
            }
        }
    }
    told
}

/// A line without the numbers of steps.
fn shape(line: &Line) -> String {
    let mut shape = String::new();
    let mut rest = line.text.as_str();
    while let Some((before, after)) = rest.split_once("step ") {
        shape += before;
        shape += "step";
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    shape + rest
}
