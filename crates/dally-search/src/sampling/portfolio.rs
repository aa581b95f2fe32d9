//! Several strategies that share the schedules.

use dally_core::{Event, MessageId, System, Tag, Text, WorkerId, fingerprint};
use rustc_hash::FxHashSet;

use crate::strategy::{Lesson, Outcome, Point, Strategy};

/// Several strategies that share the schedules: no strategy dominates the others, so a budget is
/// safest when it is spread.
///
/// Every second schedule, and all of the first batch, go to the members in turn; the others go to
/// those that have lately brought most new observations of last states, in proportion. So each
/// of `k` members has at least one schedule in `2 k`, and its share of one in `k` while all bring
/// as much. A portfolio that spreads evenly needs at most `k` times as many schedules as its best
/// member, on average.
///
/// Shares change only when a batch is over, and a member has a run of its own: its schedules are
/// numbered without those of the others, and it learns from them alone.
#[derive(Clone)]
pub struct Portfolio {
    members: Vec<Member>,
    /// Whose turn it is to have the next schedule that goes round.
    turn: usize,
    /// The first schedule of the present batch, and whom its schedules go to, as far as known: a
    /// member, and the number of the schedule among its own.
    first: u64,
    batch: Vec<(usize, u64)>,
    current: usize,
    /// Observations of last states.
    known: FxHashSet<u64>,
    /// The outcomes of one member, while it is told of them.
    share: Vec<Outcome>,
}

#[derive(Clone)]
struct Member {
    strategy: Box<dyn Strategy>,
    /// How many schedules it has been given.
    given: u64,
    /// Its schedules and those of them with new observations; older ones count for less.
    ran: u64,
    new: u64,
    /// What it is owed of the schedules that do not go round.
    owed: f64,
}

/// When so many schedules have been counted, all counts are halved.
const COUNTED: u64 = 512;

/// More observations than this are not told apart: then nothing is new, and shares are even.
const MAX_KNOWN: usize = 1 << 18;

impl Portfolio {
    /// These members, in this order. Without members there is nothing to try.
    pub fn new(members: Vec<Box<dyn Strategy>>) -> Portfolio {
        let members = members.into_iter().map(|strategy| Member {
            strategy,
            given: 0,
            ran: 0,
            new: 0,
            owed: 0.0,
        });
        Portfolio {
            members: members.collect(),
            turn: 0,
            first: 0,
            batch: Vec::new(),
            current: 0,
            known: FxHashSet::default(),
            share: Vec::new(),
        }
    }

    fn member(&mut self) -> Option<&mut Box<dyn Strategy>> {
        self.members.get_mut(self.current).map(|member| &mut member.strategy)
    }

    /// Decides whom the schedules of this batch go to, up to the `place`-th.
    fn give(&mut self, place: usize) {
        // One more schedule than ran counts as new, so that no share is 0 and all start even.
        let rate = |member: &Member| (member.new + 1) as f64 / (member.ran + 1) as f64;
        let total: f64 = self.members.iter().map(rate).sum();
        while self.batch.len() <= place {
            let goes_round = self.first == 0 || self.batch.len().is_multiple_of(2);
            let member = if goes_round {
                self.turn = (self.turn + 1) % self.members.len();
                (self.turn + self.members.len() - 1) % self.members.len()
            } else {
                self.members.iter_mut().for_each(|member| member.owed += rate(member) / total);
                let owed = |&a: &usize, &b: &usize| {
                    self.members[a].owed.total_cmp(&self.members[b].owed).then(b.cmp(&a))
                };
                let most = (0..self.members.len()).max_by(owed).unwrap_or(0);
                self.members[most].owed -= 1.0;
                most
            };
            let given = &mut self.members[member].given;
            self.batch.push((member, *given));
            *given += 1;
        }
    }
}

impl Strategy for Portfolio {
    fn name(&self) -> String {
        let names: Vec<String> = self.members.iter().map(|member| member.strategy.name()).collect();
        format!("portfolio({})", names.join(", "))
    }

    /// Each member has a seed of its own: with the same one, random and IRS would run the same
    /// schedules.
    fn reseed(&mut self, seed: u64) {
        for (index, member) in (0..).zip(&mut self.members) {
            member.strategy.reseed(fingerprint::mix(seed, index));
        }
    }

    /// `false` as soon as one member is exhausted: it has then tried everything alone.
    fn begin(&mut self, schedule: u64) -> bool {
        if self.members.is_empty() {
            return false;
        }
        let place = schedule.saturating_sub(self.first) as usize;
        self.give(place);
        let (member, number) = self.batch[place];
        self.current = member;
        self.members[member].strategy.begin(number)
    }

    fn worker(&mut self, point: &Point<'_>) -> Option<WorkerId> {
        self.member()?.worker(point)
    }

    fn value(&mut self, of: u32, tag: Tag) -> Option<u32> {
        self.member()?.value(of, tag)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Option<usize> {
        self.member()?.delivery(candidates)
    }

    fn listens(&self) -> bool {
        self.members.get(self.current).is_some_and(|member| member.strategy.listens())
    }

    fn heard(&mut self, event: &Event<Text<'_>>) {
        if let Some(member) = self.member() {
            member.heard(event);
        }
    }

    fn end(&mut self, last: Option<&dyn System>) -> Option<Lesson> {
        self.member()?.end(last)
    }

    fn learn(&mut self, batch: &[Outcome]) {
        let Some(last) = batch.last().filter(|_| !self.members.is_empty()) else { return };
        self.give(last.schedule.saturating_sub(self.first) as usize);
        let place = |outcome: &Outcome| outcome.schedule.saturating_sub(self.first) as usize;
        if self.members.iter().map(|member| member.ran).sum::<u64>() >= COUNTED {
            for member in &mut self.members {
                member.ran /= 2;
                member.new /= 2;
            }
        }
        for outcome in batch {
            let (member, _) = self.batch[place(outcome)];
            let new = self.known.len() < MAX_KNOWN && self.known.insert(outcome.observation);
            self.members[member].ran += 1;
            self.members[member].new += u64::from(new);
        }
        for (index, member) in self.members.iter_mut().enumerate() {
            self.share.clear();
            let own = batch.iter().filter(|outcome| self.batch[place(outcome)].0 == index);
            self.share.extend(own.cloned().map(|outcome| {
                let (_, schedule) = self.batch[place(&outcome)];
                Outcome { schedule, ..outcome }
            }));
            member.strategy.learn(&self.share);
        }
        self.first = last.schedule + 1;
        self.batch.clear();
    }

    /// What the members are told must not be late for any of them: each has its share of a batch.
    fn batch(&self) -> u64 {
        let members = self.members.len().max(1) as u64;
        let smallest = self.members.iter().map(|member| member.strategy.batch()).min();
        smallest.unwrap_or(1).saturating_mul(members).min(1_024)
    }

    /// What the first member that can keep something has learnt.
    fn learned(&self) -> Option<Vec<u8>> {
        self.members.iter().find_map(|member| member.strategy.learned())
    }

    fn recall(&mut self, learned: &[u8]) -> bool {
        self.members.iter_mut().any(|member| member.strategy.recall(learned))
    }

    fn is_fair(&self) -> bool {
        self.members.get(self.current).is_some_and(|member| member.strategy.is_fair())
    }

    fn is_sequential(&self) -> bool {
        self.members.iter().any(|member| member.strategy.is_sequential())
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}
