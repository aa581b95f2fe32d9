//! States that are marked, and how one differs from another.

use std::collections::BTreeSet;

use dally_core::{Choice, WorkerId};

use super::{Session, picture};
use crate::picture::{Life, Picture, Worker};

/// The name of the present state where marked states are named.
pub(super) const HERE: &str = "here";

impl Session {
    pub(super) fn marked(&self, name: &str) -> Result<Vec<Choice>, String> {
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

    pub(super) fn compare(&self, one: &str, other: &str) -> Result<Vec<String>, String> {
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

/// How one picture differs from another, a line for each worker and monitor.
fn differences(one: &Picture, other: &Picture) -> Vec<String> {
    let none = Worker::default();
    let mut lines = Vec::new();
    let ids = one.workers.keys().chain(other.workers.keys());
    let ids: BTreeSet<WorkerId> = ids.copied().collect();
    for id in ids {
        let [a, b] = [one, other].map(|picture| picture.workers.get(&id).unwrap_or(&none));
        let [before, after] = [a, b].map(described);
        if before != after {
            let name = if b.name.is_empty() { &a.name } else { &b.name };
            lines.push(format!("  {}: {before} -> {after}", named(id, name)));
        }
    }
    let monitors = one.monitors.keys().chain(other.monitors.keys());
    let monitors: BTreeSet<&String> = monitors.collect();
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
