//! The functions of the system's libz3, and nothing of what is said to it.
//!
//! This is the only file with `unsafe` of the crate. Its assumption is that what calls itself `libz3` has the C
//! interface of `z3_api.h`, which has not changed for these functions since 4.8.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

type Pointer = *mut c_void;
type ErrorHandler = unsafe extern "C" fn(Pointer, c_int);

/// The functions, for as long as the process runs.
pub(super) struct Library {
    make_config: unsafe extern "C" fn() -> Pointer,
    delete_config: unsafe extern "C" fn(Pointer),
    make_context: unsafe extern "C" fn(Pointer) -> Pointer,
    delete_context: unsafe extern "C" fn(Pointer),
    set_error_handler: unsafe extern "C" fn(Pointer, Option<ErrorHandler>),
    evaluate: unsafe extern "C" fn(Pointer, *const c_char) -> *const c_char,
    /// The functions are in it.
    _loaded: libloading::Library,
}

const NAMES: [&str; 4] = ["libz3.so.4", "libz3.so", "libz3.dylib", "libz3.dll"];

impl Library {
    /// The library, or why there is none.
    pub(super) fn get() -> Result<&'static Library, &'static str> {
        static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
        LIBRARY.get_or_init(Library::load).as_ref().map_err(String::as_str)
    }

    fn load() -> Result<Library, String> {
        let mut why = String::new();
        for name in NAMES {
            // SAFETY: loading runs what the library does when it is loaded. libz3 sets up tables of its own,
            // as for every program that is linked to it.
            match unsafe { libloading::Library::new(name) } {
                Ok(loaded) => return Library::of(loaded).map_err(|error| error.to_string()),
                Err(error) if why.is_empty() => why = error.to_string(),
                Err(_) => {}
            }
        }
        Err(why)
    }

    fn of(loaded: libloading::Library) -> Result<Library, libloading::Error> {
        // SAFETY: these are the types that `z3_api.h` declares, where `Z3_config` and `Z3_context` are
        // pointers, `Z3_string` is `const char *` and an error handler is a pointer to a function that
        // may be null. The pointers to functions are used no longer than `_loaded` is there.
        unsafe {
            Ok(Library {
                make_config: *loaded.get(b"Z3_mk_config\0")?,
                delete_config: *loaded.get(b"Z3_del_config\0")?,
                make_context: *loaded.get(b"Z3_mk_context\0")?,
                delete_context: *loaded.get(b"Z3_del_context\0")?,
                set_error_handler: *loaded.get(b"Z3_set_error_handler\0")?,
                evaluate: *loaded.get(b"Z3_eval_smtlib2_string\0")?,
                _loaded: loaded,
            })
        }
    }

    /// A session of its own; `None` if z3 has no memory for it.
    pub(super) fn session(&'static self) -> Option<Session> {
        // SAFETY: a configuration is made, used for one context and deleted, as `z3_api.h` asks. Without a
        // handler z3 notes an error and returns; its own handler would end the process.
        let context = unsafe {
            let config = NonNull::new((self.make_config)())?;
            let context = NonNull::new((self.make_context)(config.as_ptr()));
            (self.delete_config)(config.as_ptr());
            let context = context?;
            (self.set_error_handler)(context.as_ptr(), None);
            context
        };
        Some(Session { library: self, context })
    }
}

/// A context of z3. It is of one thread, since a pointer is.
pub(super) struct Session {
    library: &'static Library,
    context: NonNull<c_void>,
}

impl Session {
    /// What z3 answers to commands of SMT-LIB. What was declared before is known.
    pub(super) fn tell(&self, commands: &str) -> String {
        let Ok(commands) = CString::new(commands) else { return String::new() };
        // SAFETY: the context lives until `self` is dropped, and the text until the call returns.
        let answer = unsafe { (self.library.evaluate)(self.context.as_ptr(), commands.as_ptr()) };
        if answer.is_null() {
            return String::new();
        }
        // SAFETY: an answer that is not null ends with 0, and is the context's until the next call with it,
        // which cannot happen before it is copied here: a session is not shared by threads.
        unsafe { CStr::from_ptr(answer) }.to_string_lossy().into_owned()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: the context was made by `session`, and is deleted once.
        unsafe { (self.library.delete_context)(self.context.as_ptr()) }
    }
}
