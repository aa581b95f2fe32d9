//! A stack overflow ends the process, and says in which thread it was.

mod driver;

use std::process::Command;

use dally_core::{Program, System};
use dally_tasks::sync::Mutex;
use dally_tasks::{TaskProgram, spawn};
use driver::Quiet;

#[expect(unconditional_recursion, reason = "that is what it is for")]
fn recurse(n: u64) -> u64 {
    std::hint::black_box(recurse(std::hint::black_box(n + 1))) + 1
}

#[test]
fn a_task_that_recurses_without_end_is_told_as_a_stack_overflow_of_its_thread() {
    const CHILD: &str = "DALLY_TEST_OVERFLOWS";
    if std::env::var_os(CHILD).is_some() {
        let program = TaskProgram::new("deep", || async {
            let lock = Mutex::new(0);
            let mut guard = lock.lock().await;
            spawn(async {});
            *guard = recurse(0);
        });
        let mut system = program.start().unwrap();
        while let Some(&worker) = system.enabled().first() {
            system.step(worker, &mut Quiet).unwrap();
        }
        unreachable!("it has come to its end");
    }
    let name = "a_task_that_recurses_without_end_is_told_as_a_stack_overflow_of_its_thread";
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=2"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    assert!(!child.status.success());
    let told = String::from_utf8_lossy(&child.stderr);
    assert!(told.contains(&format!("thread '{name}' has overflowed its stack")), "{told}");
}
