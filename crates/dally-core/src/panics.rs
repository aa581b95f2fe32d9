//! Panics of the program under test: caught, with message and place, and kept off the screen.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

use crate::bug::{Bug, Location, Problem, Unwound};
use crate::system::{Cut, Stop};

/// Runs code of the program under test. A panic becomes a bug with the place where it was
/// raised, and nothing is printed; [`cut`] becomes [`Stop::Cut`].
///
/// ```
/// use dally_core::{panics, Stop};
///
/// let Err(Stop::Bug(bug)) = panics::catch(|| panic!("two leaders")) else { panic!() };
/// assert_eq!(bug.message(), "two leaders");
/// assert!(bug.location.is_some());
/// ```
#[inline]
pub fn catch<R>(code: impl FnOnce() -> R) -> Result<R, Stop> {
    catch_payload(code).map_err(|payload| {
        let stop = stop_of(&*payload);
        discard(payload);
        stop
    })
}

/// As [`catch`], with what the panic carries: [`stop_of`] says what that is, and [`discard`] drops it.
#[inline]
pub fn catch_payload<R>(code: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    let inside = InsideProgram::new();
    let result = panic::catch_unwind(AssertUnwindSafe(code));
    drop(inside);
    result
}

/// While this lives, code of the program under test runs on this thread, whose panics are kept off
/// the screen. [`catch`] makes one; whoever lets code go on in a [`catch`] that began earlier, on a stack of its
/// own, needs another.
#[derive(Debug)]
#[must_use = "panics are kept off the screen until this is dropped"]
pub struct InsideProgram {
    outermost: bool,
}

impl InsideProgram {
    /// From here on.
    #[inline]
    #[expect(clippy::new_without_default, reason = "it is a scope, not a value")]
    pub fn new() -> InsideProgram {
        // They nest, one for the schedule and one for each handler: only the outermost prepares.
        let outermost = !INSIDE.get();
        if outermost {
            prepare();
        }
        InsideProgram { outermost }
    }
}

impl Drop for InsideProgram {
    #[inline]
    fn drop(&mut self) {
        if self.outermost {
            INSIDE.set(false);
        }
    }
}

#[inline(never)]
fn prepare() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(install);
    forget();
    INSIDE.set(true);
}

/// Forgets the panics of this thread that the program caught itself: they are no bug of the next
/// execution. Called where an execution begins inside of another [`catch`].
pub fn forget() {
    RAISED.with_borrow_mut(Vec::clear);
}

/// Why code of the program under test has unwound with this.
#[cold]
pub fn stop_of(payload: &(dyn Any + Send)) -> Stop {
    if payload.is::<Cut>() {
        return Stop::Cut;
    }
    // The hook has recorded this panic, perhaps among others that the program caught itself. It
    // does not run for `resume_unwind`, which therefore has no location.
    let text = text_of(payload);
    let raised = RAISED.take().into_iter().rfind(|seen| seen.message() == text);
    raised.unwrap_or_else(|| Bug::panic(text)).into()
}

/// Drops what a panic carried. It may have a destructor of the program's, and that may panic too.
#[cold]
pub fn discard(payload: Box<dyn Any + Send>) {
    let _inside = InsideProgram::new();
    if let Err(second) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
}

/// Leaves the program's code by a panic that no hook sees, for operations that were told [`Cut`].
pub fn cut() -> ! {
    panic::resume_unwind(Box::new(Cut))
}

/// Runs code of this worker or monitor: the bug of a panic in it names `culprit`.
///
/// ```
/// use dally_core::{panics, Stop};
///
/// let asked = panics::catch(|| panics::with_culprit("Master", || panic!("two leaders")));
/// let Err(Stop::Bug(bug)) = asked else { panic!() };
/// assert_eq!(bug.culprit.as_deref(), Some("Master"));
/// ```
pub fn with_culprit<R>(culprit: &'static str, code: impl FnOnce() -> R) -> R {
    struct Restore(Option<&'static str>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CULPRIT.set(self.0);
        }
    }
    let _restore = Restore(CULPRIT.replace(Some(culprit)));
    code()
}

/// What [`before_abort`] calls.
pub type Save = Box<dyn Fn(Bug)>;

/// Says what to do on this thread when the program panics in a destructor while it unwinds:
/// Rust then aborts the process, and this is the last chance to save the finding.
pub fn before_abort(save: Option<Save>) {
    BEFORE_ABORT.set(save);
}

/// How many panics are kept: a program may catch many, and the one that escapes is among the last.
const MOST_RAISED: usize = 16;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    static CULPRIT: Cell<Option<&'static str>> = const { Cell::new(None) };
    static RAISED: RefCell<Vec<Bug>> = const { RefCell::new(Vec::new()) };
    static BEFORE_ABORT: RefCell<Option<Save>> = const { RefCell::new(None) };
}

fn install() {
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !INSIDE.get() {
            return previous(info);
        }
        let text = text_of(info.payload());
        if is_abort(&text) {
            save_before_abort(info, &text);
            return previous(info);
        }
        let location = info.location().map(Location::from);
        let mut bug = Bug::panic(text).at(location);
        bug.culprit = CULPRIT.get().map(str::to_owned);
        RAISED.with_borrow_mut(|seen| {
            if seen.len() == MOST_RAISED {
                seen.remove(0);
            }
            seen.push(bug);
        });
    }));
}

/// The messages of the panics after which Rust aborts, from `core::panicking`.
fn is_abort(text: &str) -> bool {
    text == "panic in a destructor during cleanup"
        || text == "panic in a function that cannot unwind"
}

fn save_before_abort(info: &PanicHookInfo<'_>, text: &str) {
    // The panic that it unwinds from, and that of the destructor.
    let mut seen = RAISED.take();
    seen.drain(..seen.len().saturating_sub(2));
    let mut seen = seen.into_iter();
    let mut bug =
        seen.next().unwrap_or_else(|| Bug::panic(text).at(info.location().map(Location::from)));
    if let Problem::Panic { then, .. } = &mut *bug.problem {
        then.extend(seen.map(|later| Unwound {
            message: later.message().to_owned(),
            location: later.location,
        }));
    }
    if let Some(save) = BEFORE_ABORT.take() {
        save(bug);
    }
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&'static str>().copied();
    let text = text.or(payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic whose payload is not text").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message of the bug that comes of this, and whether it has a place.
    fn bug_of(code: impl FnOnce()) -> (String, bool) {
        let Err(Stop::Bug(bug)) = catch(code) else { panic!("no bug") };
        (bug.message().to_owned(), bug.location.is_some())
    }

    #[test]
    fn a_panic_that_the_program_catches_itself_is_no_bug_and_leaves_no_trace() {
        let caught = catch(|| panic::catch_unwind(|| panic!("inner")).is_err());
        assert!(caught.unwrap());
        assert_eq!(bug_of(|| panic!("outer")), ("outer".into(), true));
    }

    #[test]
    fn a_panic_that_no_hook_sees_is_not_taken_for_one_that_the_program_caught() {
        let resumed = bug_of(|| {
            let _ = panic::catch_unwind(|| panic!("caught long ago"));
            panic::resume_unwind(Box::new("the real one"));
        });
        assert_eq!(resumed, ("the real one".into(), false));
    }

    #[test]
    fn a_panic_that_is_caught_and_thrown_again_keeps_its_place() {
        let again = bug_of(|| {
            let Err(payload) = panic::catch_unwind(|| panic!("once"));
            panic::resume_unwind(payload);
        });
        assert_eq!(again, ("once".into(), true));
    }

    #[test]
    fn a_cut_is_not_a_bug() {
        assert!(matches!(catch(|| cut()), Err(Stop::Cut)));
    }

    #[test]
    fn a_payload_that_panics_when_dropped_does_no_harm() {
        struct PanicsOnDrop;
        impl Drop for PanicsOnDrop {
            fn drop(&mut self) {
                panic!("payload dropped");
            }
        }
        let (message, _) = bug_of(|| panic::panic_any(PanicsOnDrop));
        assert_eq!(message, "a panic whose payload is not text");
    }
}
