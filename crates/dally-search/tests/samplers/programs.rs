//! Programs made of scripts, whose operations say what they touch.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dally_core::{
    Access, Bug, Env, Event, Footprint, MessageId, ObjectId, Observe, Program, Resource, Status,
    Stop, System, Text, WorkerId, fingerprint,
};
use dally_search::{Options, Report, Strategy, run};

/// One operation of a worker, one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Do {
    /// Something of its own.
    Local,
    /// Writes to an object.
    Write(u32),
    /// Reads an object.
    Read(u32),
    /// Starts the worker that runs this script.
    Spawn(usize),
    /// Sends to the worker that runs this script.
    Send(usize),
    /// Waits for a message and takes the first.
    Receive,
    /// Waits for a message and takes any of those that are there.
    Any,
}

/// Worker `i` runs script `i`; those that no script spawns are there from the start.
#[derive(Clone, Debug)]
pub struct Scripts {
    scripts: Vec<Vec<Do>>,
    parents: Vec<Option<usize>>,
    ids: Vec<WorkerId>,
    /// Who took the steps of executions that came to their ends; for [`Do::Any`] it is
    /// [`any_of`] the sender.
    pub ended: Arc<Mutex<Vec<Vec<usize>>>>,
}

/// The step that takes a message of this sender out of its turn.
pub fn any_of(sender: usize) -> usize {
    100 + sender
}

impl Scripts {
    pub fn new(scripts: &[&[Do]]) -> Scripts {
        let mut parents = vec![None; scripts.len()];
        let mut ids: Vec<WorkerId> = (0..scripts.len()).map(|n| WorkerId::root(n as u32)).collect();
        for (parent, script) in scripts.iter().enumerate() {
            let spawns = script.iter().filter_map(|&op| match op {
                Do::Spawn(child) => Some(child),
                _ => None,
            });
            for (n, child) in (0..).zip(spawns) {
                parents[child] = Some(parent);
                // Scripts are spawned by scripts before them.
                ids[child] = ids[parent].child(n);
            }
        }
        let scripts = scripts.iter().map(|script| script.to_vec()).collect();
        Scripts { scripts, parents, ids, ended: Arc::default() }
    }

    /// How many workers there are.
    #[allow(dead_code, reason = "not all tests that share this file ask for it")]
    pub fn len(&self) -> usize {
        self.scripts.len()
    }

    /// The operations of a worker.
    pub fn script(&self, worker: usize) -> &[Do] {
        &self.scripts[worker]
    }

    /// How often each interleaving comes in so many schedules of a strategy, those of the first
    /// batch, from which it learns, left out.
    pub fn sample(&self, strategy: Box<dyn Strategy>, schedules: u64) -> BTreeMap<Vec<usize>, u64> {
        const FIRST_BATCH: u64 = 16;
        self.ended.lock().unwrap().clear();
        let options = Options {
            strategy,
            schedules: schedules + FIRST_BATCH,
            seed: 7,
            repeat_check: false,
            ..Options::default()
        };
        let report: Report = run(Arc::new(self.clone()), options, Arc::new(()));
        assert_eq!(report.schedules, schedules + FIRST_BATCH);
        let mut counts = BTreeMap::new();
        for word in self.ended.lock().unwrap().iter().skip(FIRST_BATCH as usize) {
            *counts.entry(word.clone()).or_default() += 1;
        }
        assert_eq!(counts.values().sum::<u64>(), schedules);
        counts
    }

    /// All interleavings, by brute force.
    pub fn all(&self) -> Vec<Vec<usize>> {
        let mut all = Vec::new();
        go_on(&self.start().unwrap(), &mut all);
        all
    }
}

fn go_on(live: &Live, all: &mut Vec<Vec<usize>>) {
    if live.enabled.is_empty() {
        all.push(live.word.clone());
    }
    for &worker in &live.enabled {
        let mut next = live.clone();
        next.take(worker, 0);
        go_on(&next, all);
    }
}

/// One live execution.
#[derive(Clone)]
pub struct Live {
    program: Scripts,
    /// How far each worker is, if it has been started.
    at: Vec<Option<usize>>,
    sent: Vec<u32>,
    inboxes: Vec<Vec<MessageId>>,
    enabled: Vec<WorkerId>,
    word: Vec<usize>,
}

impl Program for Scripts {
    type System = Live;

    fn start(&self) -> Result<Live, Bug> {
        let at = self.parents.iter().map(|parent| parent.is_none().then_some(0)).collect();
        let mut live = Live {
            program: self.clone(),
            at,
            sent: vec![0; self.scripts.len()],
            inboxes: vec![Vec::new(); self.scripts.len()],
            enabled: Vec::new(),
            word: Vec::new(),
        };
        live.refresh();
        Ok(live)
    }

    fn granularity(&self) -> &'static str {
        "one operation"
    }
}

impl Live {
    fn index(&self, worker: WorkerId) -> usize {
        self.program.ids.iter().position(|&id| id == worker).expect("a worker of the program")
    }

    fn next(&self, index: usize) -> Option<Do> {
        self.program.scripts[index].get(self.at[index]?).copied()
    }

    fn next_message(&self, index: usize) -> MessageId {
        MessageId { sender: self.program.ids[index], number: self.sent[index] }
    }

    fn refresh(&mut self) {
        let can = |&index: &usize| match self.next(index) {
            Some(Do::Receive | Do::Any) => !self.inboxes[index].is_empty(),
            next => next.is_some(),
        };
        let mut enabled: Vec<WorkerId> =
            (0..self.at.len()).filter(can).map(|index| self.program.ids[index]).collect();
        enabled.sort();
        self.enabled = enabled;
    }

    /// Takes a step; answers it with the message that it was about, which was at this place.
    fn take(&mut self, worker: WorkerId, place: usize) -> (Do, Option<MessageId>) {
        let index = self.index(worker);
        let op = self.next(index).expect("an enabled worker has an operation");
        let mut message = None;
        match op {
            Do::Spawn(child) => self.at[child] = Some(0),
            Do::Send(to) => {
                message = Some(self.next_message(index));
                self.sent[index] += 1;
                self.inboxes[to].extend(message);
            }
            Do::Receive | Do::Any => message = Some(self.inboxes[index].remove(place)),
            Do::Local | Do::Write(_) | Do::Read(_) => {}
        }
        self.at[index] = self.at[index].map(|at| at + 1);
        let sender = message.filter(|_| op == Do::Any).map(|message| self.index(message.sender));
        self.word.push(sender.map_or(index, any_of));
        self.refresh();
        (op, message)
    }
}

fn object(number: u32) -> Resource {
    Resource::Object(ObjectId { creator: WorkerId::root(0), number })
}

impl System for Live {
    fn enabled(&self) -> &[WorkerId] {
        &self.enabled
    }

    fn pending(&self, worker: WorkerId, out: &mut Footprint) {
        out.begin(worker);
        let index = self.index(worker);
        match self.next(index) {
            None => out.leave_open(),
            Some(Do::Local) => {}
            Some(Do::Write(number)) => out.add(Access::write(object(number))),
            Some(Do::Read(number)) => out.add(Access::read(object(number))),
            Some(Do::Spawn(child)) => {
                out.add(Access::write(Resource::Life(self.program.ids[child])));
            }
            Some(Do::Send(to)) => out.sends(self.next_message(index), self.program.ids[to]),
            Some(op @ (Do::Receive | Do::Any)) => {
                let any = op == Do::Any;
                for &message in self.inboxes[index].iter().take(if any { usize::MAX } else { 1 }) {
                    out.add(Access::update(Resource::Message(message)));
                }
                if any {
                    out.add(Access::read(Resource::Inbox(worker)));
                }
            }
        }
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let inbox = &self.inboxes[self.index(worker)];
        let place = match self.next(self.index(worker)) {
            Some(Do::Any) if inbox.len() > 1 => env.delivery(inbox)?,
            _ => 0,
        };
        let (op, message) = self.take(worker, place);
        let nothing = Text::Str("");
        match (op, message) {
            (Do::Spawn(child), _) => {
                env.event(Event::Created { worker: self.program.ids[child], name: nothing })?;
            }
            (Do::Send(to), Some(message)) => {
                let to = self.program.ids[to];
                env.event(Event::Sent { message, to, payload: nothing })?;
            }
            (Do::Receive | Do::Any, Some(message)) => {
                env.event(Event::Received { message, payload: nothing })?;
            }
            (Do::Write(number), _) => {
                env.event(Event::Accessed {
                    access: Access::write(object(number)),
                    what: nothing,
                })?;
            }
            (Do::Read(number), _) => {
                env.event(Event::Accessed { access: Access::read(object(number)), what: nothing })?;
            }
            _ => {}
        }
        if self.enabled.is_empty() {
            self.program.ended.lock().unwrap().push(self.word.clone());
        }
        Ok(())
    }

    fn status(&self) -> Status {
        if self.enabled.is_empty() { Status::Done } else { Status::Running }
    }

    fn observe(&self, _how: Observe) -> Option<u64> {
        Some(
            self.at
                .iter()
                .fold(0, |hash, at| fingerprint::mix(hash, at.map_or(0, |at| at as u64 + 1))),
        )
    }

    fn name(&self, worker: WorkerId) -> String {
        format!("script {worker}")
    }
}
