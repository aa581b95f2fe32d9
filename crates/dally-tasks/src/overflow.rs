//! A stack overflow in a poll ends the process with the words that Rust has for one in a thread.
//!
//! Rust's own handler knows the guard pages of threads, and not those of the stacks that polls run
//! on: a program that recurses without end would just be killed.
// A signal handler is a function for C.
#![allow(unsafe_code)]

#[cfg(not(unix))]
pub(crate) fn watch() {}

/// Watches the guard pages of all stacks, from the first call on.
#[cfg(unix)]
pub(crate) fn watch() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(unix::install);
}

#[cfg(unix)]
mod unix {
    use std::io::Write;
    use std::mem::MaybeUninit;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use crate::coroutine;

    /// Whoever was asked before, for each signal.
    static BEFORE: OnceLock<[libc::sigaction; 2]> = OnceLock::new();
    const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

    pub(super) fn install() {
        // SAFETY: a `sigaction` of zeros is a valid one, and each call is given valid ones.
        unsafe {
            PAGE.store(libc::sysconf(libc::_SC_PAGESIZE) as usize, Relaxed);
            let before = SIGNALS.map(|signal| {
                let mut old = MaybeUninit::<libc::sigaction>::zeroed();
                libc::sigaction(signal, std::ptr::null(), old.as_mut_ptr());
                old.assume_init()
            });
            let _ = BEFORE.set(before);
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = handle as *const () as usize;
            // The stack that overflowed has no room for the handler.
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            for signal in SIGNALS {
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
    }

    extern "C" fn handle(
        signal: libc::c_int,
        info: *mut libc::siginfo_t,
        _context: *mut libc::c_void,
    ) {
        // SAFETY: the system hands a valid description of a signal of memory.
        let address = unsafe { (*info).si_addr() } as usize;
        let guard = coroutine::lowest_address();
        // A frame may reach over more than a page, but Rust touches each page of it.
        if guard != 0 && (guard..guard + PAGE.load(Relaxed)).contains(&address) {
            #[expect(clippy::disallowed_methods, reason = "Rust's own words name the thread, too")]
            let thread = std::thread::current();
            let name = thread.name().unwrap_or("<unknown>");
            let _ = writeln!(
                std::io::stderr(),
                "\nthread '{name}' has overflowed its stack\nfatal runtime error: stack overflow, \
                 aborting"
            );
            std::process::abort();
        }
        // Whoever was asked before is asked again: the instruction fails once more.
        let place = usize::from(signal == libc::SIGBUS);
        if let Some(before) = BEFORE.get() {
            // SAFETY: it was given by the same call.
            unsafe { libc::sigaction(signal, &before[place], std::ptr::null_mut()) };
        }
    }

    /// The size of a guard: a page of this system.
    static PAGE: AtomicUsize = AtomicUsize::new(0);
}
