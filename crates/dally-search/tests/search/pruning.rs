//! A strategy ends schedules whose rest others cover, and says itself what that comes to.

use dally_core::{Tag, WorkerId};
use dally_search::sampling::Dfs;
use dally_search::{EndSchedule, Ended, Options, Point, Properties, Strategy};

use crate::programs::{Do, check, options, scripts};

/// Depth first over the schedules of workers that share nothing: of all orders it keeps the one in
/// which workers come by their ids.
#[derive(Clone, Default)]
struct InOrder(Dfs);

impl Strategy for InOrder {
    fn begin(&mut self, schedule: u64) -> bool {
        self.0.begin(schedule)
    }
    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        let worker = self.0.worker(point)?;
        if point.last > Some(worker) { Err(EndSchedule::Redundant) } else { Ok(worker) }
    }
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        let value = self.0.value(of, tag)?;
        if value > 1 { Err(EndSchedule::Redundant) } else { Ok(value) }
    }
    fn properties(&self) -> Properties {
        self.0.properties()
    }
    fn coverage(&self) -> Option<String> {
        Some("every order of steps that race".into())
    }
}

#[test]
fn redundant_schedules_are_neither_cut_nor_complete() {
    let strategy = || Box::new(InOrder::default());
    let program = scripts([&[Do::Add(0, 1); 2], &[Do::Add(1, 1); 2]]);
    let report = check(&program, Options { strategy: strategy(), ..options() });
    // By workers, with what was not taken any more: 0 0 1 1, 0 1 (0), 0 1 1 (0), 1 (0), 1 1 (0).
    assert_eq!((report.schedules, report.redundant, report.cut), (5, 4, 0));
    assert_eq!(report.steps, 4 + 2 + 3 + 1 + 2);
    assert!(report.is_exhausted());
    assert_eq!(report.stated.as_deref(), Some("every order of steps that race"));

    let two = check(&program, Options { strategy: strategy(), schedules: 2, ..options() });
    assert_eq!(two.ended, Ended::Schedules);
    assert_eq!((two.strategy.as_str(), two.redundant), ("in-order", 1));

    // The bound cuts the one schedule that would be complete.
    let cut = check(&program, Options { strategy: strategy(), max_steps: 3, ..options() });
    assert_eq!((cut.schedules, cut.redundant, cut.cut), (5, 3, 2));
    assert!(!cut.is_exhausted());
}

#[test]
fn a_schedule_can_turn_out_to_be_redundant_inside_a_step() {
    let program = scripts([&[Do::Choose(3), Do::Add(0, 1)]]);
    let strategy = Box::new(InOrder::default());
    let report = check(&program, Options { strategy, ..options() });
    assert_eq!((report.schedules, report.redundant, report.cut), (3, 1, 0));
}
