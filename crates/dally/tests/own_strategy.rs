//! A strategy of one's own in the attribute of a test.

use std::sync::{Arc, Mutex};

use dally::contract::{Tag, WorkerId};
use dally::search::{EndSchedule, Point, Strategy};
use dally::tasks::{TaskProgram, spawn};
use dally::testing::Test;

/// Always the worker that came last.
#[derive(Clone)]
struct NewestFirst {
    schedules: u64,
}

impl NewestFirst {
    fn new() -> NewestFirst {
        NewestFirst { schedules: 1 }
    }
}

impl Strategy for NewestFirst {
    fn begin(&mut self, schedule: u64) -> bool {
        schedule < self.schedules
    }
    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        Ok(point.enabled[point.enabled.len() - 1])
    }
    fn value(&mut self, _of: u32, _tag: Tag) -> Result<u32, EndSchedule> {
        Ok(0)
    }
}

/// Seven tasks, and what they find out about their order.
async fn in_order(fails: bool) {
    let order = Arc::new(Mutex::new(Vec::new()));
    let tasks: Vec<_> = (0..7)
        .map(|n| {
            let order = Arc::clone(&order);
            spawn(async move { order.lock().unwrap().push(n) })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let reversed = order.lock().unwrap().iter().rev().copied().eq(0..7);
    assert!(!(fails && reversed), "the last was first");
}

// One order of 5,040 fails, and there is one schedule.
#[dally::test(strategy = NewestFirst::new(), should_fail = "the last was first")]
async fn the_attribute_takes_a_strategy_of_ones_own() {
    in_order(true).await;
}

#[dally::test(strategy = "pct:3", schedules = 10)]
async fn the_attribute_still_takes_a_name() {
    in_order(false).await;
}

#[test]
fn a_test_by_hand_takes_both() {
    let program = || TaskProgram::new("in order", || in_order(true));
    let test = || Test::new("dally", "own_strategy::by_hand").should_fail("the last was first");
    test().strategy(NewestFirst::new()).run(program());
    test().strategy("dfs").strategy(NewestFirst::new()).explorer("rr").run(program());
}
