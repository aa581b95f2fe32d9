//! What is told of bugs of random scripts is true: they show without the steps that did not lead to them, and the
//! nearest schedule that passes does pass, and fails with its edit undone.

use std::sync::Arc;

use dally_core::{
    Acceptance, Access, Bug, Env, Event, ObjectId, Observe, Program, Resource, Status, Stop,
    System, Text, WorkerId,
};

use crate::past::{Tally, check};
use crate::programs::{Do, Live, Scripts, random_scripts};

/// Scripts that tell what they touch.
struct Telling(Arc<Scripts>);

struct TellingLive {
    inner: Live,
    scripts: Arc<Scripts>,
    /// How many steps each worker has taken: its place, since random scripts do not jump.
    taken: Vec<usize>,
}

impl Program for Telling {
    type System = TellingLive;

    fn start(&self) -> Result<TellingLive, Bug> {
        let taken = vec![0; self.0.0.len()];
        Ok(TellingLive { inner: self.0.start()?, scripts: Arc::clone(&self.0), taken })
    }
}

fn touched(op: Do) -> Option<Access> {
    const LOCKS: u32 = 10;
    const MONITOR: u32 = 20;
    let object = |number| Resource::Object(ObjectId { creator: WorkerId::root(0), number });
    Some(match op {
        Do::Add(counter, _) | Do::Store(counter, _) | Do::Fault(counter) => {
            Access::write(object(counter as u32))
        }
        Do::Load(counter) | Do::PanicIf(counter, _) => Access::read(object(counter as u32)),
        Do::Lock(lock) | Do::Unlock(lock) => Access::write(object(LOCKS + lock as u32)),
        Do::Hot | Do::Cold => Access::write(object(MONITOR)),
        _ => return None,
    })
}

impl System for TellingLive {
    fn enabled(&self) -> &[WorkerId] {
        self.inner.enabled()
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let me = (0..self.taken.len()).find(|&me| WorkerId::root(me as u32) == worker).unwrap();
        if let Some(access) = touched(self.scripts.0[me][self.taken[me]]) {
            env.event(Event::Accessed { access, what: Text::Str("") })?;
        }
        self.taken[me] += 1;
        self.inner.step(worker, env)
    }

    fn status(&self) -> Status {
        self.inner.status()
    }

    fn acceptance(&self) -> Acceptance {
        self.inner.acceptance()
    }

    fn observe(&self, how: Observe) -> Option<u64> {
        self.inner.observe(how)
    }

    fn monitor(&self, index: usize) -> (String, String) {
        self.inner.monitor(index)
    }

    fn end(&mut self) -> Result<(), Bug> {
        self.inner.end()
    }
}

/// What shows when an execution is over is about all of its steps.
fn without_bugs_at_the_end(scripts: &Scripts) -> Arc<Scripts> {
    let other = |op: &Do| match *op {
        Do::PanicInDrop(counter) => Do::Add(counter, 1),
        op => op,
    };
    Arc::new(Scripts(scripts.0.iter().map(|script| script.iter().map(other).collect()).collect()))
}

#[test]
fn bugs_of_scripts_show_without_what_did_not_lead_to_them_and_the_nearest_schedule_passes() {
    let mut rng = fastrand::Rng::with_seed(11);
    let mut tally = Tally::default();
    for seed in 0..1_500 {
        let scripts = without_bugs_at_the_end(&random_scripts(&mut rng, 12));
        let program = Arc::new(Telling(Arc::clone(&scripts)));
        check(&program, seed, &mut tally, &|| format!("{scripts:?}"));
    }
    println!("{tally:?}");
    assert!(tally.sliced > 150 && tally.left_out > 400 && tally.nearest > 100, "{tally:?}");
}
