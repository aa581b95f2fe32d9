//! What an execution shows of its state: what its events told so far, worker by worker.

use std::collections::BTreeMap;

use dally_core::{Event, Heat, Item, MessageId, Trace, Transition, WorkerId};
use serde::{Deserialize, Serialize};

/// What is known of the state of an execution by its events.
///
/// Nothing of it depends on how the state was reached: it is the states of machines, what waits in
/// inboxes, who waits for what and who is gone, and the states of monitors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// The workers by their ids.
    pub workers: BTreeMap<WorkerId, Worker>,
    /// The monitors that have told their states, by their names.
    pub monitors: BTreeMap<String, MonitorState>,
}

/// What is known of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// What it is, such as a machine type; empty as long as that is not known.
    pub name: String,
    /// The stack of its states, the top last.
    pub states: Vec<String>,
    /// The messages that wait for it, the oldest first, with what they carry.
    pub inbox: Vec<(MessageId, String)>,
    /// What it waits for since its last step.
    pub waits: Option<String>,
    /// Whether it is there.
    pub life: Life,
}

/// Whether a worker is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Life {
    /// It is.
    #[default]
    There,
    /// It has halted.
    Halted,
    /// It has crashed and may come back.
    Crashed,
}

/// The state of a monitor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorState {
    /// Its name.
    pub state: String,
    /// Whether it is hot or cold.
    pub heat: Heat,
}

impl Picture {
    /// The picture at the end of a trace.
    pub fn of(trace: &Trace) -> Picture {
        let mut picture = Picture::default();
        for (&worker, name) in &trace.names {
            picture.name(worker, name);
        }
        for step in &trace.steps {
            picture.step(step.worker);
            for item in &step.items {
                if let Item::Event(event) = item {
                    picture.event(step.worker, event.clone());
                }
            }
        }
        picture
    }

    /// Gives a worker its name.
    pub fn name(&mut self, worker: WorkerId, name: &str) {
        name.clone_into(&mut self.at(worker).name);
    }

    /// This worker begins a step.
    pub fn step(&mut self, worker: WorkerId) {
        self.at(worker).waits = None;
    }

    /// Something happens in a step of `me`.
    pub fn event(&mut self, me: WorkerId, event: Event<String>) {
        match event {
            Event::Created { worker, name } => {
                *self.at(worker) = Worker { name, ..Worker::default() };
            }
            Event::Sent { message, to, payload } => self.at(to).inbox.push((message, payload)),
            Event::Duplicated { message, copy } => {
                let holds = |worker: &&mut Worker| worker.inbox.iter().any(|one| one.0 == message);
                if let Some(worker) = self.workers.values_mut().find(holds)
                    && let Some(sent) = worker.inbox.iter().find(|one| one.0 == message)
                {
                    let payload = sent.1.clone();
                    worker.inbox.push((copy, payload));
                }
            }
            Event::Received { message, .. } => self.at(me).inbox.retain(|one| one.0 != message),
            Event::Discarded { message, .. } => {
                for worker in self.workers.values_mut() {
                    worker.inbox.retain(|one| one.0 != message);
                }
            }
            Event::Changed { how, to } => change(&mut self.at(me).states, how, to),
            Event::Enabled { worker } => self.at(worker).waits = None,
            Event::Blocked { on } => self.at(me).waits = Some(on),
            Event::Halted { worker } => self.leave(worker, Life::Halted),
            Event::Crashed { worker } => self.leave(worker, Life::Crashed),
            Event::Restarted { worker } => self.leave(worker, Life::There),
            Event::MonitorChanged { monitor, to, heat } => {
                self.monitors.insert(monitor, MonitorState { state: to, heat });
            }
            _ => {}
        }
    }

    fn leave(&mut self, worker: WorkerId, life: Life) {
        let worker = self.at(worker);
        (worker.life, worker.waits) = (life, None);
        worker.states.clear();
    }

    /// The workers whose names are not known.
    pub fn unnamed(&self) -> impl Iterator<Item = WorkerId> + '_ {
        self.workers.iter().filter(|(_, worker)| worker.name.is_empty()).map(|(&id, _)| id)
    }

    fn at(&mut self, worker: WorkerId) -> &mut Worker {
        self.workers.entry(worker).or_default()
    }
}

fn change(states: &mut Vec<String>, how: Transition, to: String) {
    match how {
        Transition::Start => states.clear(),
        Transition::Goto => drop(states.pop()),
        Transition::Push => {}
        Transition::Pop => {
            states.pop();
            if states.pop().as_ref() != Some(&to) {
                states.clear();
            }
        }
    }
    states.push(to);
}
