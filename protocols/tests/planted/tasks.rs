//! The task programs: the correct versions pass, and every planted bug is caught.

use dally::contract::BugKind;
use dally_protocols::bounded_buffer::{self, Size};
use dally_protocols::{connection_pool, stale_cache};

use crate::hunt::Hunt;

const RANDOM: Hunt = Hunt { strategy: "random", schedules: 10_000, max_steps: 2_000 };
const PCT: Hunt = Hunt { strategy: "pct:3", ..RANDOM };

const SMALL: Size = Size { readers: 2, room: 1 };

#[test]
fn a_buffer_with_two_conditions_loses_no_wakeup() {
    for size in [SMALL, Size::NINE_WORKERS] {
        RANDOM.pass(bounded_buffer::program(size, None));
        PCT.pass(bounded_buffer::program(size, None));
    }
}

#[test]
fn a_small_buffer_with_one_condition_deadlocks_within_a_hundred_schedules() {
    let hunt = Hunt { schedules: 100, ..RANDOM };
    let caught = hunt.catch(bounded_buffer::program(SMALL, Some(bounded_buffer::Bug::LostWakeup)));
    assert_eq!(caught.kind(), BugKind::Deadlock);
}

#[test]
fn a_cache_with_leases_answers_with_the_last_value() {
    RANDOM.pass(stale_cache::program(None));
    PCT.pass(stale_cache::program(None));
}

#[test]
fn a_cache_without_leases_answers_with_an_old_value_within_a_hundred_schedules() {
    let hunt = Hunt { schedules: 100, ..RANDOM };
    let caught = hunt.catch(stale_cache::program(Some(stale_cache::Bug::StaleRead)));
    assert_eq!(caught.kind(), BugKind::Panic);
    assert!(caught.message().contains("the cache answers with an old value"), "{caught}");
}

#[test]
fn requests_that_hold_one_connection_at_a_time_share_a_pool() {
    RANDOM.pass(connection_pool::program(None));
    PCT.pass(connection_pool::program(None));
}

#[test]
fn requests_that_hold_one_connection_and_ask_for_another_deadlock_within_a_hundred_schedules() {
    let hunt = Hunt { schedules: 100, ..RANDOM };
    let caught = hunt.catch(connection_pool::program(Some(connection_pool::Bug::Deadlock)));
    assert_eq!(caught.kind(), BugKind::Deadlock);
}
