//! The steps of an execution as chains: what follows from what, and priorities for each chain.
//!
//! A step follows from one other: the receipt of a message from its sending, the first step of a
//! worker from its creation, a timer's firing from its being set, every other step from the step
//! of its worker before. That a worker handles one message after another is no order between the
//! messages, unless they wait in a queue: then what is received is the first, and that is what the
//! receiver's priority is about. A *chain* is a sequence of steps in which each follows from the one before, at
//! however many removes.

use dally_core::{Event, Footprint, MessageId, Text, WorkerId};
use fastrand::Rng;
use rustc_hash::FxHashMap;

use crate::strategy::Point;

/// Of each chain, how many of its steps a step follows from.
type Past = Vec<u32>;

/// A step that can be taken now or later.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) chain: usize,
    /// The how many-th step it is that came up, from 0.
    pub(crate) number: u64,
    past: Past,
}

/// Priorities of chains that have not fallen are from here up.
const HIGH: u64 = 1 << 32;

/// The pending steps of a schedule, each in a chain with a priority.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chains {
    partition: Partition,
    /// Sorted by worker.
    workers: Vec<(WorkerId, Standing)>,
    inboxes: FxHashMap<WorkerId, Vec<(MessageId, Pending)>>,
    /// Whose inbox a message is in.
    receivers: FxHashMap<MessageId, WorkerId>,
    /// The step under way.
    stepping: Option<(WorkerId, Past)>,
    /// What it has sent, created and set.
    sent: Vec<(MessageId, WorkerId)>,
    started: Vec<WorkerId>,
    count: u64,
    mailbox: Mailbox,
    /// Whether the present step had messages to choose from.
    chose: bool,
    /// What a step touches.
    touched: Footprint,
}

/// What is known of the order in which messages are received; what comes later says more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Mailbox {
    /// Nothing: messages of different senders never waited together.
    #[default]
    Unknown,
    /// That in which they were sent: there was nothing to choose where there could have been.
    Queue,
    /// Others too.
    Unordered,
}

impl Mailbox {
    /// As one word of a lesson.
    pub(crate) fn to_bits(self) -> u64 {
        self as u64
    }

    pub(crate) fn from_bits(bits: u64) -> Mailbox {
        match bits {
            0 => Mailbox::Unknown,
            1 => Mailbox::Queue,
            _ => Mailbox::Unordered,
        }
    }
}

/// Where a worker stands.
#[derive(Clone, Debug, Default)]
struct Standing {
    /// What its next step follows from, if that is not a receipt.
    past: Past,
    next: Option<Pending>,
}

impl Chains {
    /// Starts over, with what is known of mailboxes.
    pub(crate) fn clear(&mut self, mailbox: Mailbox) {
        self.mailbox = mailbox;
        self.partition.clear();
        self.workers.clear();
        self.inboxes.clear();
        self.receivers.clear();
        self.stepping = None;
        self.sent.clear();
        self.started.clear();
        self.count = 0;
    }

    /// How many steps have come up.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// What is known of mailboxes by now.
    pub(crate) fn mailbox(&self) -> Mailbox {
        self.mailbox
    }

    /// Takes note of what the last step has brought up. To be called before a step is chosen.
    pub(crate) fn catch_up(&mut self, point: &Point<'_>, rng: &mut Rng) {
        if let Some((worker, past)) = self.stepping.take() {
            let place = self.standing(worker);
            self.workers[place].1 = Standing { past: past.clone(), next: None };
            // What the worker itself does next goes on with its chain, if anything does.
            if worker.place_in(point.enabled).is_ok() {
                self.bring_up(worker, point, rng);
            }
            for (message, to) in std::mem::take(&mut self.sent) {
                let pending = self.pending(past.clone(), rng);
                self.receivers.insert(message, to);
                self.inboxes.entry(to).or_default().push((message, pending));
            }
            for started in std::mem::take(&mut self.started) {
                let place = self.standing(started);
                self.workers[place].1 = Standing { past: past.clone(), next: None };
            }
        }
        for &worker in point.enabled {
            self.bring_up(worker, point, rng);
        }
    }

    /// The enabled worker whose next step has the chain of the highest priority, and that step.
    pub(crate) fn highest(&self, point: &Point<'_>) -> Option<(WorkerId, &Pending)> {
        let steps = point.enabled.iter().filter_map(|&worker| Some((worker, self.next(worker)?)));
        steps.max_by_key(|(_, step)| self.partition.chains[step.chain].priority)
    }

    /// The chain falls below all that have not fallen, to this level.
    pub(crate) fn lower(&mut self, chain: usize, level: u64) {
        self.partition.chains[chain].priority = level;
    }

    /// `worker` takes its next step.
    pub(crate) fn step(&mut self, worker: WorkerId) {
        let past = self.next(worker).map(|step| step.past.clone()).unwrap_or_default();
        self.stepping = Some((worker, past));
        self.chose = false;
    }

    /// The position of the message whose chain has the highest priority.
    pub(crate) fn delivery(&mut self, candidates: &[MessageId]) -> usize {
        if candidates.len() > 1 {
            (self.mailbox, self.chose) = (Mailbox::Unordered, true);
        }
        let inbox = self.stepping.as_ref().and_then(|(worker, _)| self.inboxes.get(worker));
        let priority = |message: &MessageId| {
            let pending = inbox?.iter().find(|(known, _)| known == message)?;
            Some(self.partition.chains[pending.1.chain].priority)
        };
        // The first of equals: messages of one chain come in their order.
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

    /// Whether messages of other senders are in the inbox that this one is in.
    fn waits_with_others(&self, message: MessageId) -> bool {
        let inbox = self.receivers.get(&message).and_then(|to| self.inboxes.get(to));
        inbox.is_some_and(|inbox| inbox.iter().any(|(other, _)| other.sender != message.sender))
    }

    /// Takes a message out of its inbox. Not every step was chosen by the strategy, so it need not
    /// be that of the worker that was to step.
    fn take(&mut self, message: MessageId) -> Option<Pending> {
        self.sent.retain(|sent| sent.0 != message);
        let inbox = self.inboxes.get_mut(&self.receivers.remove(&message)?)?;
        let place = inbox.iter().position(|(known, _)| *known == message)?;
        Some(inbox.remove(place).1)
    }

    /// What an enabled worker does next. One that receives takes the first message of its inbox,
    /// or, if that is no queue, the most urgent one.
    fn next(&self, worker: WorkerId) -> Option<&Pending> {
        let place = self.workers.binary_search_by_key(&worker, |entry| entry.0).ok()?;
        self.workers[place].1.next.as_ref().or_else(|| {
            let inbox = self.inboxes.get(&worker)?;
            if self.mailbox != Mailbox::Unordered {
                return inbox.first().map(|(_, step)| step);
            }
            let priority = |step: &&Pending| self.partition.chains[step.chain].priority;
            inbox.iter().rev().map(|(_, step)| step).max_by_key(priority)
        })
    }

    /// Sees to it that an enabled worker has a next step.
    fn bring_up(&mut self, worker: WorkerId, point: &Point<'_>, rng: &mut Rng) {
        let place = self.standing(worker);
        if self.workers[place].1.next.is_some() {
            return;
        }
        if self.inboxes.get(&worker).is_some_and(|inbox| !inbox.is_empty()) {
            point.system.pending(worker, &mut self.touched);
            if self.touched.receives() {
                return;
            }
        }
        let past = self.workers[place].1.past.clone();
        self.workers[place].1.next = Some(self.pending(past, rng));
    }

    fn pending(&mut self, past: Past, rng: &mut Rng) -> Pending {
        let number = self.count;
        self.count += 1;
        self.partition.add(past, number, rng)
    }

    fn standing(&mut self, worker: WorkerId) -> usize {
        self.workers.binary_search_by_key(&worker, |entry| entry.0).unwrap_or_else(|place| {
            self.workers.insert(place, (worker, Standing::default()));
            place
        })
    }
}

/// A partition into chains of an order that grows upwards, made online: Agarwal and Garg,
/// "Efficient dependency tracking for relevant events in shared-memory systems" (PODC 2005),
/// Figure 4. Of an order of width `w` it makes at most `w (w + 1) / 2` chains.
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

    /// Adds a maximal step that follows from what `past` says.
    fn add(&mut self, mut past: Past, number: u64, rng: &mut Rng) -> Pending {
        let (set, chain) = self.place(&past, rng);
        if set > 0 {
            // The set below gets the others of this one, and this one all of those and the chain.
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

    /// The chain that the step continues: one of the lowest set that has room for a new chain, or
    /// a chain whose last step is in the past.
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
