use dally::contract::{Tag, WorkerId};
use dally::search::{EndSchedule, Options, Point, Strategy, run};
use dally::tasks::{TaskProgram, spawn};
use std::sync::Arc;

#[derive(Clone)]
struct NewestFirst;

impl Strategy for NewestFirst {
    fn begin(&mut self, schedule: u64) -> bool {
        schedule == 0 // It is deterministic: one schedule is all there is.
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        Ok(point.enabled[point.enabled.len() - 1])
    }

    fn value(&mut self, _of: u32, _tag: Tag) -> Result<u32, EndSchedule> {
        Ok(0)
    }
}

#[test]
fn one_schedule_is_all_there_is() {
    let program = TaskProgram::new("two tasks", || async {
        let (a, b) = (spawn(async {}), spawn(async {}));
        a.await.unwrap();
        b.await.unwrap();
    });
    let options = Options { strategy: Box::new(NewestFirst), ..Options::default() };
    let report = run(Arc::new(program), options, Arc::new(()));
    assert_eq!(report.schedules, 1);
    assert!(report.findings.is_empty());
}
