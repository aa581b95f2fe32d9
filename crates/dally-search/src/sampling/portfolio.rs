//! Several strategies that share the schedules.

use std::cmp::Ordering;

use dally_core::{Event, Input, MessageId, System, Tag, Text, WorkerId, fingerprint};
use rustc_hash::FxHashSet;

use crate::learning::words;
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties, Strategy};

/// Several strategies that share the schedules, since none is the best for all programs.
///
/// Schedules come in rounds, and each of `k` members has one schedule in every round. So **the
/// `i`-th schedule of every member is schedule `k i` of the portfolio at the latest**. A member
/// draws as it would alone, except that batches, after which it learns, end elsewhere. So the
/// portfolio needs at most about `k` times the schedules of its best member, and fewer where
/// several find the bug. Members that have lately brought most new observations of last states come
/// first in their round: a larger share for them would break that bound.
///
/// The order changes only when a batch is over, and a member has a run of its own: its schedules
/// are numbered without those of the others, and it learns from them alone.
#[derive(Clone, Default)]
pub struct Portfolio {
    members: Vec<Member>,
    /// The members that have had no schedule in the present round, the next one last.
    round: Vec<usize>,
    /// The first schedule of the present batch, and, in `batch`, for each of its schedules the
    /// member and the number of the schedule among its own.
    first: u64,
    batch: Vec<(usize, u64)>,
    current: usize,
    /// The observations of last states so far.
    known: FxHashSet<u64>,
    /// The outcomes of the member that learns. Kept for its memory.
    share: Vec<Outcome>,
}

#[derive(Clone)]
struct Member {
    strategy: Box<dyn Strategy>,
    given: u64,
    /// Its schedules and, in `new`, those of them with new observations; older ones count for less.
    ran: u64,
    new: u64,
}

impl Member {
    /// Compares the shares of new observations, plus one each, so that members start even.
    fn novelty(&self, other: &Member) -> Ordering {
        ((self.new + 1) * (other.ran + 1)).cmp(&((other.new + 1) * (self.ran + 1)))
    }
}

/// When the members together have so many schedules, their counts are halved.
const COUNTED: u64 = 512;

/// More observations than this are not told apart: then none is new, and the order stays.
const MAX_KNOWN: usize = 1 << 18;

impl Portfolio {
    /// These members, in this order until one brings more new observations.
    pub fn new(members: Vec<Box<dyn Strategy>>) -> Portfolio {
        let members =
            members.into_iter().map(|strategy| Member { strategy, given: 0, ran: 0, new: 0 });
        Portfolio { members: members.collect(), ..Portfolio::default() }
    }

    fn member(&mut self) -> &mut dyn Strategy {
        &mut *self.members[self.current].strategy
    }

    /// Gives the schedules of this batch, up to the `place`-th, to members.
    fn give(&mut self, place: usize) {
        while self.batch.len() <= place {
            if self.round.is_empty() {
                let Portfolio { round, members, .. } = self;
                round.extend(0..members.len());
                round.sort_by(|&a, &b| members[a].novelty(&members[b]).then(b.cmp(&a)));
            }
            let Some(next) = self.round.pop() else { return };
            let given = &mut self.members[next].given;
            self.batch.push((next, *given));
            *given += 1;
        }
    }
}

impl Strategy for Portfolio {
    fn name(&self) -> String {
        let names: Vec<String> = self.members.iter().map(|member| member.strategy.name()).collect();
        format!("portfolio({})", names.join(", "))
    }

    /// Members get different seeds: by the same one, random and IRS would run the same schedules.
    fn reseed(&mut self, seed: u64) {
        for (index, member) in (0..).zip(&mut self.members) {
            member.strategy.reseed(fingerprint::mix(seed, index));
        }
    }

    fn start_at(&mut self, first: u64) {
        self.first = first;
    }

    /// `false` as soon as one member is exhausted: it has tried everything.
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

    /// Its member.
    fn group(&mut self, schedule: u64) -> usize {
        let place = schedule.saturating_sub(self.first) as usize;
        self.give(place);
        self.batch.get(place).map_or(0, |given| given.0)
    }

    #[inline]
    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        self.member().worker(point)
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        self.member().value(of, tag)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, EndSchedule> {
        self.member().delivery(candidates)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        self.member().input(asked)
    }

    /// The present member's, but batches suit all members, and one sequential member makes all so.
    fn properties(&self) -> Properties {
        let all = || self.members.iter().map(|member| member.strategy.properties());
        let smallest = all().map(|properties| properties.batch).min().unwrap_or(1);
        Properties {
            sequential: all().any(|properties| properties.sequential),
            draws_alike: false,
            batch: smallest.saturating_mul(self.members.len().max(1) as u64).min(1_024),
            ..all().nth(self.current).unwrap_or_default()
        }
    }

    fn heard(&mut self, event: &Event<Text<'_>>) {
        self.member().heard(event);
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for Portfolio {
    fn lesson(&mut self, last: Option<&dyn System>) -> Option<Lesson> {
        self.member().learner()?.lesson(last)
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
            if let Some(learner) = member.strategy.learner() {
                learner.learn(&self.share);
            }
        }
        self.first = last.schedule + 1;
        self.batch.clear();
    }

    /// The members that have had no schedule in the present round, the observations that are known, then for each
    /// member its schedules and what it has learnt.
    fn learned(&mut self) -> Option<Vec<u8>> {
        let left = self.round.iter().map(|&member| member as u64);
        let mut known: Vec<u64> = self.known.iter().copied().collect();
        known.sort_unstable();
        let head = [self.members.len(), self.round.len(), known.len()].map(|count| count as u64);
        let mut out = words::written(head.into_iter().chain(left).chain(known));
        for Member { strategy, given, ran, new } in &mut self.members {
            let learned = match strategy.learner() {
                Some(learner) => learner.learned()?,
                None => Vec::new(),
            };
            out.extend(words::written([*given, *ran, *new, learned.len() as u64]));
            out.extend(learned);
        }
        Some(out)
    }

    fn recall(&mut self, learned: &[u8]) -> bool {
        let Some(recalled) = self.recalled(&mut Words(learned)) else { return false };
        *self = recalled;
        true
    }
}

impl Portfolio {
    /// This portfolio as it was when it wrote these words.
    fn recalled(&self, words: &mut Words<'_>) -> Option<Portfolio> {
        let mut members = self.members.clone();
        let [all, left, known] = [words.next()?, words.next()?, words.next()?];
        if all != members.len() as u64 || left > all {
            return None;
        }
        let round = (0..left).map(|_| usize::try_from(words.next()?).ok());
        let round = round.collect::<Option<Vec<usize>>>()?;
        let again = |at: usize| round[..at].contains(&round[at]) || round[at] >= members.len();
        if (0..round.len()).any(again) {
            return None;
        }
        let known = (0..known).map(|_| words.next()).collect::<Option<FxHashSet<u64>>>()?;
        for Member { strategy, given, ran, new } in &mut members {
            [*given, *ran, *new] = [words.next()?, words.next()?, words.next()?];
            let length = words.next()?;
            let learned = words.bytes(length)?;
            let whole = match strategy.learner() {
                Some(learner) => learner.recall(learned),
                None => learned.is_empty(),
            };
            // Products of these are compared.
            (whole && *ran <= u64::from(u32::MAX) && *new <= *ran).then_some(())?;
            strategy.start_at(*given);
        }
        words.0.is_empty().then(|| Portfolio { members, round, known, ..Portfolio::default() })
    }
}

/// What is left to be read of what was learnt.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<u64> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*word))
    }

    fn bytes(&mut self, count: u64) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[derive(Clone)]
    struct Idle;

    impl Strategy for Idle {
        fn begin(&mut self, _schedule: u64) -> bool {
            true
        }
        fn worker(&mut self, _point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
            Err(EndSchedule::Cut)
        }
        fn value(&mut self, _of: u32, _tag: Tag) -> Result<u32, EndSchedule> {
            Err(EndSchedule::Cut)
        }
    }

    fn portfolio(members: usize) -> Portfolio {
        Portfolio::new((0..members).map(|_| Box::new(Idle) as Box<dyn Strategy>).collect())
    }

    /// Runs a batch and returns the member of each schedule; `shows` gives its observation.
    fn batch(
        portfolio: &mut Portfolio,
        first: u64,
        size: u64,
        mut shows: impl FnMut(usize, u64) -> u64,
    ) -> Vec<usize> {
        let mut whose = Vec::new();
        let mut outcomes = Vec::new();
        for schedule in first..first + size {
            assert!(portfolio.begin(schedule));
            whose.push(portfolio.current);
            let observation = shows(portfolio.current, schedule);
            outcomes.push(Outcome { schedule, observation, ..Outcome::default() });
        }
        portfolio.learn(&outcomes);
        whose
    }

    #[test]
    fn the_ith_schedule_of_each_of_k_members_is_schedule_k_i_at_the_latest() {
        let mut rng = Rng::with_seed(1);
        for _ in 0..4_000 {
            let k = rng.usize(1..9);
            let mut portfolio = portfolio(k);
            // How often each member brings something new, which changes now and then.
            let mut news: Vec<f64> = (0..k).map(|_| rng.f64() * 1.4 - 0.2).collect();
            let mut given = vec![0; k];
            let mut schedule = 0;
            while schedule < 300 {
                let size = rng.u64(1..60);
                let shows =
                    |member: usize, at| if rng.f64() < news[member] { at + 1_000 } else { 0 };
                for member in batch(&mut portfolio, schedule, size, shows) {
                    schedule += 1;
                    given[member] += 1;
                    assert!(schedule <= k as u64 * given[member], "{given:?} after {schedule}");
                }
                assert!(given.iter().all(|&given| schedule < k as u64 * (given + 1)));
                news.rotate_right(usize::from(rng.u8(..8) == 0) % k);
            }
        }
    }

    #[test]
    fn whoever_brings_more_that_is_new_comes_first_in_its_round() {
        let mut portfolio = portfolio(3);
        let shows = |member, schedule| if member == 2 { schedule + 1 } else { 0 };
        assert_eq!(batch(&mut portfolio, 0, 6, shows), [0, 1, 2, 0, 1, 2]);
        // The first observation of all was new, and member 0 brought it.
        assert_eq!(batch(&mut portfolio, 6, 4, shows), [2, 0, 1, 2]);
        // A round that has begun is finished in its order.
        assert_eq!(batch(&mut portfolio, 10, 5, |_, _| 0), [0, 1, 2, 0, 1]);
    }
}
