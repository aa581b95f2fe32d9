//! A front end of one's own: two counters that race. `docs/writing-a-front-end.md` walks through it.
//!
//! `cargo run -p dally --example own_front_end` finds its bugs.

use std::sync::Arc;

use dally::contract::fingerprint::Encoder;
use dally::contract::{
    Acceptance, Bug, Captured, Env, Event, Fingerprint, Program, StateVisitor, Status, Stop,
    System, Text, WorkerId,
};
use dally::report::text;
use dally::search::strata::{Plan, RoundRobin, SearchKind, explore};
use dally::search::{Options, run};

/// Two counters, each of which adds 1 to a number twice: a step reads it, the next one writes it.
pub struct Race {
    /// A counter that is about to write starts over while the other one is about to write too.
    pub polite: bool,
}

/// One race.
#[derive(Clone, Hash)]
pub struct Racing {
    polite: bool,
    number: u32,
    read: [Option<u32>; 2],
    left: [u32; 2],
    enabled: Vec<WorkerId>,
}

impl Program for Race {
    type System = Racing;

    fn start(&self) -> Result<Racing, Bug> {
        let (polite, enabled) = (self.polite, [0, 1].map(WorkerId::root).to_vec());
        Ok(Racing { polite, number: 0, read: [None; 2], left: [2; 2], enabled })
    }

    fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
        visitor.copied(self)
    }
}

impl System for Racing {
    fn enabled(&self) -> &[WorkerId] {
        &self.enabled
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let me = usize::from(worker == WorkerId::root(1));
        match self.read[me].take() {
            None => self.read[me] = Some(self.number),
            Some(_) if self.polite && self.read[1 - me].is_some() => {}
            Some(read) => (self.number, self.left[me]) = (read + 1, self.left[me] - 1),
        }
        env.event(Event::Noted { text: Text::Debug(&(self.number, self.read)) })?;
        self.enabled.retain(|&other| other != worker || self.left[me] > 0);
        if self.enabled.is_empty() && self.number < 4 {
            return Err(Bug::panic("an update is lost").into());
        }
        Ok(())
    }

    fn status(&self) -> Status {
        if self.enabled.is_empty() { Status::Done } else { Status::Running }
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        Some(Fingerprint::of(self))
    }

    fn acceptance(&self) -> Acceptance {
        Acceptance { hot: u64::from(!self.enabled.is_empty()), ..Acceptance::default() }
    }
}

impl Captured for Racing {
    fn encode(&self, out: &mut Vec<u8>) {
        Encoder::encode(self, out);
    }

    fn fork(&self) -> Racing {
        self.clone()
    }
}

fn main() {
    let sampled = run(Arc::new(Race { polite: false }), Options::default(), Arc::new(()));
    println!("sampled: {}", sampled.findings[0].bug);
    for (polite, search) in [(false, SearchKind::Ses), (true, SearchKind::Map)] {
        let (explorer, plan) = (RoundRobin::default(), Plan { search, ..Plan::default() });
        let race = Arc::new(Race { polite });
        let report = explore(race, explorer, plan, Options::default(), Arc::new(()));
        println!("{search}: {}; {}", report.findings[0].bug, text::coverage(&report));
    }
}
