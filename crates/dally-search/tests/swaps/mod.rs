//! Takes random schedules of a program and exchanges neighbouring steps whose footprints commute:
//! that must make no difference. Tests of front ends use this file too.

use dally_core::{
    Captured, Choice, Cut, Env, Event, Footprint, MessageId, Observe, Program, Status, Stop,
    System, Tag, Text, WorkerId,
};
use dally_search::strata::HappensBefore;
use fastrand::Rng;

/// How much was tried.
#[derive(Clone, Copy, Default, Debug)]
pub struct Tally {
    /// Steps of random schedules.
    pub steps: u64,
    /// Neighbours that were exchanged.
    pub swaps: u64,
    /// Steps of which all was known before.
    pub foreseen: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.steps += other.steps;
        self.swaps += other.swaps;
        self.foreseen += other.foreseen;
    }
}

/// Schedules are at most this long, and so many pairs of each are exchanged.
const STEPS: usize = 60;
const PAIRS: usize = 6;

/// The whole state of a captured system.
pub fn whole<S: Captured>(system: &S) -> Vec<u8> {
    let mut state = Vec::new();
    system.encode(&mut state);
    state.extend(system.fingerprint().into_iter().flat_map(|print| print.0.to_le_bytes()));
    state
}

/// What can be seen of the state of a system that is not captured.
pub fn seen<S: System>(system: &S) -> Vec<u8> {
    [Observe::Inboxes, Observe::Control, Observe::Custom]
        .into_iter()
        .flat_map(|how| system.observe(how).unwrap_or_default().to_le_bytes())
        .collect()
}

/// Two orders of steps that should have led to the same state differ in this.
#[derive(PartialEq, Debug)]
struct View {
    enabled: Vec<WorkerId>,
    status: Status,
    hot: u64,
    sealed: bool,
    pending: Vec<Footprint>,
    state: Vec<u8>,
    /// Of a system that is not captured.
    happens_before: Option<u64>,
}

impl View {
    /// What a worker had pending that has not stepped and can step in both states, if that has changed.
    fn changed_for_others(&self, now: &View, stepped: WorkerId) -> Option<[Footprint; 2]> {
        let others = self.enabled.iter().zip(&self.pending).filter(|(id, _)| **id != stepped);
        others.into_iter().find_map(|(worker, before)| {
            let at = now.enabled.binary_search(worker).ok()?;
            (now.pending[at] != *before).then(|| [before.clone(), now.pending[at].clone()])
        })
    }
}

struct Live<'p, P: Program> {
    system: P::System,
    happens_before: HappensBefore,
    how: &'p How<P::System>,
}

/// How states are compared.
pub struct How<S> {
    pub state: fn(&S) -> Vec<u8>,
    /// Whether equal states have the same happens-before fingerprint as well.
    pub happens_before: bool,
}

/// A step as it was taken.
#[derive(Clone, Debug)]
struct Taken {
    worker: WorkerId,
    choices: Vec<Choice>,
    footprint: Footprint,
    told: Vec<Event<String>>,
}

impl<'p, P: Program> Live<'p, P> {
    fn start(program: &P, how: &'p How<P::System>) -> Option<Live<'p, P>> {
        let system = program.start().ok()?;
        Some(Live { system, happens_before: HappensBefore::default(), how })
    }

    fn view(&self) -> View {
        let enabled = self.system.enabled().to_vec();
        View {
            status: self.system.status(),
            hot: self.system.acceptance().hot,
            sealed: self.system.sealed(),
            pending: enabled.iter().map(|&worker| pending(&self.system, worker)).collect(),
            state: (self.how.state)(&self.system),
            happens_before: self.how.happens_before.then(|| self.happens_before.fingerprint()),
            enabled,
        }
    }

    /// Takes a step with these answers; `None` if it comes to no good end.
    fn step(&mut self, worker: WorkerId, answers: Answers<'_>) -> Option<Taken> {
        let mut footprint = Footprint::default();
        footprint.begin(worker);
        self.happens_before.begin(worker);
        let taken = Taken { worker, choices: Vec::new(), footprint, told: Vec::new() };
        let happens_before = &mut self.happens_before;
        let mut recording = Recording { answers, taken, happens_before };
        let stepped = self.system.step(worker, &mut recording);
        let taken = recording.taken;
        self.happens_before.end();
        match stepped {
            Ok(()) => Some(taken),
            Err(Stop::Bug(_) | Stop::Cut) => None,
        }
    }

    fn again(&mut self, taken: &Taken) -> Option<Taken> {
        self.step(taken.worker, Answers::Recorded(taken, 0))
    }
}

fn pending(system: &dyn System, worker: WorkerId) -> Footprint {
    let mut pending = Footprint::default();
    system.pending(worker, &mut pending);
    pending
}

enum Answers<'a> {
    Random(&'a mut Rng),
    /// As this step was answered, of whose values so many are used up. Messages are told apart by
    /// what was received, since nobody is asked where there is only one.
    Recorded(&'a Taken, usize),
}

struct Recording<'a> {
    answers: Answers<'a>,
    taken: Taken,
    happens_before: &'a mut HappensBefore,
}

impl Env for Recording<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        let index = match &mut self.answers {
            Answers::Random(rng) => rng.u32(..of),
            Answers::Recorded(taken, used) => {
                let mut values = taken.choices.iter().filter_map(|choice| match *choice {
                    Choice::Value { index, of, tag } => Some((index, of, tag)),
                    _ => None,
                });
                *used += 1;
                match values.nth(*used - 1) {
                    Some((index, then, who)) if (then, who) == (of, tag) => index,
                    _ => return Err(Cut),
                }
            }
        };
        self.taken.choices.push(Choice::Value { index, of, tag });
        self.taken.footprint.value(index, tag);
        self.happens_before.value(index, of, tag);
        Ok(index)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        let place = match &mut self.answers {
            Answers::Random(rng) => rng.usize(..candidates.len()),
            Answers::Recorded(taken, _) => {
                let received = taken.told.iter().find_map(|event| match event {
                    Event::Received { message, .. } | Event::Discarded { message, .. } => {
                        Some(*message)
                    }
                    _ => None,
                });
                candidates.iter().position(|&one| Some(one) == received).ok_or(Cut)?
            }
        };
        self.taken.choices.push(Choice::Delivery(candidates[place]));
        Ok(place)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.taken.footprint.event(&event);
        self.happens_before.event(&event);
        self.taken.told.push(event.map(|text| text.to_string()));
        if self.taken.told.len() > 2_000 { Err(Cut) } else { Ok(()) }
    }
}

/// Takes one random schedule of the program and exchanges some of its commuting neighbours.
///
/// # Panics
/// If that makes a difference, or if a step touches what it was not foreseen to touch.
pub fn try_swaps<P: Program>(
    program: &P,
    how: &How<P::System>,
    seed: u64,
    what: &dyn Fn() -> String,
) -> Tally {
    let mut rng = Rng::with_seed(seed);
    let mut tally = Tally::default();
    let Some(mut live) = Live::start(program, how) else { return tally };
    let mut taken: Vec<Taken> = Vec::new();
    let mut views = vec![live.view()];
    while taken.len() < STEPS
        && let Some(worker) = rng.choice(live.system.enabled().to_vec())
    {
        let foreseen = pending(&live.system, worker);
        let Some(step) = live.step(worker, Answers::Random(&mut rng)) else { break };
        let covers = foreseen.covers(&step.footprint);
        assert!(covers, "foreseen was {foreseen:?}\nand not {step:#?}\nin {}", what());
        tally.foreseen += u64::from(foreseen.is_complete());
        tally.steps += 1;
        taken.push(step);
        let (before, now) = (&views[views.len() - 1], live.view());
        if live.system.pending_lasts() {
            let differs = before.changed_for_others(&now, worker);
            assert!(differs.is_none(), "{differs:?} after {:#?}\nin {}", taken.last(), what());
        }
        views.push(now);
    }
    let mut pairs: Vec<usize> = (1..taken.len())
        .filter(|&at| taken[at - 1].footprint.commutes(&taken[at].footprint))
        // What the first of the two makes possible cannot come before it.
        .filter(|&at| views[at - 1].enabled.contains(&taken[at].worker))
        .collect();
    rng.shuffle(&mut pairs);
    for &at in pairs.iter().take(PAIRS) {
        let context = || {
            let (first, second) = (&taken[at - 1], &taken[at]);
            format!("exchanged steps {} and {at}: {first:#?}\n{second:#?}\nin {}", at - 1, what())
        };
        let Some(mut other) = Live::start(program, how) else { unreachable!("it started once") };
        for step in &taken[..at - 1] {
            assert!(other.again(step).is_some(), "the same again differs: {}", what());
        }
        for step in [&taken[at], &taken[at - 1]] {
            assert!(
                other.system.is_enabled(step.worker),
                "worker {} cannot step\n{}",
                step.worker,
                context()
            );
            assert!(other.again(step).is_some(), "worker {} fails\n{}", step.worker, context());
        }
        assert_eq!(other.view(), views[at + 1], "{}", context());
        // Nor does it make a difference to what comes after.
        for (step, view) in taken[at + 1..].iter().zip(&views[at + 2..]) {
            let again = other.again(step);
            let told = again.as_ref().map(|again| &again.told);
            assert_eq!(told, Some(&step.told), "a later step differs\n{}", context());
            assert_eq!(&other.view(), view, "a later state differs\n{}", context());
        }
        tally.swaps += 1;
    }
    tally
}
