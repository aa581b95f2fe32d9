use dally::contract::fingerprint::mix;
use dally::contract::{Footprint, Tag, WorkerId};
use dally::search::{EndSchedule, Options, Point, Strategy, run};
use dally::tasks::{TaskProgram, spawn, sync::Mutex};
use std::sync::Arc;

/// Random, but whoever is about to take a lock mostly waits for the others.
#[derive(Clone, Default)]
struct Shy {
    seed: u64,
    random: u64,
}

impl Shy {
    fn draw(&mut self, of: usize) -> usize {
        self.random = mix(self.random, 1);
        (self.random % of as u64) as usize
    }
}

impl Strategy for Shy {
    fn reseed(&mut self, seed: u64) {
        self.seed = seed;
    }
    fn begin(&mut self, schedule: u64) -> bool {
        self.random = mix(self.seed, schedule);
        true
    }
    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        let mut next = Footprint::default();
        let mut takes_a_lock = |worker: WorkerId| {
            point.system.pending(worker, &mut next);
            next.accesses().iter().any(|access| !access.only_reads())
        };
        let bold: Vec<_> = point.enabled.iter().copied().filter(|&w| !takes_a_lock(w)).collect();
        let from = if bold.is_empty() || self.draw(4) == 0 { point.enabled } else { &bold };
        Ok(from[self.draw(from.len())])
    }
    fn value(&mut self, of: u32, _tag: Tag) -> Result<u32, EndSchedule> {
        Ok(self.draw(of as usize) as u32)
    }
}

#[test]
fn two_tasks_that_check_before_they_act_are_caught() {
    let program = TaskProgram::new("check then act", || async {
        let tickets = Arc::new(Mutex::new(1));
        let buyers = [0, 1].map(|_| {
            let tickets = tickets.clone();
            spawn(async move {
                if *tickets.lock().await > 0 {
                    *tickets.lock().await -= 1;
                }
            })
        });
        for buyer in buyers {
            buyer.await.unwrap();
        }
        assert_eq!(*tickets.lock().await, 0);
    });
    let options = Options { strategy: Box::new(Shy::default()), ..Options::default() };
    let report = run(Arc::new(program), options, Arc::new(()));
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.strategy, "shy");
}
