//! Several strategies in rotation.

use dally_core::{Event, MessageId, System, Tag, Text, WorkerId, fingerprint};

use crate::strategy::{Lesson, Outcome, Point, Strategy};

/// Several strategies in rotation: schedule number `i` is the `i / k`-th of the `i % k`-th of
/// `k` members. No strategy dominates the others, so a budget is safest when it is spread.
#[derive(Clone)]
pub struct Portfolio {
    members: Vec<Box<dyn Strategy>>,
    current: usize,
    /// The outcomes of one member, while it is told of them.
    share: Vec<Outcome>,
}

impl Portfolio {
    /// These members, in this order. Without members there is nothing to try.
    pub fn new(members: Vec<Box<dyn Strategy>>) -> Portfolio {
        Portfolio { members, current: 0, share: Vec::new() }
    }

    fn member(&mut self) -> Option<&mut Box<dyn Strategy>> {
        self.members.get_mut(self.current)
    }
}

impl Strategy for Portfolio {
    fn name(&self) -> String {
        let names: Vec<String> = self.members.iter().map(|member| member.name()).collect();
        format!("portfolio({})", names.join(", "))
    }

    /// Each member has a seed of its own: with the same one, random and IRS would run the same
    /// schedules.
    fn reseed(&mut self, seed: u64) {
        for (index, member) in (0..).zip(&mut self.members) {
            member.reseed(fingerprint::mix(seed, index));
        }
    }

    /// `false` as soon as one member is exhausted: it has then tried everything alone.
    fn begin(&mut self, schedule: u64) -> bool {
        let members = self.members.len().max(1) as u64;
        self.current = (schedule % members) as usize;
        self.member().is_some_and(|member| member.begin(schedule / members))
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
        self.members.get(self.current).is_some_and(|member| member.listens())
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
        let members = self.members.len() as u64;
        for (index, member) in self.members.iter_mut().enumerate() {
            self.share.clear();
            self.share.extend(
                batch
                    .iter()
                    .filter(|outcome| outcome.schedule % members == index as u64)
                    .cloned()
                    .map(|outcome| Outcome { schedule: outcome.schedule / members, ..outcome }),
            );
            member.learn(&self.share);
        }
    }

    /// What the members are told must not be late for any of them: each has its share of a batch.
    fn batch(&self) -> u64 {
        let members = self.members.len().max(1) as u64;
        let smallest = self.members.iter().map(|member| member.batch()).min();
        smallest.unwrap_or(1).saturating_mul(members).min(1_024)
    }

    fn is_fair(&self) -> bool {
        self.members.get(self.current).is_some_and(|member| member.is_fair())
    }

    fn is_sequential(&self) -> bool {
        self.members.iter().any(|member| member.is_sequential())
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}
