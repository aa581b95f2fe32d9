//! Seals and hints.

mod driver;

use dally_core::{Program, System, WorkerId};
use dally_tasks::{TaskProgram, hint, seal, spawn, yield_now};
use driver::{Quiet, run_one};

#[test]
fn an_execution_is_sealed_while_any_guard_is_held_and_a_dropped_task_drops_its_guards() {
    let program = TaskProgram::new("seals", || async {
        let own = seal();
        let holder = spawn(async {
            let _seal = seal();
            std::future::pending::<()>().await;
        });
        yield_now().await;
        drop(own);
        yield_now().await;
        holder.abort();
        yield_now().await;
    });
    let mut system = program.start().unwrap();
    let (main, holder) = (WorkerId::root(0), WorkerId::root(0).child(0));
    let mut sealed = vec![system.sealed()];
    for worker in [main, holder, main, main, holder] {
        system.step(worker, &mut Quiet).unwrap();
        sealed.push(system.sealed());
    }
    assert_eq!(sealed, [false, true, true, true, true, false]);
    // A new execution is not sealed by what the last one held.
    program.restart(&mut system).unwrap();
    system.step(main, &mut Quiet).unwrap();
    assert!(system.sealed());
    program.restart(&mut system).unwrap();
    assert!(!system.sealed());
}

#[test]
fn a_hint_is_told_at_its_place() {
    let program = TaskProgram::new("hints", || async {
        hint("set-up is over");
        hint(String::from("go"));
    });
    let (result, log, _) = run_one(&program, &[]);
    result.unwrap();
    assert_eq!(
        log[..3],
        ["-- 0 main", "Hinted { hint: \"set-up is over\" }", "Hinted { hint: \"go\" }"],
    );
}

#[test]
#[should_panic(expected = "`seal` outside of a Dally execution")]
fn a_seal_outside_of_an_execution_says_so() {
    let _ = seal();
}

#[test]
#[should_panic(expected = "`hint` outside of a Dally execution")]
fn a_hint_outside_of_an_execution_says_so() {
    hint("nobody hears this");
}
