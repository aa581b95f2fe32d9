//! What the script of the page draws: lanes, the order of steps, arrows and spans, as numbers. Texts are in
//! the list of steps and stand here only where the list has them in another form.

use std::collections::BTreeMap;

use dally_core::words::visible;
use dally_core::{Discard, Event, Finding, Heat, Item, Resource, Trace, Transition, WorkerId};
use serde::Serialize;

use crate::text::{self, Fate, Messages, Names, States, Touched, is_fault};

#[derive(Serialize)]
pub(super) struct Model {
    lanes: Vec<Lane>,
    monitors: Vec<Monitor>,
    steps: Vec<Step>,
    arrows: Vec<Arrow>,
    states: Vec<Span>,
    waits: Vec<Span>,
    /// Locks that workers hold.
    holds: Vec<Span>,
    /// Which steps the bug comes from, as indices; their past is shown first.
    roots: Vec<usize>,
    /// Steps of that past without a consequence, as indices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    idle: Vec<usize>,
    /// How many steps lead to the loop, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    stem: Option<usize>,
    /// The first step that is otherwise in the other schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<usize>,
    /// The nearest schedule that does not fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<Box<Model>>,
}

#[derive(Serialize)]
struct Lane {
    name: String,
    /// Lanes of one kind can be folded into one.
    kind: String,
}

#[derive(Serialize)]
struct Monitor {
    name: String,
    spans: Vec<MonitorSpan>,
}

/// The state of a monitor from the end of one step to the next change.
#[derive(Serialize)]
struct MonitorSpan {
    from: usize,
    state: String,
    heat: Heat,
}

#[derive(Serialize)]
struct Step {
    /// The lane of the worker.
    w: usize,
    /// The steps of other workers that it comes after at once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<usize>,
    /// The other workers that could have stepped instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    could: Vec<usize>,
    #[serde(skip_serializing_if = "is_false")]
    fault: bool,
    /// What the worker holds after it, if that has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<String>,
}

/// A message, a creation, or the order of two steps at something that their workers share.
#[derive(Serialize)]
struct Arrow {
    from: usize,
    /// The step that receives it; `None` if none does.
    to: Option<usize>,
    /// The lane that it is for.
    lane: usize,
    text: String,
    how: How,
}

#[derive(Serialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum How {
    Received,
    Ignored,
    Lost,
    Waiting,
    Creation,
    Order,
}

/// What holds of a lane from a step on, up to the step `to` or the end.
#[derive(Serialize)]
struct Span {
    lane: usize,
    from: usize,
    to: Option<usize>,
    text: String,
}

/// The greatest number of characters of a payload at an arrow.
const LONGEST: usize = 300;

fn is_false(value: &bool) -> bool {
    !value
}

fn clipped(text: &str) -> String {
    let mut shown: String = text.chars().take(LONGEST).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    visible(&shown).into_owned()
}

impl Model {
    pub fn of(finding: &Finding) -> Model {
        let nearest = finding.nearest.as_ref();
        let difference = nearest.map(|nearest| nearest.edit.step() - 1);
        let idle = text::idle(finding);
        Model {
            idle: (0..idle.len()).filter(|&at| idle[at]).collect(),
            stem: finding.lasso.as_ref().map(|lasso| lasso.stem),
            difference,
            nearest: nearest.map(|nearest| {
                Box::new(Model { difference, ..Model::new(&nearest.trace, &[], Vec::new()) })
            }),
            ..Model::new(&finding.trace, &finding.schedule.enabled, finding.shows_in())
        }
    }

    /// The model of an execution; at each step `enabled` could step, where that is known.
    pub fn new(trace: &Trace, enabled: &[Vec<WorkerId>], roots: Vec<usize>) -> Model {
        let lanes: BTreeMap<WorkerId, usize> = trace.names.keys().copied().zip(0..).collect();
        let lane = |worker: &WorkerId| lanes.get(worker).copied();
        let steps = trace.steps.iter().enumerate().map(|(at, step)| Step {
            w: lane(&step.worker).unwrap_or(0),
            after: step.after.iter().map(|&step| step as usize - 1).collect(),
            could: enabled
                .get(at)
                .into_iter()
                .flatten()
                .filter(|&&other| other != step.worker)
                .filter_map(lane)
                .collect(),
            fields: step.fields.as_deref().map(|fields| visible(fields).into_owned()),
            fault: step.worker == WorkerId::FAULTS
                || step
                    .items
                    .iter()
                    .any(|item| matches!(item, Item::Event(event) if is_fault(event))),
        });
        let mut spans = Spans::default();
        for (at, step) in trace.steps.iter().enumerate() {
            spans.step(at, step.worker, &step.items, &lanes);
        }
        let names = Names(&trace.names);
        Model {
            lanes: trace
                .names
                .iter()
                .map(|(&worker, name)| Lane {
                    name: visible(&names.of(worker)).into_owned(),
                    kind: match (worker == WorkerId::FAULTS, worker.is_environment()) {
                        (true, _) => "faults".into(),
                        (_, true) => "timers".into(),
                        _ => visible(name).into_owned(),
                    },
                })
                .collect(),
            steps: steps.collect(),
            arrows: arrows(trace, &lanes),
            monitors: spans.monitors.into_values().collect(),
            states: spans.states.done,
            waits: spans.waits.done,
            holds: spans.holds.done,
            roots,
            idle: Vec::new(),
            stem: None,
            difference: None,
            nearest: None,
        }
    }
}

/// Messages from their sends to where they are taken, and creations to the first step of the created.
fn arrows(trace: &Trace, lanes: &BTreeMap<WorkerId, usize>) -> Vec<Arrow> {
    let messages = Messages::of(trace);
    let mut first: BTreeMap<WorkerId, usize> = BTreeMap::new();
    for (at, step) in trace.steps.iter().enumerate() {
        first.entry(step.worker).or_insert(at);
    }
    let sent = messages.sent.iter().filter_map(|(message, sent)| {
        let (to, how) = match messages.fate.get(message) {
            Some(Fate::Received(step)) => (Some(step - 1), How::Received),
            Some(Fate::Discarded(_, Discard::Lost)) => (None, How::Lost),
            Some(Fate::Discarded(step, _)) => (Some(step - 1), How::Ignored),
            None => (None, How::Waiting),
        };
        let lane = *lanes.get(&sent.to)?;
        Some(Arrow { from: sent.step - 1, to, lane, text: clipped(sent.payload), how })
    });
    let created = trace.steps.iter().enumerate().flat_map(|(from, step)| {
        step.items.iter().filter_map(move |item| match item {
            Item::Event(Event::Created { worker, .. }) => Some((from, *worker)),
            _ => None,
        })
    });
    let created = created.filter_map(|(from, worker)| {
        let to = first.get(&worker).copied().filter(|&to| to > from);
        let (lane, text, how) = (*lanes.get(&worker)?, "created".into(), How::Creation);
        Some(Arrow { from, to, lane, text, how })
    });
    let mut arrows: Vec<Arrow> = sent.chain(created).collect();
    arrows.extend(orders(trace, lanes));
    arrows.sort_by_key(|arrow| (arrow.from, arrow.to, arrow.lane));
    arrows
}

/// From each step to the next of another worker at a lock, a channel or the like, as the text tells it.
fn orders(trace: &Trace, lanes: &BTreeMap<WorkerId, usize>) -> Vec<Arrow> {
    let mut touched: BTreeMap<Resource, Touched> = BTreeMap::new();
    let mut orders: BTreeMap<(usize, usize), Arrow> = BTreeMap::new();
    for (at, step) in trace.steps.iter().enumerate() {
        let Some(&lane) = lanes.get(&step.worker) else { continue };
        for item in &step.items {
            let Item::Event(Event::Accessed { access, what }) = item else { continue };
            let before = touched.entry(access.resource).or_default().by(step.worker, at, *access);
            let Some((_, from)) = before.filter(|_| !what.is_empty()) else { continue };
            let arrow = Arrow { from, to: Some(at), lane, text: clipped(what), how: How::Order };
            orders.entry((from, at)).or_insert(arrow);
        }
    }
    orders.into_values().collect()
}

#[derive(Default)]
struct Spans<'a> {
    states: Open,
    waits: Open,
    holds: Holds,
    stacks: BTreeMap<usize, States<'a>>,
    monitors: BTreeMap<String, Monitor>,
}

/// Spans of which each lane has at most one at a time.
#[derive(Default)]
struct Open {
    done: Vec<Span>,
    last: BTreeMap<usize, usize>,
}

impl Open {
    fn begin(&mut self, lane: usize, at: usize, text: &str) {
        self.end(lane, at);
        self.last.insert(lane, self.done.len());
        self.done.push(Span { lane, from: at, to: None, text: clipped(text) });
    }

    fn end(&mut self, lane: usize, at: usize) {
        if let Some(open) = self.last.remove(&lane) {
            self.done[open].to = Some(at);
        }
    }
}

/// Locks that are held. A worker can hold several, and a lock for reading several workers.
#[derive(Default)]
struct Holds {
    done: Vec<Span>,
    /// By lane and lock, the last span first where one is held more than once.
    open: BTreeMap<(usize, Resource), Vec<usize>>,
}

impl Holds {
    /// Locks tell of themselves in the words of tasks: ``lock `mutex 0#0` `` and ``unlock `mutex 0#0` ``.
    fn accessed(&mut self, lane: usize, at: usize, lock: Resource, what: &str) {
        let open = self.open.entry((lane, lock)).or_default();
        if what.starts_with("lock ") {
            open.push(self.done.len());
            let text = clipped(what.trim_start_matches("lock "));
            self.done.push(Span { lane, from: at, to: None, text });
        } else if what.starts_with("unlock ")
            && let Some(span) = open.pop()
        {
            self.done[span].to = Some(at);
        }
    }
}

impl<'a> Spans<'a> {
    fn step(
        &mut self,
        at: usize,
        worker: WorkerId,
        items: &'a [Item],
        lanes: &BTreeMap<WorkerId, usize>,
    ) {
        let Some(&me) = lanes.get(&worker) else { return };
        self.waits.end(me, at);
        for item in items {
            let Item::Event(event) = item else { continue };
            match event {
                Event::Changed { how, to } => self.changed(me, at, *how, to),
                Event::Blocked { on } => self.waits.begin(me, at, on),
                Event::Accessed { access, what } => {
                    self.holds.accessed(me, at, access.resource, what);
                }
                Event::Halted { worker } | Event::Crashed { worker } => {
                    if let Some(&lane) = lanes.get(worker) {
                        self.states.end(lane, at);
                        self.waits.end(lane, at);
                        self.stacks.remove(&lane);
                    }
                }
                Event::MonitorChanged { monitor, to, heat } => {
                    let name = clipped(monitor);
                    let lane = self.monitors.entry(name.clone());
                    let lane = lane.or_insert_with(|| Monitor { name, spans: Vec::new() });
                    lane.spans.push(MonitorSpan { from: at, state: clipped(to), heat: *heat });
                }
                _ => {}
            }
        }
    }

    fn changed(&mut self, lane: usize, at: usize, how: Transition, to: &'a str) {
        let stack = self.stacks.entry(lane).or_default();
        stack.change(how, to);
        let text = stack.0.join(" > ");
        self.states.begin(lane, at, &text);
    }
}
