//! Seals: stretches of a program in which a search by strata spends no delay.

use crate::current;

/// Seals the execution until the guard is dropped: while any guard is held, a search by strata
/// follows its explorer's first choice and spends no delay. Other searches and strategies do not
/// care.
///
/// For stretches where a switch can do no harm, such as a set-up that is known to work, so that
/// delays are spent where bugs hide. What a seal covers is not searched: an "exhausted" of a
/// program with seals means all of it but that.
///
/// ```
/// use dally_core::{Program, System};
/// use dally_tasks::{TaskProgram, seal, spawn, yield_now};
/// # use dally_core::{Cut, Env, Event, MessageId, Tag, Text};
/// # struct First;
/// # impl Env for First {
/// #     fn value(&mut self, _: u32, _: Tag) -> Result<u32, Cut> { Ok(0) }
/// #     fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> { Ok(0) }
/// #     fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> { Ok(()) }
/// # }
///
/// let program = TaskProgram::new("set-up, then the test", || async {
///     let set_up = seal();
///     let server = spawn(async { 7 });
///     yield_now().await;
///     drop(set_up);
///     assert_eq!(server.await.unwrap(), 7);
/// });
///
/// let mut system = program.start().unwrap();
/// let main = system.enabled()[0];
/// assert!(!system.sealed());
/// system.step(main, &mut First).unwrap();
/// assert!(system.sealed());
/// system.step(main, &mut First).unwrap();
/// assert!(!system.sealed());
/// ```
///
/// # Panics
/// Outside of a Dally execution.
#[track_caller]
pub fn seal() -> Sealed {
    let run = current::with("`seal`", |exec| {
        exec.seals += 1;
        exec.run
    });
    Sealed { run }
}

/// The guard of [`seal`]. A task that is dropped drops the guards that it holds.
#[derive(Debug)]
#[must_use = "the seal is broken at once if the guard is not kept"]
pub struct Sealed {
    /// The execution that is sealed.
    run: u64,
}

impl Drop for Sealed {
    fn drop(&mut self) {
        current::try_with(|exec| {
            // A guard that outlived its execution has nothing to break.
            if self.run == exec.run {
                exec.seals -= 1;
            }
        });
    }
}
