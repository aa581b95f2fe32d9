//! What a program tells by the crate `tracing`, for the trace of a recorded execution.
//!
//! A subscriber stands in for those of the program for as long as the execution is recorded, on its thread. In
//! other executions there is none of ours, so that they cost nothing.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dally_core::{Text, WorkerId};
use tracing_core::dispatcher::{self, DefaultGuard, Dispatch};
use tracing_core::field::{Field, Visit};
use tracing_core::span::{Attributes, Current, Id, Record};
use tracing_core::{Event, Metadata, Subscriber};

/// The lines told since the last were taken, and the open spans of each worker.
#[derive(Default)]
struct SpanLog {
    lines: Vec<String>,
    worker: Option<WorkerId>,
    /// The spans that each worker is inside of, the innermost last. A step may end inside of a span.
    inside: BTreeMap<WorkerId, Vec<u64>>,
    spans: BTreeMap<u64, Span>,
    made: u64,
}

struct Span {
    name: &'static str,
    fields: String,
    handles: usize,
    metadata: &'static Metadata<'static>,
}

impl SpanLog {
    fn here(&mut self) -> Option<&mut Vec<u64>> {
        Some(self.inside.entry(self.worker?).or_default())
    }
}

/// Listens while it lives.
pub(crate) struct Spans {
    told: Arc<Mutex<SpanLog>>,
    _listening: DefaultGuard,
}

impl Spans {
    pub(crate) fn listen() -> Spans {
        let told = Arc::<Mutex<SpanLog>>::default();
        let dispatch = Dispatch::new(Collector { told: Arc::clone(&told) });
        Spans { told, _listening: dispatcher::set_default(&dispatch) }
    }

    /// From here on this worker steps.
    pub(crate) fn step(&self, worker: WorkerId) {
        lock(&self.told).worker = Some(worker);
    }

    /// The lines told since they were last taken.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.told).lines)
    }
}

fn lock(told: &Mutex<SpanLog>) -> MutexGuard<'_, SpanLog> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Collector {
    told: Arc<Mutex<SpanLog>>,
}

impl Subscriber for Collector {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        // Written before the lock is taken: it is code of the program, which may tell something itself.
        let fields = written(|fields| attributes.record(fields));
        let metadata = attributes.metadata();
        let mut told = lock(&self.told);
        told.made += 1;
        let id = told.made;
        let name = metadata.name();
        told.lines.push(format!("opens span {name}{}", braced(&fields)));
        told.spans.insert(id, Span { name, fields, handles: 1, metadata });
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let more = written(|fields| values.record(fields));
        let mut told = lock(&self.told);
        if let Some(span) = told.spans.get_mut(&span.into_u64()) {
            let between = if span.fields.is_empty() { "" } else { " " };
            span.fields += &format!("{between}{more}");
            let line = format!("span {} has {more}", span.name);
            told.lines.push(line);
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let fields = written(|fields| event.record(fields));
        let metadata = event.metadata();
        let mut told = lock(&self.told);
        let inside = told.here().cloned().unwrap_or_default();
        let spans: Vec<String> = inside
            .iter()
            .filter_map(|id| told.spans.get(id))
            .map(|span| format!("{}{}", span.name, braced(&span.fields)))
            .collect();
        let within = match spans.is_empty() {
            true => String::new(),
            false => format!(" (in {})", spans.join(", ")),
        };
        let (level, target) = (metadata.level(), metadata.target());
        told.lines.push(format!("{level} {target}: {fields}{within}"));
    }

    fn enter(&self, span: &Id) {
        if let Some(inside) = lock(&self.told).here() {
            inside.push(span.into_u64());
        }
    }

    fn exit(&self, span: &Id) {
        if let Some(inside) = lock(&self.told).here()
            && let Some(at) = inside.iter().rposition(|id| *id == span.into_u64())
        {
            inside.remove(at);
        }
    }

    fn clone_span(&self, span: &Id) -> Id {
        if let Some(span) = lock(&self.told).spans.get_mut(&span.into_u64()) {
            span.handles += 1;
        }
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        let mut told = lock(&self.told);
        let Some(open) = told.spans.get_mut(&span.into_u64()) else { return false };
        open.handles = open.handles.saturating_sub(1);
        let closes = open.handles == 0;
        if closes && let Some(open) = told.spans.remove(&span.into_u64()) {
            told.lines.push(format!("closes span {}", open.name));
        }
        closes
    }

    fn current_span(&self) -> Current {
        let mut told = lock(&self.told);
        let last = told.here().and_then(|inside| inside.last().copied());
        match last.and_then(|id| Some((id, told.spans.get(&id)?.metadata))) {
            Some((id, metadata)) => Current::new(Id::from_u64(id), metadata),
            None => Current::none(),
        }
    }
}

fn braced(fields: &str) -> String {
    if fields.is_empty() { String::new() } else { format!("{{{fields}}}") }
}

/// The fields as `name=value`, the message without its name. A value whose code panics is told as that.
fn written(record: impl Fn(&mut dyn Visit)) -> String {
    struct Shown<F>(F);
    impl<F: Fn(&mut dyn Visit)> fmt::Display for Shown<F> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let mut fields = Fields { text: String::new() };
            (self.0)(&mut fields);
            f.write_str(&fields.text)
        }
    }
    Text::Display(&Shown(record)).written()
}

struct Fields {
    text: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        // Writing into a text has no errors but those of the value itself.
        let _ = match field.name() {
            "message" => write!(self.text, "{value:?}"),
            name => write!(self.text, "{name}={value:?}"),
        };
    }
}
