//! The functions of C by which a program leaves what is under control: those that start threads, block them, use
//! sockets and lock files. Each does what it does in the C library; a task that calls one is told of.
//!
//! Recording a call allocates and reads the stack. So a handler of a signal must not call one of these functions while
//! it runs on the thread of a task: what it interrupts may be the allocator. Rust's own handlers do not.
#![allow(unsafe_code)]

use std::backtrace::Backtrace;
use std::cell::Cell;
use std::ffi::{CStr, c_int, c_long, c_uint, c_void};
use std::hint::black_box;
use std::process;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use dally_core::ForeignKind;
use dally_core::foreign::Blocked;

use crate::current;

/// A function of the C library of which this binary has its own.
struct Real {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Real {
    const fn new(name: &'static CStr) -> Real {
        Real { name, found: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Its address; null if there is none.
    fn look_up(&self) -> *mut c_void {
        let mut found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            // SAFETY: the name ends with a zero, and the loader looks for it in what comes after this binary.
            found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
            self.found.store(found, Ordering::Relaxed);
        }
        found
    }

    fn address(&self) -> *mut c_void {
        let found = self.look_up();
        if found.is_null() {
            // Whoever calls it may not be ready for a panic.
            eprintln!("error: {}", self.missing());
            process::abort();
        }
        found
    }

    fn missing(&self) -> String {
        let name = self.name.to_string_lossy();
        format!(
            "Dally cannot find {name} of the C library: a test that is linked statically cannot be run; leave out \
             `-C target-feature=+crt-static`"
        )
    }
}

thread_local! {
    /// Whether this thread is recording a call. Calls that the recording makes are not recorded.
    static RECORDING: Cell<bool> = const { Cell::new(false) };
}

/// The running task, if there is one, makes a call of this kind; what is returned says for how long.
#[inline]
fn calls(kind: ForeignKind) -> Option<Blocked> {
    if current::is_outside() || RECORDING.replace(true) {
        return None;
    }
    let call = recorded(kind);
    RECORDING.set(false);
    call
}

/// The call is over. The number of the error that it may have ended with is kept.
#[cold]
fn over(call: Blocked) {
    // SAFETY: the address is that of a number of this thread, for as long as it runs.
    let number = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let error = unsafe { *number };
    RECORDING.set(true);
    drop(call);
    RECORDING.set(false);
    // SAFETY: as above.
    unsafe { *number = error };
}

#[cold]
fn recorded(kind: ForeignKind) -> Option<Blocked> {
    let wanted = current::try_with(|exec| exec.uses.wants(kind))?;
    // A thread that is started does not block whoever starts it.
    let blocks = kind != ForeignKind::Threads;
    if !wanted && !blocks {
        return None;
    }
    let call = Arc::new(Backtrace::force_capture());
    if wanted {
        current::try_with(|exec| {
            let by = exec.tasks[exec.current].name.with_place();
            exec.uses.note(kind, by, Arc::clone(&call));
        });
    }
    blocks.then(|| Blocked::new(call))
}

/// The type of a function of the C library: the one that is given for a variadic one, or that of its arguments.
macro_rules! type_of {
    ([] $fixed:ty) => {
        $fixed
    };
    ([$variadic:ty] $fixed:ty) => {
        $variadic
    };
}

/// Functions that do what those of the C library do, and tell of it.
macro_rules! functions {
    ($($kind:ident: fn $name:ident($($argument:ident: $type:ty),*) -> $answer:ty
       $(as $function:ty)? $(, if $when:expr)?;)*) => {
        /// Those of the C library.
        #[allow(non_upper_case_globals, reason = "they have the names of the functions")]
        mod real {
            use super::*;

            $(pub(super) static $name: Real =
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => Real::new(name),
                    Err(_) => unreachable!(),
                };)*
        }

        /// Makes the linker keep the functions, and panics if the C library is not there to call.
        pub(super) fn link() {
            static LINKED: AtomicBool = AtomicBool::new(false);
            if LINKED.load(Ordering::Relaxed) {
                return;
            }
            $(
                black_box($name as *const () as usize);
                assert!(!real::$name.look_up().is_null(), "{}", real::$name.missing());
            )*
            LINKED.store(true, Ordering::Relaxed);
        }

        $(
            /// Does what the function of the C library of this name does.
            ///
            /// # Safety
            /// As for that function.
            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $answer {
                type Function = type_of!(
                    [$($function)?] unsafe extern "C-unwind" fn($($type),*) -> $answer
                );
                let call = if true $(&& $when)? { calls(ForeignKind::$kind) } else { None };
                // SAFETY: the C library's function of this name is of this type.
                let real = unsafe {
                    std::mem::transmute::<*mut c_void, Function>(real::$name.address())
                };
                // The C library unwinds a thread that is cancelled in here, where nothing may be left to drop.
                let Some(call) = call else {
                    // SAFETY: the caller's promise.
                    return unsafe { real($($argument),*) };
                };
                // SAFETY: the caller's promise.
                let answer = unsafe { real($($argument),*) };
                over(call);
                answer
            }
        )*
    };
}

/// Whether a call of the system by its number waits on a word in memory, as locks and conditions do.
fn waits_on_a_word(number: c_long, operation: c_long) -> bool {
    const COMMANDS: c_long = 0x7f;
    let command = operation & COMMANDS;
    number == libc::SYS_futex
        && [libc::FUTEX_WAIT, libc::FUTEX_WAIT_BITSET].map(c_long::from).contains(&command)
}

/// Whether a command to a file is about locks.
fn is_about_locks(command: c_int) -> bool {
    [libc::F_SETLK, libc::F_SETLKW, libc::F_OFD_SETLK, libc::F_OFD_SETLKW].contains(&command)
}

functions! {
    Threads: fn pthread_create(
        thread: *mut libc::pthread_t,
        attributes: *const libc::pthread_attr_t,
        begin: extern "C" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void
    ) -> c_int;
    Blocking: fn pthread_join(thread: libc::pthread_t, answer: *mut *mut c_void) -> c_int;
    Blocking: fn nanosleep(time: *const libc::timespec, left: *mut libc::timespec) -> c_int;
    Blocking: fn clock_nanosleep(
        clock: libc::clockid_t,
        flags: c_int,
        time: *const libc::timespec,
        left: *mut libc::timespec
    ) -> c_int;
    Blocking: fn syscall(
        number: c_long, a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long
    ) -> c_long as unsafe extern "C-unwind" fn(c_long, ...) -> c_long, if waits_on_a_word(number, b);
    Sockets: fn connect(socket: c_int, address: *const c_void, length: c_uint) -> c_int;
    Sockets: fn accept(socket: c_int, address: *mut c_void, length: *mut c_uint) -> c_int;
    Sockets: fn accept4(
        socket: c_int, address: *mut c_void, length: *mut c_uint, flags: c_int
    ) -> c_int;
    Sockets: fn recv(socket: c_int, bytes: *mut c_void, length: usize, flags: c_int) -> isize;
    Sockets: fn recvfrom(
        socket: c_int,
        bytes: *mut c_void,
        length: usize,
        flags: c_int,
        address: *mut c_void,
        of: *mut c_uint
    ) -> isize;
    Sockets: fn send(socket: c_int, bytes: *const c_void, length: usize, flags: c_int) -> isize;
    Sockets: fn sendto(
        socket: c_int,
        bytes: *const c_void,
        length: usize,
        flags: c_int,
        address: *const c_void,
        of: c_uint
    ) -> isize;
    FileLocks: fn flock(file: c_int, operation: c_int) -> c_int;
    FileLocks: fn fcntl(file: c_int, command: c_int, argument: c_long) -> c_int
        as unsafe extern "C-unwind" fn(c_int, c_int, ...) -> c_int, if is_about_locks(command);
}
