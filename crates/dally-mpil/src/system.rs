//! One live execution of a program.

use std::fmt;
use std::sync::Arc;

use dally_concolic::Int;
use dally_core::bug::Uncontrolled;
use dally_core::{
    Access, Bug, Captured, Env, Event, EventSink, Fingerprint, Footprint, MessageId, Observe,
    Problem, Resource, Status, Stop, System, Text, Wait, Waiting, WorkerId, fingerprint,
};

use crate::code::{Code, Statement};
use crate::execute::{Pause, Running};

/// An execution: the set-up first, then steps of processes from one `receive` to the next, and when
/// nobody can step any more the check at the end.
#[derive(Clone, Debug)]
pub struct MpilSystem {
    code: Arc<Code>,
    phase: Phase,
    shared: triomphe::Arc<Vec<Int>>,
    processes: Vec<triomphe::Arc<Process>>,
    enabled: Vec<WorkerId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    New,
    Running,
    Ended,
}

/// A process: where it stands, what it knows and what waits for it.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    at: Pause,
    pub(crate) variables: Vec<Int>,
    /// Sorted by id, so that the order of arrivals from different senders leaves no trace.
    inbox: Vec<Message>,
    sent: u32,
    /// How many messages it has taken.
    steps: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) id: MessageId,
    pub(crate) values: Vec<Int>,
}

/// Values for the reader of a trace.
pub(crate) struct Shown<'a>(pub(crate) &'a [Int]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, value) in self.0.iter().enumerate() {
            write!(f, "{}{value}", if place == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl MpilSystem {
    pub(crate) fn new(code: Arc<Code>) -> MpilSystem {
        let process = |&(family, index): &(usize, i64)| {
            let family = &code.families[family];
            let mut variables = vec![Int::default(); family.body.size];
            if family.indexed {
                variables[0] = Int::from(index);
            }
            triomphe::Arc::new(Process {
                at: Pause::Receive(0),
                variables,
                inbox: Vec::new(),
                sent: 0,
                steps: 0,
            })
        };
        MpilSystem {
            processes: code.processes.iter().map(process).collect(),
            shared: triomphe::Arc::new(vec![Int::default(); code.setup.size]),
            phase: Phase::New,
            enabled: vec![Code::program()],
            code,
        }
    }

    /// The messages that a process can take now, by their positions.
    fn candidates(&self, process: usize, out: &mut Vec<usize>) {
        out.clear();
        let inbox = &self.processes[process].inbox;
        let first_of_sender =
            |place: usize| place == 0 || inbox[place - 1].id.sender != inbox[place].id.sender;
        out.extend((0..inbox.len()).filter(|&place| !self.code.fifo || first_of_sender(place)));
    }

    fn can_step(&self, process: usize) -> bool {
        let process = &self.processes[process];
        matches!(process.at, Pause::Receive(_)) && !process.inbox.is_empty()
    }

    /// Whether a process waits although nothing will come.
    fn waits(&self, process: usize) -> bool {
        let Pause::Receive(position) = self.processes[process].at else { return false };
        !matches!(
            self.code.body_of(process).statements.get(position),
            Some(Statement::Receive(_, true))
        )
    }

    fn set_up(&mut self, events: &mut EventSink<'_>) -> Result<(), Stop> {
        let code = self.code.clone();
        for process in 0..self.processes.len() {
            let (worker, name) = (code.workers[process], Text::Str(&code.names[process]));
            events.tell(|| Event::Created { worker, name })?;
        }
        let mut outbox = Vec::new();
        let mut sent = 0;
        let mut shared = self.shared.to_vec();
        Running {
            code: &code,
            body: &code.setup,
            own: &mut shared,
            shared: &[],
            processes: &[],
            worker: Code::program(),
            process: None,
            sent: &mut sent,
            outbox: &mut outbox,
            events: &mut *events,
        }
        .run(0)?;
        self.shared = triomphe::Arc::new(shared);
        for process in 0..self.processes.len() {
            self.run(process, 0, None, &mut outbox, events)?;
        }
        self.phase = Phase::Running;
        self.deliver(outbox);
        Ok(())
    }

    /// Runs a process from a position, or from after its `receive` with this message.
    fn run(
        &mut self,
        process: usize,
        position: usize,
        message: Option<&Message>,
        outbox: &mut Vec<(usize, Message)>,
        events: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let running = triomphe::Arc::make_mut(&mut self.processes[process]);
        let mut step = Running {
            code: &self.code,
            body: self.code.body_of(process),
            own: &mut running.variables,
            shared: &self.shared,
            processes: &[],
            worker: self.code.workers[process],
            process: Some(process),
            sent: &mut running.sent,
            outbox,
            events,
        };
        let next = match message {
            None => position,
            Some(message) => {
                step.receive(position, message)?;
                position + 1
            }
        };
        running.at = step.run(next)?;
        Ok(())
    }

    /// Puts messages into inboxes. Whom that wakes is not told: the message alone orders the steps.
    fn deliver(&mut self, outbox: Vec<(usize, Message)>) {
        for (to, message) in outbox {
            let receiver = triomphe::Arc::make_mut(&mut self.processes[to]);
            let place = receiver.inbox.partition_point(|known| known.id < message.id);
            receiver.inbox.insert(place, message);
        }
        self.enabled.clear();
        for process in 0..self.processes.len() {
            if self.can_step(process) {
                self.enabled.push(self.code.workers[process]);
            }
        }
        let quiet = self.enabled.is_empty() && self.phase == Phase::Running;
        if quiet && !(0..self.processes.len()).any(|process| self.waits(process)) {
            if self.code.finally.is_some() {
                self.enabled.push(Code::program());
            } else {
                self.phase = Phase::Ended;
            }
        }
    }

    fn finish(&mut self, events: &mut EventSink<'_>) -> Result<(), Stop> {
        // What it finds is left by the last steps of all processes, and it cannot come before them.
        for (&worker, known) in self.code.workers.iter().zip(&self.processes) {
            let access = Access::write(last_step(worker, known));
            events.tell(|| Event::Accessed { access, what: Text::Str("") })?;
        }
        self.phase = Phase::Ended;
        self.enabled.clear();
        let code = self.code.clone();
        let Some(body) = &code.finally else { return Ok(()) };
        Running {
            code: &code,
            body,
            own: &mut vec![Int::default(); body.size],
            shared: &self.shared,
            processes: &self.processes,
            worker: Code::program(),
            process: None,
            sent: &mut 0,
            outbox: &mut Vec::new(),
            events,
        }
        .run(0)?;
        Ok(())
    }

    fn macro_step(&mut self, process: usize, events: &mut EventSink<'_>) -> Result<(), Stop> {
        let Pause::Receive(position) = self.processes[process].at else { return Ok(()) };
        let mut candidates = Vec::new();
        self.candidates(process, &mut candidates);
        let inbox = &self.processes[process].inbox;
        let chosen = match &candidates[..] {
            [only] => *only,
            several => {
                let ids: Vec<MessageId> = several.iter().map(|&place| inbox[place].id).collect();
                several[events.delivery(&ids)?]
            }
        };
        let message = triomphe::Arc::make_mut(&mut self.processes[process]).inbox.remove(chosen);
        let payload = Shown(&message.values);
        events
            .tell(|| Event::Received { message: message.id, payload: Text::Display(&payload) })?;
        let mut outbox = Vec::new();
        self.run(process, position, Some(&message), &mut outbox, events)?;
        let running = triomphe::Arc::make_mut(&mut self.processes[process]);
        running.steps += 1;
        if self.code.finally.is_some() {
            let access = Access::read(last_step(self.code.workers[process], running));
            events.tell(|| Event::Accessed { access, what: Text::Str("") })?;
        }
        self.deliver(outbox);
        Ok(())
    }
}

/// What orders the check at the end after the last step of a process. It is like a message from one
/// to the other, so there is no other order to try.
fn last_step(worker: WorkerId, known: &Process) -> Resource {
    let number = u32::MAX - known.steps;
    Resource::Message(MessageId { sender: worker, number })
}

impl System for MpilSystem {
    fn enabled(&self) -> &[WorkerId] {
        &self.enabled
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let events = &mut EventSink::new(env);
        if !self.enabled.contains(&worker) {
            let problem = Problem::Uncontrolled(Uncontrolled::NotEnabled);
            return Err(Bug::new(problem).in_step_of(worker).into());
        }
        match (self.code.process_of(worker), self.phase) {
            (Some(process), _) => self.macro_step(process, events),
            (None, Phase::New) => self.set_up(events),
            (None, _) => self.finish(events),
        }
    }

    fn status(&self) -> Status {
        if !self.enabled.is_empty() {
            return Status::Running;
        }
        let waiting: Vec<Waiting> = (0..self.processes.len())
            .filter(|&process| self.waits(process))
            .map(|process| Waiting {
                worker: self.code.workers[process],
                name: self.code.names[process].clone(),
                on: vec![Wait {
                    operation: "receive".to_owned(),
                    payload: Vec::new(),
                    object: None,
                    place: None,
                }],
                woken_outside: false,
            })
            .collect();
        if waiting.is_empty() { Status::Done } else { Status::Stuck(waiting) }
    }

    fn keeps_order_of_senders(&self) -> bool {
        self.code.fifo
    }

    /// A process looks at its mailbox first; what follows is not known.
    fn pending(&self, worker: WorkerId, out: &mut Footprint) {
        out.begin_unknown(worker);
        out.add(match self.code.process_of(worker) {
            Some(_) => Access::read(Resource::Inbox(worker)),
            None => Access::update(Resource::Execution),
        });
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        Some(Fingerprint(fingerprint::of_bytes(&bytes)))
    }

    fn observe(&self, how: Observe) -> Option<u64> {
        let parts =
            self.processes.iter().zip(&self.code.processes).map(|(process, (family, _))| {
                let mut bytes = vec![*family as u8];
                for message in &process.inbox {
                    bytes.extend(
                        message.values.iter().flat_map(|value| value.shown().to_le_bytes()),
                    );
                    bytes.push(0xff);
                }
                if how == Observe::Control {
                    bytes.extend(encoded(process.at).to_le_bytes());
                }
                fingerprint::of_bytes(&bytes)
            });
        Some(parts.fold(self.phase as u64, u64::wrapping_add))
    }

    fn name(&self, worker: WorkerId) -> String {
        match self.code.process_of(worker) {
            Some(process) => self.code.names[process].clone(),
            None => "program".to_owned(),
        }
    }
}

fn encoded(at: Pause) -> u64 {
    match at {
        Pause::Receive(position) => position as u64,
        Pause::Ended => u64::MAX,
    }
}

impl Captured for MpilSystem {
    fn encode(&self, out: &mut Vec<u8>) {
        let values = |values: &[Int], out: &mut Vec<u8>| {
            out.extend((values.len() as u64).to_le_bytes());
            out.extend(values.iter().flat_map(|value| value.shown().to_le_bytes()));
        };
        out.push(self.phase as u8);
        values(&self.shared, out);
        for process in &self.processes {
            out.extend(encoded(process.at).to_le_bytes());
            out.extend(process.sent.to_le_bytes());
            out.extend(process.steps.to_le_bytes());
            values(&process.variables, out);
            out.extend((process.inbox.len() as u64).to_le_bytes());
            for message in &process.inbox {
                out.extend(message.id.sender.to_bits().to_le_bytes());
                out.extend(message.id.number.to_le_bytes());
                values(&message.values, out);
            }
        }
    }

    fn fork(&self) -> MpilSystem {
        self.clone()
    }

    fn footprint(&self) -> usize {
        size_of_val(self) + self.processes.len() * 200
    }

    fn restore_from(&mut self, saved: &MpilSystem) {
        self.clone_from(saved);
    }
}
