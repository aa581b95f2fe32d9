//! The steps of an execution as chains: what follows from what, and priorities for each chain.
//!
//! A step follows from one other: the receipt of a message from its sending, the first step of a
//! worker from its creation, a timer's firing from its being set, every other step from the step of
//! its worker before. The messages that a worker handles one after another are not ordered by that,
//! unless they wait in a queue: then the first is received, with the receiver's priority. In a
//! *chain* of steps each follows from the one before, directly or not.

use dally_core::{Event, Footprint, MessageId, Text, WorkerId};
use fastrand::Rng;
use rustc_hash::FxHashMap;

use super::partition::{Partition, Past, Pending};
use crate::strategy::{EndSchedule, Point};

/// The pending steps of a schedule, each in a chain with a priority.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chains {
    partition: Partition,
    places: FxHashMap<WorkerId, usize>,
    /// Those of this schedule are as many as `places`; more are kept for their memory.
    standings: Vec<WorkerRecord>,
    /// The enabled workers with their places, and those of the step before.
    enabled: Vec<(WorkerId, usize)>,
    before: Vec<(WorkerId, usize)>,
    stepping: Option<Stepping>,
    /// What the step under way has sent and, in `started`, created or set.
    sent: Vec<(MessageId, WorkerId)>,
    started: Vec<WorkerId>,
    count: u64,
    /// The numbers of steps at which chains fall; the index is the priority they fall to.
    falls: Vec<u64>,
    /// The steps at which chains fell.
    fallen: Vec<u64>,
    mailbox: Mailbox,
    /// What earlier schedules have shown of mailboxes.
    learnt: Mailbox,
    /// Whether the present step had messages to choose from.
    chose: bool,
    touched: Footprint,
}

/// What is known of the order in which messages are received; a later variant says more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
enum Mailbox {
    /// Messages of different senders never waited together.
    #[default]
    Unknown,
    /// The order in which they were sent: there was no choice where there could have been one.
    Queue,
    /// Other orders too.
    Unordered,
}

impl Mailbox {
    fn from_bits(bits: u64) -> Mailbox {
        match bits {
            0 => Mailbox::Unknown,
            1 => Mailbox::Queue,
            _ => Mailbox::Unordered,
        }
    }
}

/// What is known of a worker.
#[derive(Clone, Debug, Default)]
struct WorkerRecord {
    /// What its next step follows from, if that is not a receipt.
    past: Past,
    next: Option<Pending>,
    /// Whether its next step is a receipt, as far as it is known and as long as the worker is enabled.
    receives: bool,
    inbox: Vec<(MessageId, Pending)>,
}

/// The step under way.
#[derive(Clone, Copy, Debug)]
struct Stepping {
    worker: WorkerId,
    place: usize,
    past: Past,
}

impl Chains {
    /// Starts over, with `d` falls among the first `length` steps.
    pub(crate) fn begin(&mut self, d: u32, length: u64, rng: &mut Rng) {
        self.mailbox = self.learnt;
        self.partition.clear();
        self.places.clear();
        self.enabled.clear();
        self.stepping = None;
        self.sent.clear();
        self.started.clear();
        self.count = 0;
        self.falls.clear();
        self.falls.extend((0..d).map(|_| rng.u64(..length)));
        self.fallen.clear();
    }

    /// How many steps have come up, and what is known of mailboxes by now.
    pub(crate) fn lesson(&self) -> [u64; 2] {
        [self.count, self.mailbox as u64]
    }

    pub(crate) fn learn(&mut self, mailbox: u64) {
        self.learnt = self.learnt.max(Mailbox::from_bits(mailbox));
    }

    /// What earlier schedules have shown of mailboxes, for [`Chains::learn`].
    pub(crate) fn learnt(&self) -> u64 {
        self.learnt as u64
    }

    /// Picks the enabled worker whose next step has the chain of the highest priority. A step at
    /// which its chain falls is compared again. `number` numbers the steps at which a chain can
    /// fall: it gets the worker, how many steps came up before, and whether this one has fallen.
    pub(crate) fn pick(
        &mut self,
        point: &Point<'_>,
        rng: &mut Rng,
        mut number: impl FnMut(WorkerId, u64, bool) -> Option<u64>,
    ) -> Result<WorkerId, EndSchedule> {
        self.catch_up(point, rng);
        loop {
            let places = self.enabled.iter();
            let steps = places.filter_map(|&(w, place)| Some((w, place, self.next(place)?)));
            let highest = steps.max_by_key(|(.., step)| self.partition.priority(step));
            let (worker, place, &Pending { chain, number: turn, past }) =
                highest.ok_or(EndSchedule::Cut)?;
            let number = number(worker, turn, self.fallen.contains(&turn));
            let fall = number.and_then(|number| self.falls.iter().position(|&at| at == number));
            let Some(level) = fall else {
                self.stepping = Some(Stepping { worker, place, past });
                self.chose = false;
                return Ok(worker);
            };
            // The chain falls once, below all that have not fallen.
            self.falls[level] = u64::MAX;
            self.fallen.push(turn);
            self.partition.set_priority(chain, level as u64);
        }
    }

    /// The place of a worker, which may be new.
    fn place(&mut self, worker: WorkerId) -> usize {
        let new = self.places.len();
        let place = *self.places.entry(worker).or_insert(new);
        if place == new {
            match self.standings.get_mut(new) {
                Some(WorkerRecord { past, next, receives, inbox }) => {
                    (*past, *next, *receives) = (Past::default(), None, false);
                    inbox.clear();
                }
                None => self.standings.push(WorkerRecord::default()),
            }
        }
        place
    }

    /// Adds the steps that the last step has brought up.
    fn catch_up(&mut self, point: &Point<'_>, rng: &mut Rng) {
        if self.partition.is_crowded() {
            self.forget();
        }
        let lasts = point.system.pending_lasts();
        let restarted = !self.started.is_empty();
        if let Some(Stepping { worker, place, past }) = self.stepping.take() {
            let standing = &mut self.standings[place];
            (standing.past, standing.next, standing.receives) = (past, None, false);
            // The worker's own next step, if it has one, continues the chain.
            if worker.place_in(point.enabled).is_ok() {
                self.bring_up(worker, place, point, rng);
            }
            for at in 0..self.sent.len() {
                let (message, to) = self.sent[at];
                let pending = self.pending(past, rng);
                let to = self.place(to);
                self.standings[to].inbox.push((message, pending));
            }
            self.sent.clear();
            for at in 0..self.started.len() {
                let started = self.place(self.started[at]);
                let standing = &mut self.standings[started];
                (standing.past, standing.next, standing.receives) = (past, None, false);
            }
            self.started.clear();
        }
        // Both are sorted, and most workers were enabled before and have their next steps.
        let mut same = 0;
        if lasts && !restarted {
            let both = self.enabled.iter().zip(point.enabled);
            same = both.take_while(|(before, worker)| before.0 == **worker).count();
        }
        self.before.clear();
        self.before.extend_from_slice(&self.enabled[same..]);
        self.enabled.truncate(same);
        let mut at = 0;
        for &worker in &point.enabled[same..] {
            while self.before.get(at).is_some_and(|before| before.0 < worker) {
                at += 1;
            }
            let place = match self.before.get(at) {
                Some(&(known, place)) if known == worker => {
                    self.standings[place].receives &= lasts;
                    place
                }
                _ => {
                    let place = self.place(worker);
                    self.standings[place].receives = false;
                    place
                }
            };
            self.enabled.push((worker, place));
            self.bring_up(worker, place, point, rng);
        }
    }

    /// Drops the pasts of steps that nobody needs any more.
    #[cold]
    fn forget(&mut self) {
        let standings = &mut self.standings[..self.places.len()];
        let pasts = standings.iter_mut().flat_map(|WorkerRecord { past, next, inbox, .. }| {
            let inbox = inbox.iter_mut().map(|(_, pending)| &mut pending.past);
            inbox.chain(next.as_mut().map(|pending| &mut pending.past)).chain([past])
        });
        self.partition.keep(pasts.chain(self.stepping.as_mut().map(|step| &mut step.past)));
    }

    /// The position of the message whose chain has the highest priority.
    pub(crate) fn delivery(&mut self, candidates: &[MessageId]) -> usize {
        if candidates.len() > 1 {
            (self.mailbox, self.chose) = (Mailbox::Unordered, true);
        }
        let inbox = self.stepping.map(|Stepping { place, .. }| &self.standings[place].inbox);
        let priority = |message: &MessageId| {
            let pending = inbox?.iter().find(|(known, _)| known == message)?;
            Some(self.partition.priority(&pending.1))
        };
        // The first of equals, so that messages of one chain come in their order.
        (0..candidates.len()).rev().max_by_key(|&at| priority(&candidates[at])).unwrap_or(0)
    }

    pub(crate) fn heard(&mut self, event: &Event<Text<'_>>) {
        match *event {
            Event::Sent { message, to, .. } => self.sent.push((message, to)),
            Event::Duplicated { message, copy } => {
                let sent = self.sent.iter().find(|sent| sent.0 == message).map(|sent| sent.1);
                if let Some(to) = sent.or_else(|| self.receiver(message)) {
                    self.sent.push((copy, to));
                }
            }
            Event::Received { message, .. } => {
                let Some((place, at)) = self.locate(message) else {
                    return self.sent.retain(|sent| sent.0 != message);
                };
                let inbox = &mut self.standings[place].inbox;
                let others = |(other, _): &(MessageId, _)| other.sender != message.sender;
                if !self.chose && inbox.iter().any(others) {
                    self.mailbox = self.mailbox.max(Mailbox::Queue);
                }
                let (_, pending) = inbox.remove(at);
                if let Some(step) = &mut self.stepping {
                    step.past = pending.past;
                }
            }
            Event::Discarded { message, .. } => match self.locate(message) {
                Some((place, at)) => {
                    self.standings[place].inbox.remove(at);
                }
                None => self.sent.retain(|sent| sent.0 != message),
            },
            Event::Created { worker, .. } | Event::TimerSet { timer: worker, .. } => {
                self.started.push(worker);
            }
            _ => {}
        }
    }

    /// The place of the worker in whose inbox a message is, and that of the message there. Most are
    /// received, or dropped, by the worker that steps.
    fn locate(&self, message: MessageId) -> Option<(usize, usize)> {
        let within = |place: usize| {
            let mut inbox = self.standings[place].inbox.iter();
            inbox.position(|(known, _)| *known == message).map(|at| (place, at))
        };
        let own = self.stepping.and_then(|step| within(step.place));
        own.or_else(|| match self.sent.iter().any(|sent| sent.0 == message) {
            true => None,
            false => (0..self.places.len()).find_map(within),
        })
    }

    fn receiver(&self, message: MessageId) -> Option<WorkerId> {
        let (place, _) = self.locate(message)?;
        self.places.iter().find(|known| *known.1 == place).map(|known| *known.0)
    }

    /// The next step of an enabled worker: to receive the first message of a queue or, if the inbox
    /// is no queue, the one of the highest priority.
    fn next(&self, place: usize) -> Option<&Pending> {
        let WorkerRecord { next, inbox, .. } = &self.standings[place];
        next.as_ref().or_else(|| {
            if self.mailbox != Mailbox::Unordered {
                return inbox.first().map(|(_, step)| step);
            }
            let steps = inbox.iter().rev().map(|(_, step)| step);
            steps.max_by_key(|step| self.partition.priority(step))
        })
    }

    /// Makes a next step for an enabled worker that has none.
    fn bring_up(&mut self, worker: WorkerId, place: usize, point: &Point<'_>, rng: &mut Rng) {
        let WorkerRecord { past, next, receives, inbox } = &mut self.standings[place];
        if next.is_some() || *receives {
            return;
        }
        let past = *past;
        if !inbox.is_empty() {
            point.system.pending(worker, &mut self.touched);
            *receives = self.touched.receives();
            if *receives {
                return;
            }
        }
        let next = Some(self.pending(past, rng));
        self.standings[place].next = next;
    }

    fn pending(&mut self, past: Past, rng: &mut Rng) -> Pending {
        let number = self.count;
        self.count += 1;
        self.partition.add(past, number, rng)
    }
}
