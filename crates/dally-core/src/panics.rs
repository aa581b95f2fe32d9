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
    // Every handler of a program runs in here, inside one call for the whole schedule: only that
    // one has anything to prepare.
    let outermost = !INSIDE.get();
    if outermost {
        prepare();
    }
    let result = panic::catch_unwind(AssertUnwindSafe(code));
    if outermost {
        INSIDE.set(false);
    }
    result.map_err(stop_of)
}

#[inline(never)]
fn prepare() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(install);
    forget();
    INSIDE.set(true);
}

/// Forgets the panics of this thread that nobody has asked for: what a program caught itself in one
/// execution is no bug of the next. Called where an execution begins inside of another [`catch`].
pub fn forget() {
    RAISED.with_borrow_mut(Vec::clear);
}

/// What unwinding with this payload was about.
#[cold]
fn stop_of(payload: Box<dyn Any + Send>) -> Stop {
    if payload.is::<Cut>() {
        return Stop::Cut;
    }
    // The hook has seen this panic, and perhaps others that the program caught itself. With
    // `resume_unwind` no hook runs, and then there is no place to tell.
    let text = text_of(&*payload);
    let bug = RAISED
        .take()
        .into_iter()
        .rfind(|seen| seen.message() == text)
        .unwrap_or_else(|| Bug::panic(text));
    // The payload may have a destructor of the program's, and that may panic too.
    let dropped = panic::catch_unwind(AssertUnwindSafe(|| drop(payload)));
    if let Err(second) = dropped {
        std::mem::forget(second);
    }
    Stop::Bug(Box::new(bug))
}

/// Leaves the program's code at once, as if by a panic that no hook sees: for operations that
/// the program calls and that have been told [`Cut`].
pub fn cut() -> ! {
    panic::resume_unwind(Box::new(Cut))
}

/// Runs code of the program for which this worker or monitor is to blame: a panic in it that
/// [`catch`] turns into a bug names it.
///
/// ```
/// use dally_core::{panics, Stop};
///
/// let asked = panics::catch(|| panics::blaming("Master", || panic!("two leaders")));
/// let Err(Stop::Bug(bug)) = asked else { panic!() };
/// assert_eq!(bug.culprit.as_deref(), Some("Master"));
/// ```
pub fn blaming<R>(culprit: &'static str, code: impl FnOnce() -> R) -> R {
    struct Restore(Option<&'static str>);
    impl Drop for Restore {
        fn drop(&mut self) {
            BLAMED.set(self.0);
        }
    }
    let _restore = Restore(BLAMED.replace(Some(culprit)));
    code()
}

/// What [`before_abort`] calls.
pub type Save = Box<dyn Fn(Bug)>;

/// Says what to do on this thread when the program panics in a destructor while it unwinds:
/// Rust then aborts the process, and this is the last chance to save the finding.
pub fn before_abort(save: Option<Save>) {
    BEFORE_ABORT.set(save);
}

/// A program may catch any number of its own panics. The one that comes through is among the last.
const MOST_RAISED: usize = 16;

thread_local! {
    /// Whether code of a program runs.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// Who is to blame for a panic, if that is known before it happens.
    static BLAMED: Cell<Option<&'static str>> = const { Cell::new(None) };
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
        bug.culprit = BLAMED.get().map(str::to_owned);
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
    if let Problem::Panic { then, .. } = &mut bug.problem {
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
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic whose payload is not text".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_that_the_program_catches_itself_is_no_bug_and_leaves_no_trace() {
        let caught = catch(|| panic::catch_unwind(|| panic!("inner")).is_err());
        assert!(caught.unwrap());
        let Err(Stop::Bug(bug)) = catch(|| panic!("outer")) else { panic!("no bug") };
        assert_eq!(bug.message(), "outer");
    }

    #[test]
    fn a_panic_that_no_hook_sees_is_not_taken_for_one_that_the_program_caught() {
        let resumed = catch(|| {
            let _ = panic::catch_unwind(|| panic!("caught long ago"));
            panic::resume_unwind(Box::new("the real one"));
        });
        let Err(Stop::Bug(bug)) = resumed else { panic!("no bug") };
        assert_eq!((bug.message(), &bug.location), ("the real one", &None));
    }

    #[test]
    fn a_panic_that_is_caught_and_thrown_again_keeps_its_place() {
        let again = catch(|| {
            let Err(payload) = panic::catch_unwind(|| panic!("once"));
            panic::resume_unwind(payload);
        });
        let Err(Stop::Bug(bug)) = again else { panic!("no bug") };
        assert!(bug.location.is_some());
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
        let caught = catch(|| panic::panic_any(PanicsOnDrop));
        let Err(Stop::Bug(bug)) = caught else { panic!("no bug") };
        assert_eq!(bug.message(), "a panic whose payload is not text");
    }
}
