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

use crate::strategy::{EndSchedule, Point};

/// For each chain, how many of its steps a step follows from.
type Past = Vec<u32>;

/// A step that can be taken now or later.
#[derive(Clone, Debug)]
struct Pending {
    chain: usize,
    /// How many steps came up before it.
    number: u64,
    past: Past,
}

/// The lowest priority of chains that have not fallen.
const HIGH: u64 = 1 << 32;

/// The pending steps of a schedule, each in a chain with a priority.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chains {
    partition: Partition,
    workers: FxHashMap<WorkerId, Standing>,
    inboxes: FxHashMap<WorkerId, Vec<(MessageId, Pending)>>,
    /// The worker in whose inbox a message is.
    receivers: FxHashMap<MessageId, WorkerId>,
    stepping: Option<(WorkerId, Past)>,
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

#[derive(Clone, Debug, Default)]
struct Standing {
    /// What its next step follows from, if that is not a receipt.
    past: Past,
    next: Option<Pending>,
}

impl Chains {
    /// Starts over, with `d` falls among the first `length` steps.
    pub(crate) fn begin(&mut self, d: u32, length: u64, rng: &mut Rng) {
        self.mailbox = self.learnt;
        self.partition.clear();
        self.workers.clear();
        self.inboxes.clear();
        self.receivers.clear();
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
            let steps = point.enabled.iter().filter_map(|&w| Some((w, self.next(w)?)));
            let highest = steps.max_by_key(|(_, step)| self.partition.priority(step));
            let (worker, step) = highest.ok_or(EndSchedule::Cut)?;
            let (chain, turn) = (step.chain, step.number);
            let number = number(worker, turn, self.fallen.contains(&turn));
            let fall = number.and_then(|number| self.falls.iter().position(|&at| at == number));
            let Some(level) = fall else {
                self.stepping = Some((worker, step.past.clone()));
                self.chose = false;
                return Ok(worker);
            };
            // The chain falls once, below all that have not fallen.
            self.falls[level] = u64::MAX;
            self.fallen.push(turn);
            self.partition.chains[chain].priority = level as u64;
        }
    }

    /// Adds the steps that the last step has brought up.
    fn catch_up(&mut self, point: &Point<'_>, rng: &mut Rng) {
        if let Some((worker, past)) = self.stepping.take() {
            self.workers.insert(worker, Standing { past: past.clone(), next: None });
            // The worker's own next step, if it has one, continues the chain.
            if worker.place_in(point.enabled).is_ok() {
                self.bring_up(worker, point, rng);
            }
            for (message, to) in std::mem::take(&mut self.sent) {
                let pending = self.pending(past.clone(), rng);
                self.receivers.insert(message, to);
                self.inboxes.entry(to).or_default().push((message, pending));
            }
            for started in std::mem::take(&mut self.started) {
                self.workers.insert(started, Standing { past: past.clone(), next: None });
            }
        }
        for &worker in point.enabled {
            self.bring_up(worker, point, rng);
        }
    }

    /// The position of the message whose chain has the highest priority.
    pub(crate) fn delivery(&mut self, candidates: &[MessageId]) -> usize {
        if candidates.len() > 1 {
            (self.mailbox, self.chose) = (Mailbox::Unordered, true);
        }
        let inbox = self.stepping.as_ref().and_then(|(worker, _)| self.inboxes.get(worker));
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
                if let Some(to) = sent.or_else(|| self.receivers.get(&message).copied()) {
                    self.sent.push((copy, to));
                }
            }
            Event::Received { message, .. } => {
                if !self.chose && self.waits_with_others(message) {
                    self.mailbox = self.mailbox.max(Mailbox::Queue);
                }
                if let Some(pending) = self.take(message)
                    && let Some((_, past)) = &mut self.stepping
                {
                    *past = pending.past;
                }
            }
            Event::Discarded { message, .. } => {
                self.take(message);
            }
            Event::Created { worker, .. } | Event::TimerSet { timer: worker, .. } => {
                self.started.push(worker);
            }
            _ => {}
        }
    }

    /// Whether messages of other senders wait in the inbox of this one.
    fn waits_with_others(&self, message: MessageId) -> bool {
        let inbox = self.receivers.get(&message).and_then(|to| self.inboxes.get(to));
        inbox.is_some_and(|inbox| inbox.iter().any(|(other, _)| other.sender != message.sender))
    }

    /// Takes a message out of its inbox. The strategy need not have picked the receiver.
    fn take(&mut self, message: MessageId) -> Option<Pending> {
        self.sent.retain(|sent| sent.0 != message);
        let inbox = self.inboxes.get_mut(&self.receivers.remove(&message)?)?;
        let place = inbox.iter().position(|(known, _)| *known == message)?;
        Some(inbox.remove(place).1)
    }

    /// The next step of an enabled worker: to receive the first message of a queue or, if the inbox
    /// is no queue, the one of the highest priority.
    fn next(&self, worker: WorkerId) -> Option<&Pending> {
        self.workers.get(&worker)?.next.as_ref().or_else(|| {
            let inbox = self.inboxes.get(&worker)?;
            if self.mailbox != Mailbox::Unordered {
                return inbox.first().map(|(_, step)| step);
            }
            let steps = inbox.iter().rev().map(|(_, step)| step);
            steps.max_by_key(|step| self.partition.priority(step))
        })
    }

    /// Makes a next step for an enabled worker that has none.
    fn bring_up(&mut self, worker: WorkerId, point: &Point<'_>, rng: &mut Rng) {
        let standing = self.workers.entry(worker).or_default();
        if standing.next.is_some() {
            return;
        }
        let past = standing.past.clone();
        if self.inboxes.get(&worker).is_some_and(|inbox| !inbox.is_empty()) {
            point.system.pending(worker, &mut self.touched);
            if self.touched.receives() {
                return;
            }
        }
        let next = Some(self.pending(past.clone(), rng));
        self.workers.insert(worker, Standing { past, next });
    }

    fn pending(&mut self, past: Past, rng: &mut Rng) -> Pending {
        let number = self.count;
        self.count += 1;
        self.partition.add(past, number, rng)
    }
}

/// An online partition of a growing order into chains: Agarwal and Garg, "Efficient dependency
/// tracking for relevant events in shared-memory systems" (PODC 2005), Figure 4. It makes at most
/// `w (w + 1) / 2` chains of an order of width `w`.
#[derive(Clone, Debug, Default)]
struct Partition {
    chains: Vec<Chain>,
    /// The `i`-th set has at most `i + 1` chains.
    sets: Vec<Vec<usize>>,
}

#[derive(Clone, Copy, Debug)]
struct Chain {
    length: u32,
    priority: u64,
}

impl Partition {
    fn clear(&mut self) {
        self.chains.clear();
        self.sets.clear();
    }

    fn priority(&self, step: &Pending) -> u64 {
        self.chains[step.chain].priority
    }

    /// Adds a maximal step that follows from `past`.
    fn add(&mut self, mut past: Past, number: u64, rng: &mut Rng) -> Pending {
        let (set, chain) = self.place(&past, rng);
        if set > 0 {
            // This set and the one below exchange their chains, all but `chain`.
            self.sets[set].retain(|&other| other != chain);
            let (low, high) = self.sets.split_at_mut(set);
            std::mem::swap(&mut low[set - 1], &mut high[0]);
            high[0].push(chain);
        }
        self.chains[chain].length += 1;
        past.resize(past.len().max(chain + 1), 0);
        past[chain] = self.chains[chain].length;
        Pending { chain, number, past }
    }

    /// The chain that the step continues, in the lowest set that has one: a chain whose last step
    /// is in the past, or a new one if the set has room.
    fn place(&mut self, past: &Past, rng: &mut Rng) -> (usize, usize) {
        for (index, set) in self.sets.iter().enumerate() {
            let goes_on = |&&chain: &&usize| {
                past.get(chain).is_some_and(|&known| known == self.chains[chain].length)
            };
            if let Some(&chain) = set.iter().find(goes_on) {
                return (index, chain);
            }
            if set.len() <= index {
                return (index, self.open(index, rng));
            }
        }
        self.sets.push(Vec::new());
        (self.sets.len() - 1, self.open(self.sets.len() - 1, rng))
    }

    fn open(&mut self, set: usize, rng: &mut Rng) -> usize {
        self.chains.push(Chain { length: 0, priority: rng.u64(HIGH..) });
        self.sets[set].push(self.chains.len() - 1);
        self.chains.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A forest: the parent of each element, or nothing.
    fn random_forest(rng: &mut Rng, size: usize) -> Vec<Option<usize>> {
        let parent = |at: usize, rng: &mut Rng| {
            (at > 0 && rng.u8(..6) > 0).then(|| rng.usize(at.saturating_sub(4)..at))
        };
        (0..size).map(|at| parent(at, rng)).collect()
    }

    fn is_below(forest: &[Option<usize>], low: usize, mut high: usize) -> bool {
        while let Some(parent) = forest[high] {
            if parent == low {
                return true;
            }
            high = parent;
        }
        false
    }

    /// The width: the largest set of elements none of which follows from another, by brute force.
    fn width(forest: &[Option<usize>]) -> usize {
        let apart = |a: usize, b: usize| !is_below(forest, a, b) && !is_below(forest, b, a);
        (0u32..1 << forest.len())
            .filter(|set| {
                let members: Vec<usize> =
                    (0..forest.len()).filter(|at| set >> at & 1 == 1).collect();
                members.iter().all(|&a| members.iter().all(|&b| a == b || apart(a, b)))
            })
            .map(|set| set.count_ones() as usize)
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn chains_are_chains_and_not_many_more_than_the_width() {
        let mut rng = Rng::with_seed(1);
        for _ in 0..200 {
            let forest = random_forest(&mut rng, 12);
            let mut partition = Partition::default();
            let mut pending: Vec<Pending> = Vec::new();
            let mut lasts: Vec<usize> = Vec::new();
            for (at, parent) in forest.iter().enumerate() {
                let past = parent.map_or_else(Past::new, |parent| pending[parent].past.clone());
                let step = partition.add(past, at as u64, &mut rng);
                match lasts.get_mut(step.chain) {
                    None => lasts.push(at),
                    Some(last) => {
                        assert!(is_below(&forest, *last, at), "{forest:?}: {last} then {at}");
                        *last = at;
                    }
                }
                pending.push(step);
            }
            let width = width(&forest);
            let chains = partition.chains.len();
            assert!(chains <= width * (width + 1) / 2, "{forest:?}: {chains} for {width}");
        }
    }
}
