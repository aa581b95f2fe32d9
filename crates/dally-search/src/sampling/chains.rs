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

/// For each chain, how many of its steps a step follows from: a range of [`Partition::numbers`],
/// since every step hands its past on to several others.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    start: usize,
    length: usize,
}

/// A step that can be taken now or later.
#[derive(Clone, Copy, Debug)]
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
    places: FxHashMap<WorkerId, usize>,
    /// Those of this schedule are as many as `places`; more are kept for their memory.
    standings: Vec<Standing>,
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
struct Standing {
    /// What its next step follows from, if that is not a receipt.
    past: Past,
    next: Option<Pending>,
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
            self.partition.chains[chain].priority = level as u64;
        }
    }

    /// The place of a worker, which may be new.
    fn place(&mut self, worker: WorkerId) -> usize {
        let new = self.places.len();
        let place = *self.places.entry(worker).or_insert(new);
        if place == new {
            match self.standings.get_mut(new) {
                Some(Standing { past, next, inbox }) => {
                    (*past, *next) = (Past::default(), None);
                    inbox.clear();
                }
                None => self.standings.push(Standing::default()),
            }
        }
        place
    }

    /// Adds the steps that the last step has brought up.
    fn catch_up(&mut self, point: &Point<'_>, rng: &mut Rng) {
        if self.partition.is_crowded() {
            self.forget();
        }
        if let Some(Stepping { worker, place, past }) = self.stepping.take() {
            let standing = &mut self.standings[place];
            (standing.past, standing.next) = (past, None);
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
                (standing.past, standing.next) = (past, None);
            }
            self.started.clear();
        }
        std::mem::swap(&mut self.enabled, &mut self.before);
        self.enabled.clear();
        // Both are sorted, and most workers were enabled before.
        let mut at = 0;
        for &worker in point.enabled {
            while self.before.get(at).is_some_and(|before| before.0 < worker) {
                at += 1;
            }
            let place = match self.before.get(at) {
                Some(&(known, place)) if known == worker => place,
                _ => self.place(worker),
            };
            self.enabled.push((worker, place));
            self.bring_up(worker, place, point, rng);
        }
    }

    /// Drops the pasts of steps that nobody needs any more.
    #[cold]
    fn forget(&mut self) {
        let standings = &mut self.standings[..self.places.len()];
        let pasts = standings.iter_mut().flat_map(|Standing { past, next, inbox }| {
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
        let Standing { next, inbox, .. } = &self.standings[place];
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
        let Standing { past, next, inbox } = &self.standings[place];
        if next.is_some() {
            return;
        }
        let past = *past;
        if !inbox.is_empty() {
            point.system.pending(worker, &mut self.touched);
            if self.touched.receives() {
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

/// An online partition of a growing order into chains: Agarwal and Garg, "Efficient dependency
/// tracking for relevant events in shared-memory systems" (PODC 2005), Figure 4. It makes at most
/// `w (w + 1) / 2` chains of an order of width `w`.
#[derive(Clone, Debug, Default)]
struct Partition {
    chains: Vec<Chain>,
    /// The `i`-th set has at most `i + 1` chains.
    sets: Vec<Vec<usize>>,
    /// The pasts of steps, one after another.
    numbers: Vec<u32>,
    /// How many of them were needed when that was last looked at.
    needed: usize,
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
        self.numbers.clear();
        self.needed = 0;
    }

    /// Whether most of the pasts are likely to be those of steps long taken.
    fn is_crowded(&self) -> bool {
        self.numbers.len() > (4 * self.needed).max(1 << 16)
    }

    /// Keeps these pasts alone.
    fn keep<'p>(&mut self, pasts: impl Iterator<Item = &'p mut Past>) {
        let all = std::mem::take(&mut self.numbers);
        for past in pasts {
            let start = self.numbers.len();
            self.numbers.extend_from_slice(&all[past.start..][..past.length]);
            past.start = start;
        }
        self.needed = self.numbers.len();
    }

    fn priority(&self, step: &Pending) -> u64 {
        self.chains[step.chain].priority
    }

    /// Adds a maximal step that follows from `past`.
    fn add(&mut self, past: Past, number: u64, rng: &mut Rng) -> Pending {
        let (set, chain) = self.place(past, rng);
        if set > 0 {
            // This set and the one below exchange their chains, all but `chain`.
            self.sets[set].retain(|&other| other != chain);
            let (low, high) = self.sets.split_at_mut(set);
            std::mem::swap(&mut low[set - 1], &mut high[0]);
            high[0].push(chain);
        }
        self.chains[chain].length += 1;
        let (start, length) = (self.numbers.len(), past.length.max(chain + 1));
        self.numbers.extend_from_within(past.start..past.start + past.length);
        self.numbers.resize(start + length, 0);
        self.numbers[start + chain] = self.chains[chain].length;
        Pending { chain, number, past: Past { start, length } }
    }

    /// The chain that the step continues, in the lowest set that has one: a chain whose last step
    /// is in the past, or a new one if the set has room.
    fn place(&mut self, past: Past, rng: &mut Rng) -> (usize, usize) {
        let past = &self.numbers[past.start..past.start + past.length];
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
                let past = parent.map_or_else(Past::default, |parent| pending[parent].past);
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
