//! A program that ends the process in the middle of a run does not pass, and its schedule is saved.
//!
//! A program that calls `exit` ends the test binary, with a code that may mean success. A program
//! that aborts, as Rust does after a failed allocation or a stack overflow, is killed by a signal.
//! Threads that run code of a program register here what to do then.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dally_core::bug::ProcessEnd;

/// Called when the registered thread ends the process; returns whether it ran the program's code.
pub(crate) type LastWords = Arc<dyn Fn(ProcessEnd) -> bool + Send + Sync>;

/// The exit code of a process that a program under test has ended: that of a failed test.
#[cfg(unix)]
const FAILED: i32 = 101;

/// Ends the process on purpose in the middle of a run, as a second Ctrl-C does.
/// [`std::process::exit`] would be taken for a fault of the program under test.
pub fn exit(code: i32) -> ! {
    MEANT.store(1, Ordering::Relaxed);
    std::process::exit(code)
}

static MEANT: AtomicUsize = AtomicUsize::new(0);

/// How many supervisors have threads.
static RUNS: AtomicUsize = AtomicUsize::new(0);

/// The threads that run code of programs, by numbers that are used once.
static THREADS: Mutex<Vec<(usize, LastWords)>> = Mutex::new(Vec::new());

thread_local! {
    /// The number of this thread, or 0. It needs no destructor, so it can be read while the thread
    /// ends, and no initialisation, so a signal handler can read it.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

fn threads() -> MutexGuard<'static, Vec<(usize, LastWords)>> {
    THREADS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn last_words_of(thread: usize) -> Option<LastWords> {
    threads().iter().find(|(number, _)| *number == thread).map(|(_, words)| words.clone())
}

/// Keeps this thread registered until it is dropped.
pub(crate) struct Registered(usize);

/// Registers this thread, which must not be registered.
pub(crate) fn register(words: LastWords) -> Registered {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    #[cfg(unix)]
    system::install();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    threads().push((number, words));
    CURRENT.set(number);
    Registered(number)
}

impl Drop for Registered {
    fn drop(&mut self) {
        CURRENT.set(0);
        threads().retain(|(number, _)| *number != self.0);
    }
}

/// From now on nothing is done when this thread ends the process.
pub(crate) fn all_is_said() {
    CURRENT.set(0);
}

/// Counts a supervisor in [`RUNS`] until it is dropped.
pub(crate) struct Running(());

pub(crate) fn running() -> Running {
    RUNS.fetch_add(1, Ordering::Relaxed);
    Running(())
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNS.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(unix)]
mod system {
    use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
    use std::os::fd::AsRawFd as _;
    use std::sync::OnceLock;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;

    /// What the handler of SIGABRT needs.
    struct Watch {
        /// Takes the number of the thread that aborts.
        request: PipeWriter,
        /// Gives a byte when the last words of the thread are said.
        done: PipeReader,
        /// The handler that was installed before.
        previous: libc::sigaction,
    }

    static WATCH: OnceLock<Watch> = OnceLock::new();

    pub(super) fn install() {
        static INSTALLED: AtomicBool = AtomicBool::new(false);
        if INSTALLED.swap(true, Ordering::Relaxed) {
            return;
        }
        // SAFETY: `at_exit` is a function without arguments that never unwinds: a panic in it aborts.
        unsafe { libc::atexit(at_exit) };
        // Without pipes or a thread, only the schedule of an abort is lost.
        let (Ok((requests, request)), Ok((done, said))) = (std::io::pipe(), std::io::pipe()) else {
            return;
        };
        let speaker = thread::Builder::new().name("dally last words".into());
        if speaker.spawn(move || speak(requests, said)).is_err() {
            return;
        }
        // SAFETY: all zeroes is a valid `sigaction`, and the call fills it in.
        let previous = unsafe {
            let mut previous: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGABRT, std::ptr::null(), &raw mut previous);
            previous
        };
        if WATCH.set(Watch { request, done, previous }).is_err() {
            return;
        }
        // SAFETY: all zeroes is a valid `sigaction`: no flags, an empty mask. The handler has the signature
        // that goes with these flags and calls only what POSIX allows in a handler.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_abort as *const () as libc::sighandler_t;
            // A thread that has overflowed its stack has only the alternate one left.
            action.sa_flags = libc::SA_ONSTACK;
            libc::sigaction(libc::SIGABRT, &raw const action, std::ptr::null_mut());
        }
    }

    /// Runs when the process exits, on the thread that has called `exit` or returned from `main`.
    extern "C" fn at_exit() {
        if MEANT.load(Ordering::Relaxed) != 0 {
            return;
        }
        let words = last_words_of(CURRENT.get());
        if words.is_some_and(|words| words(ProcessEnd::Exit)) {
            leave();
        } else if RUNS.load(Ordering::Relaxed) > 0 {
            let _ = std::io::stderr().write_all(
                b"\nerror: the process was ended by `exit` while a test of Dally was running, and not by \
                  the code that it runs: look for a thread, a sink or a strategy that calls `exit`\n",
            );
            leave();
        }
    }

    fn leave() {
        // SAFETY: it only ends the process. `exit` must not be called again from inside of it.
        unsafe { libc::_exit(FAILED) }
    }

    /// Says the last words of threads that abort. Those wait in a signal handler meanwhile, where
    /// next to nothing is allowed, perhaps on a small stack.
    fn speak(mut requests: PipeReader, mut said: PipeWriter) {
        let mut number = [0; size_of::<usize>()];
        while requests.read_exact(&mut number).is_ok() {
            if let Some(words) = last_words_of(usize::from_ne_bytes(number)) {
                words(ProcessEnd::Abort);
            }
            let _ = said.write_all(&[1]);
        }
    }

    /// Has the last words of this thread said, and passes the signal on.
    extern "C" fn on_abort(signal: libc::c_int) {
        /// How long saving may take, in milliseconds.
        const PATIENCE: libc::c_int = 10_000;
        let Some(Watch { request, done, previous }) = WATCH.get() else { return };
        let number = CURRENT.replace(0).to_ne_bytes();
        // SAFETY: the descriptors are open for as long as the process lives, the pointers are to
        // locals, and all four functions may be called in a handler. The signal is blocked until
        // the handler returns, and then goes to the previous handler.
        unsafe {
            if number != [0; size_of::<usize>()]
                && libc::write(request.as_raw_fd(), number.as_ptr().cast(), number.len()) > 0
            {
                let mut answer =
                    libc::pollfd { fd: done.as_raw_fd(), events: libc::POLLIN, revents: 0 };
                libc::poll(&raw mut answer, 1, PATIENCE);
            }
            libc::sigaction(signal, previous, std::ptr::null_mut());
            libc::raise(signal);
        }
    }
}
