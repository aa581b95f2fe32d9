//! Stacks: one that overflows ends the process and says in which thread it was, and one that cannot be
//! had is told as that.

mod driver;

use std::process::Command;

use dally_core::{Problem, Program, Stop, System};
use dally_tasks::sync::{Mutex, Notify};
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

#[test]
#[cfg(unix)]
fn a_program_with_more_suspended_tasks_than_there_are_stacks_is_told_how_many_there_are() {
    const CHILD: &str = "DALLY_TEST_OUT_OF_STACKS";
    if std::env::var_os(CHILD).is_some() {
        let program = TaskProgram::new("many", || async {
            for _ in 0..1_000 {
                spawn(async {
                    let lock = Mutex::new(());
                    drop(lock.lock().await);
                });
            }
            Notify::new().notified().await;
        });
        let mut system = program.start().unwrap();
        // The main task spawns the others, and each of them is suspended before its operation.
        let mut suspend = |tasks| {
            let main = system.enabled()[0];
            system.step(main, &mut Quiet).unwrap();
            let workers = system.enabled().to_vec();
            let others = workers.into_iter().filter(|&worker| worker != main).take(tasks);
            let suspended =
                others.map(|worker| system.step(worker, &mut Quiet)).find(Result::is_err);
            system.end().unwrap();
            program.restart(&mut system).unwrap();
            suspended
        };
        let Some(Err(Stop::Bug(bug))) = suspend(1_000) else { panic!("no bug") };
        let Problem::OutOfStacks { stacks } = *bug.problem else { panic!("{bug}") };
        assert!((10..900).contains(&stacks), "{stacks}");
        // The memory was given back: there is enough for another execution.
        assert!(suspend(stacks - 1).is_none());
        return;
    }
    let name =
        "a_program_with_more_suspended_tasks_than_there_are_stacks_is_told_how_many_there_are";
    let child = Command::new("sh")
        .args(["-c", "ulimit -v 4000000; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{told}");
}
