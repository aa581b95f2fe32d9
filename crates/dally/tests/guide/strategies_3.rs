use dally::contract::{Footprint, WorkerId};
use dally::search::sampling::{Rng, Sampler};
use dally::search::{EndSchedule, Options, Point, run};
use dally::tasks::{TaskProgram, spawn, sync::Mutex};
use std::sync::Arc;

/// Random, but whoever is about to take a lock mostly waits for the others.
#[derive(Clone)]
struct Shy;

impl Sampler for Shy {
    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        let mut next = Footprint::default();
        let mut takes_a_lock = |worker: WorkerId| {
            point.system.pending(worker, &mut next);
            next.accesses().iter().any(|access| !access.only_reads())
        };
        let bold: Vec<_> = point.enabled.iter().copied().filter(|&w| !takes_a_lock(w)).collect();
        let from = if bold.is_empty() || rng.u8(..4) == 0 { point.enabled } else { &bold };
        Ok(from[rng.usize(..from.len())])
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
    let options = Options { strategy: Box::new(Shy.seeded(0)), ..Options::default() };
    let report = run(Arc::new(program), options, Arc::new(()));
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.strategy, "shy");
}
