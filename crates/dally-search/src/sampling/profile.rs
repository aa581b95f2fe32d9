//! Profiles: how often each worker of a schedule stepped, and on what.
//!
//! Samplers that weigh workers by the steps they have left learn these from earlier schedules. A
//! profile is the lesson of the schedule that it was taken in.

use std::collections::BTreeMap;
use std::sync::Arc;

use dally_core::{Event, Footprint, Resource, System, Text, WorkerId};
use fastrand::Rng;

use super::Random;
use crate::learning::words;
use crate::strategy::{Learner, Lesson, Outcome, Point, Properties};

/// Something that a step touches and other steps may touch too, or a step as a whole, as one word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ProfileKey(u64);

impl ProfileKey {
    /// A step that no other worker can notice.
    const UNNOTICED: ProfileKey = ProfileKey(0);
    /// Any other step.
    const NOTICED: ProfileKey = ProfileKey(1);
    /// What a step touches that says nothing of itself, and what faults touch.
    pub(crate) const UNKNOWN: ProfileKey = ProfileKey(2);

    /// What this step touches. Left out is what no schedule can reorder: a message is received
    /// after it was sent, and a worker steps after it was created.
    pub(crate) fn of(step: &Footprint) -> impl Iterator<Item = ProfileKey> {
        let known = step.accesses().iter().filter_map(|access| match access.resource {
            Resource::Worker(_) | Resource::Life(_) | Resource::Message(_) => None,
            Resource::Execution => Some(ProfileKey::UNKNOWN),
            // The first three words are taken.
            resource => Some(ProfileKey(resource.digest().max(3))),
        });
        known.chain(step.is_unknown().then_some(ProfileKey::UNKNOWN))
    }

    /// Whether it stands for a whole step; every step is counted under one such spot.
    pub(crate) fn is_whole(self) -> bool {
        self <= ProfileKey::NOTICED
    }

    pub(crate) fn to_bits(self) -> u64 {
        self.0
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Profiler {
    steps: BTreeMap<(WorkerId, ProfileKey), u64>,
    parents: BTreeMap<WorkerId, WorkerId>,
    stepping: Option<WorkerId>,
    touched: Footprint,
}

impl Profiler {
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.parents.clear();
        self.stepping = None;
    }

    pub(crate) fn can_be_noticed(&mut self, worker: WorkerId, point: &Point<'_>) -> bool {
        point.system.pending(worker, &mut self.touched);
        ProfileKey::of(&self.touched).next().is_some()
    }

    /// Counts the next step of `worker`, which it is about to take.
    pub(crate) fn step(&mut self, worker: WorkerId, point: &Point<'_>) {
        let noticed = self.can_be_noticed(worker, point);
        let whole = if noticed { ProfileKey::NOTICED } else { ProfileKey::UNNOTICED };
        for spot in ProfileKey::of(&self.touched).chain([whole]) {
            *self.steps.entry((worker, spot)).or_default() += 1;
        }
        self.stepping = Some(worker);
    }

    /// Picks a worker at random, and counts its step.
    pub(crate) fn pick(&mut self, point: &Point<'_>, rng: &mut Rng) -> WorkerId {
        let picked = Random::pick(point.enabled, rng);
        self.step(picked, point);
        picked
    }

    pub(crate) fn heard(&mut self, event: &Event<Text<'_>>) {
        if let (
            Some(parent),
            &(Event::Created { worker, .. } | Event::TimerSet { timer: worker, .. }),
        ) = (self.stepping, event)
        {
            // Of a timer that is armed again and again, the first time counts.
            self.parents.entry(worker).or_insert(parent);
        }
    }

    /// [`WORDS`] for each worker and spot: both, how often, and the worker's parent.
    pub(crate) fn lesson(&self) -> Lesson {
        let words = self.steps.iter().flat_map(|(&(worker, spot), &count)| {
            let parent = self.parents.get(&worker).map_or(0, |parent| parent.to_bits());
            [worker.to_bits(), spot.0, count, parent]
        });
        words.collect()
    }
}

/// How many words of a lesson are about one worker and spot.
const WORDS: usize = 4;

#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    /// Sorted by worker, then by spot.
    pub(crate) steps: Vec<Steps>,
    /// The spots that more than one worker touched, with how often all of them did, in order.
    pub(crate) contended: Vec<(ProfileKey, u64)>,
    /// Its workers without any steps, and for each of `steps` the place of its worker among them.
    workers: Vec<Weight>,
    places: Vec<usize>,
}

/// How often a worker stepped on one spot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    pub(crate) worker: WorkerId,
    pub(crate) spot: ProfileKey,
    pub(crate) count: u64,
    /// The creator of the worker, if it was not there from the start.
    pub(crate) parent: Option<WorkerId>,
}

impl Profile {
    pub(crate) fn read(lesson: &[u64]) -> Profile {
        let steps = lesson.chunks_exact(WORDS).map(|words| Steps {
            worker: WorkerId::from_bits(words[0]),
            spot: ProfileKey(words[1]),
            count: words[2],
            parent: (words[3] != 0).then(|| WorkerId::from_bits(words[3])),
        });
        let steps: Vec<Steps> = steps.collect();
        let mut spots: BTreeMap<ProfileKey, (u64, u64)> = BTreeMap::new();
        for steps in steps.iter().filter(|steps| !steps.spot.is_whole()) {
            let (workers, count) = spots.entry(steps.spot).or_default();
            *workers += 1;
            *count += steps.count;
        }
        let several = spots.into_iter().filter(|(_, (workers, _))| *workers > 1);
        let contended = several.map(|(spot, (_, count))| (spot, count)).collect();
        let mut ids: Vec<WorkerId> = steps.iter().map(|steps| steps.worker).collect();
        ids.dedup();
        let place = |worker: WorkerId| ids.binary_search(&worker).ok();
        let places: Vec<usize> =
            steps.iter().map(|steps| place(steps.worker).unwrap_or_default()).collect();
        let mut workers: Vec<Weight> = ids.iter().map(|&worker| Weight::of(worker)).collect();
        for (steps, &place_of) in steps.iter().zip(&places) {
            workers[place_of].parent = steps.parent.and_then(place);
        }
        Profile { steps, contended, workers, places }
    }

    /// The lesson that it was read from.
    fn words(&self) -> Vec<u64> {
        let words = self.steps.iter().flat_map(|steps| {
            let parent = steps.parent.map_or(0, |parent| parent.to_bits());
            [steps.worker.to_bits(), steps.spot.0, steps.count, parent]
        });
        words.collect()
    }

    /// The profiles of the schedules that came to their own ends or, if none did, that a bound cut:
    /// these say at least how workers compare. A failed schedule does not say what its workers had
    /// left.
    pub(crate) fn all(batch: &[Outcome]) -> Vec<Arc<Profile>> {
        let any_complete = batch.iter().any(|outcome| outcome.complete && outcome.lesson.is_some());
        let useful = |outcome: &&Outcome| match any_complete {
            true => outcome.complete,
            false => !outcome.bug,
        };
        let lessons = batch.iter().filter(useful).filter_map(|outcome| outcome.lesson.as_deref());
        lessons.map(|lesson| Arc::new(Profile::read(lesson))).collect()
    }

    pub(crate) fn key_points(&self) -> Vec<(WorkerId, u64)> {
        let noticed = self.steps.iter().filter(|steps| steps.spot == ProfileKey::NOTICED);
        noticed.map(|steps| (steps.worker, steps.count)).collect()
    }
}

/// The profiles of the random schedules of the first batch, for samplers that go by such counts later.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profiles {
    known: Vec<Arc<Profile>>,
    profiler: Profiler,
}

impl Profiles {
    /// Begins a schedule; gives the profile that it goes by, drawn among those that are known.
    pub(crate) fn begin(&mut self, rng: &mut Rng) -> Option<&Profile> {
        self.profiler.clear();
        rng.choice(&self.known).map(|profile| &**profile)
    }

    /// A random worker, whose step is counted, while no profile is known.
    pub(crate) fn pick(&mut self, point: &Point<'_>, rng: &mut Rng) -> Option<WorkerId> {
        self.known.is_empty().then(|| self.profiler.pick(point, rng))
    }

    pub(crate) fn properties(&self) -> Properties {
        Properties { listens: self.known.is_empty(), ..Properties::DRAWN }
    }

    pub(crate) fn heard(&mut self, event: &Event<Text<'_>>) {
        self.profiler.heard(event);
    }
}

impl Learner for Profiles {
    fn lesson(&mut self, _last: Option<&dyn System>) -> Option<Lesson> {
        self.known.is_empty().then(|| self.profiler.lesson())
    }

    fn learn(&mut self, batch: &[Outcome]) {
        if self.known.is_empty() {
            self.known = Profile::all(batch);
        }
    }

    /// For each profile how many words it has, and these.
    fn learned(&mut self) -> Option<Vec<u8>> {
        let profiles = self.known.iter().map(|profile| profile.words());
        Some(words::written(profiles.flat_map(|words| [vec![words.len() as u64], words].concat())))
    }

    fn recall(&mut self, learned: &[u8]) -> bool {
        let Some(words) = words::read(learned) else { return false };
        let mut known = Vec::new();
        let mut rest = &words[..];
        while let [length, more @ ..] = rest {
            let length = usize::try_from(*length).ok().filter(|length| length % WORDS == 0);
            let Some((profile, after)) = length.and_then(|length| more.split_at_checked(length))
            else {
                return false;
            };
            known.push(Arc::new(Profile::read(profile)));
            rest = after;
        }
        self.known = known;
        true
    }
}

/// How many steps of a profile each worker has left, with those of workers it has not created yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weights {
    /// Sorted by worker.
    workers: Vec<Weight>,
}

#[derive(Clone, Copy, Debug)]
struct Weight {
    worker: WorkerId,
    /// The place of its creator.
    parent: Option<usize>,
    /// The steps of the worker and of all below it.
    all: u64,
    left: u64,
    /// Whether it was enabled in this schedule.
    is_here: bool,
}

impl Weight {
    fn of(worker: WorkerId) -> Weight {
        Weight { worker, parent: None, all: 0, left: 0, is_here: false }
    }
}

impl Weights {
    /// Starts over with the steps on spots that `counts` accepts.
    pub(crate) fn reset(&mut self, profile: &Profile, counts: impl Fn(ProfileKey) -> bool) {
        self.workers.clone_from(&profile.workers);
        let counted = profile.steps.iter().zip(&profile.places);
        for (steps, &place) in counted.filter(|(steps, _)| counts(steps.spot)) {
            let mut place = Some(place);
            // Ancestors form a tree, so this ends; the bound is for a malformed lesson.
            for _ in 0..=self.workers.len() {
                let Some(at) = place else { break };
                self.workers[at].all += steps.count;
                place = self.workers[at].parent;
            }
        }
        self.workers.iter_mut().for_each(|weight| weight.left = weight.all);
    }

    /// Called for an enabled worker. If it is new, its steps are taken from its creator; returns
    /// the creator and the share of the creator's steps that were this worker's.
    pub(crate) fn meet(&mut self, worker: WorkerId) -> Option<(WorkerId, f64)> {
        let place = self.place(worker).ok()?;
        if std::mem::replace(&mut self.workers[place].is_here, true) {
            return None;
        }
        let Weight { all, parent, .. } = self.workers[place];
        let weight = &mut self.workers[parent?];
        let chance = all as f64 / weight.left.max(1) as f64;
        weight.left = weight.left.saturating_sub(all);
        Some((weight.worker, chance))
    }

    /// The steps that `worker` has left; 0 if it is unknown.
    pub(crate) fn left(&self, worker: WorkerId) -> u64 {
        self.place(worker).map_or(0, |place| self.workers[place].left)
    }

    /// Counts one of the steps of `worker` as done.
    pub(crate) fn done(&mut self, worker: WorkerId) {
        if let Ok(place) = self.place(worker) {
            let left = &mut self.workers[place].left;
            *left = left.saturating_sub(1);
        }
    }

    /// The workers that were enabled, with the steps that they have left.
    pub(crate) fn here(&self) -> impl Iterator<Item = (WorkerId, u64)> + Clone + '_ {
        self.workers.iter().filter(|w| w.is_here).map(|weight| (weight.worker, weight.left))
    }

    fn place(&self, worker: WorkerId) -> Result<usize, usize> {
        self.workers.binary_search_by_key(&worker, |weight| weight.worker)
    }
}

/// Draws one of these, each with a probability in proportion to its weight; none if all weigh 0.
pub(crate) fn draw<T>(weights: impl Iterator<Item = (T, u64)> + Clone, rng: &mut Rng) -> Option<T> {
    let total: u64 = weights.clone().map(|(_, weight)| weight).sum();
    if total == 0 {
        return None;
    }
    let mut at = rng.u64(..total);
    for (thing, weight) in weights {
        if at < weight {
            return Some(thing);
        }
        at -= weight;
    }
    None
}

#[cfg(test)]
mod tests {
    use dally_core::{Access, MessageId};

    use super::*;

    fn outcome(complete: bool, bug: bool, steps: u64) -> Outcome {
        let lesson = Some([WorkerId::root(0).to_bits(), 0, steps, 0].into());
        Outcome { complete, bug, lesson, ..Outcome::default() }
    }

    fn counts(batch: &[Outcome]) -> Vec<u64> {
        Profile::all(batch).iter().map(|profile| profile.steps[0].count).collect()
    }

    #[test]
    fn profiles_come_from_schedules_that_ran_to_their_ends() {
        let (whole, cut, failed) =
            (outcome(true, false, 9), outcome(false, false, 5), outcome(false, true, 2));
        assert_eq!(counts(&[cut.clone(), whole.clone(), failed.clone(), whole.clone()]), [9, 9]);
        assert_eq!(counts(&[failed.clone(), cut.clone()]), [5]);
        assert!(counts(&[failed]).is_empty());
    }

    #[test]
    fn a_receipt_from_a_queue_touches_nothing_of_what_others_send_to() {
        let [a, b] = [0, 1].map(WorkerId::root);
        let spots = |worker, number, touches: &dyn Fn(&mut Footprint, MessageId)| {
            let mut step = Footprint::default();
            step.begin(worker);
            touches(&mut step, MessageId { sender: a, number });
            ProfileKey::of(&step).collect::<Vec<_>>()
        };
        let sent = spots(a, 0, &|step, message| step.sends(message, b));
        assert_eq!(sent, spots(b, 1, &|step, message| step.sends(message, b)));
        assert_ne!(sent, spots(b, 1, &|step, message| step.sends(message, a)));
        let received = |step: &mut Footprint, message| {
            step.add(Access::update(Resource::Message(message)));
        };
        assert_eq!(spots(b, 0, &received), []);
    }
}
