//! What `#[tokio::test]` expands to.

use std::future::Future;

use dally::testing::Test;
pub use dally::testing::Verdict;
use dally_tasks::{Clock, Points, TaskPanics, TaskProgram};

/// Gives the runtime of the running test a name.
pub fn name_runtime(name: &'static str) {
    crate::runtime::name_current(name);
}

/// Runs the test of this path in this package. `multi_thread` is its flavor, `expected` the text of the
/// panic that it should have. What the settings say of tasks wins over what is said here.
pub fn test<F>(
    package: &'static str,
    path: &'static str,
    multi_thread: bool,
    expected: Option<&'static str>,
    main: impl Fn() -> F + Send + Sync + 'static,
) where
    F: Future<Output = ()> + 'static,
{
    let points = if multi_thread { Points::Operations } else { Points::Awaits };
    let name = path.rsplit("::").next().unwrap_or(path);
    let program = TaskProgram::new(name, main)
        .points(points)
        // Late timers are found, and an hour does not pass before a millisecond.
        .clock(Clock::Ordered)
        // A panic is what whoever joins the task gets.
        .task_panics(TaskPanics::Unobserved);
    let test = Test::new(package, path).cargo("cargo dally test");
    match expected {
        Some(expected) => test.should_fail(expected).run(program),
        None => test.run(program),
    }
}
