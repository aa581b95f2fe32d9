//! Graphs as programs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dally_core::{
    Bug, Captured, Env, Event, Fingerprint, MessageId, Observe, Program, StateVisitor, Status,
    Stop, System, Tag, Text, Waiting, WorkerId, fingerprint,
};

use crate::graphs::{Graph, Place, Tell, Tree};

/// The bug of a step that fails in this way.
pub fn failure(way: u32) -> Bug {
    Bug::panic(format!("failed{}", "!".repeat(way as usize)))
}

/// One live execution.
pub struct Live {
    graph: Arc<Graph>,
    pub at: u32,
    lap: u32,
}

/// A graph as a program: shared, since live executions look things up in it.
pub struct Walk(pub Arc<Graph>);

impl Program for Walk {
    type System = Live;

    fn start(&self) -> Result<Live, Bug> {
        Ok(Live { graph: self.0.clone(), at: 0, lap: 0 })
    }

    fn granularity(&self) -> &'static str {
        "one transition"
    }

    fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
        visitor.copied(self)
    }
}

impl Live {
    fn place(&self) -> &Place {
        &self.graph.places[self.at as usize]
    }
}

impl System for Live {
    fn enabled(&self) -> &[WorkerId] {
        &self.place().enabled
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let graph = self.graph.clone();
        let place = &graph.places[self.at as usize];
        let step = &place.steps[worker.place_in(&place.enabled).expect("a worker that can step")];
        let message = |number| MessageId { sender: worker, number };
        for (number, tell) in step.tells.iter().enumerate() {
            let payload = Text::Str("news");
            env.event(match *tell {
                Tell::Sent(to) => Event::Sent { message: message(number as u32), to, payload },
                Tell::Halted(worker) => Event::Halted { worker },
                Tell::Hinted => Event::Hinted { hint: Text::Str("turn") },
            })?;
        }
        let mut tree = &step.tree;
        loop {
            tree = match tree {
                Tree::Value(trees) => &trees[env.value(trees.len() as u32, Tag::Program)? as usize],
                Tree::Delivery(trees) => {
                    let messages: Vec<_> = (0..trees.len() as u32).map(message).collect();
                    &trees[env.delivery(&messages)?]
                }
                Tree::Fail(way) => return Err(failure(*way).into()),
                Tree::Hang => {
                    std::thread::sleep(Duration::from_secs(60));
                    return Ok(());
                }
                Tree::Lap => {
                    self.at = 0;
                    self.lap += 1;
                    return Ok(());
                }
                &Tree::To(to, number) => {
                    graph.taken[number as usize].fetch_add(1, Ordering::Relaxed);
                    self.at = to;
                    return Ok(());
                }
            }
        }
    }

    fn status(&self) -> Status {
        let place = self.place();
        if !place.enabled.is_empty() {
            return Status::Running;
        }
        if !place.stuck {
            return Status::Done;
        }
        let (worker, name) = (WorkerId::root(0), "Walker".to_owned());
        Status::Stuck(vec![Waiting { worker, name, on: Vec::new(), woken_outside: false }])
    }

    fn observe(&self, _how: Observe) -> Option<u64> {
        Some(self.at.into())
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        self.graph.seen[self.at as usize].fetch_add(1, Ordering::Relaxed);
        Some(Fingerprint(fingerprint::mix(self.at.into(), self.lap.into())))
    }

    fn sealed(&self) -> bool {
        self.place().sealed
    }

    fn name(&self, _worker: WorkerId) -> String {
        "Walker".into()
    }
}

impl Captured for Live {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.at.to_le_bytes());
        out.extend(self.lap.to_le_bytes());
    }

    /// In parts that states share.
    fn parts(&self, part: &mut dyn FnMut(&[u8])) {
        part(&self.lap.to_le_bytes());
        part(&(self.at / 5).to_le_bytes());
        part(&[(self.at % 5) as u8]);
    }

    fn fork(&self) -> Live {
        Live { graph: self.graph.clone(), at: self.at, lap: self.lap }
    }

    fn restore_from(&mut self, saved: &Live) {
        (self.at, self.lap) = (saved.at, saved.lap);
    }
}
