//! What a program does that is not under control, and where it does it.

use std::backtrace::Backtrace;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use serde::{Deserialize, Serialize};

use crate::bug::Location;

/// What a program does that is not under control.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Foreign {
    /// The first use of each kind, sorted by kind. Which use comes first, and whether its call was seen, can depend on
    /// threads.
    pub uses: Vec<ForeignUse>,
    /// Whether workers had nothing else to wait for, so that nothing was explored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only: bool,
}

impl Foreign {
    /// Adds what later executions did.
    pub fn append(&mut self, later: Foreign) {
        self.only &= later.only;
        self.uses.extend(later.uses);
        // The sort keeps the order of those of one kind.
        self.uses.sort_by_key(|used| used.kind);
        self.uses.dedup_by_key(|used| used.kind);
    }
}

/// The first use of its kind.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForeignUse {
    /// What was used.
    pub kind: ForeignKind,
    /// Who did, and where it was made.
    pub by: String,
    /// By which call, if that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
}

/// Kinds of things that are not under control.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ForeignKind {
    /// Futures that others complete elsewhere.
    Futures,
    /// Threads of the system.
    Threads,
    /// Operations that block the thread.
    Blocking,
    /// Sockets of the system.
    Sockets,
    /// Locks of the system's files.
    FileLocks,
}

impl ForeignKind {
    /// All of them.
    pub const ALL: [ForeignKind; 5] = [
        ForeignKind::Futures,
        ForeignKind::Threads,
        ForeignKind::Blocking,
        ForeignKind::Sockets,
        ForeignKind::FileLocks,
    ];

    /// What is meant, as in "beside threads".
    pub fn noun(self) -> &'static str {
        match self {
            ForeignKind::Futures => "foreign futures",
            ForeignKind::Threads => "threads",
            ForeignKind::Blocking => "blocking calls",
            ForeignKind::Sockets => "real sockets",
            ForeignKind::FileLocks => "locks of real files",
        }
    }
}

/// A call of an operation, in the program's own code as far as that can be seen.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Call {
    /// The function that the program calls, by its path.
    pub operation: String,
    /// Where it is called: the place in the source, or the function where that is not known.
    pub place: String,
    /// The same place, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at {}", self.operation, self.place)
    }
}

impl Call {
    /// The innermost call that the program's own code makes of other code. Reading the names of functions takes a
    /// tenth of a second where there is much debug information.
    pub fn of(backtrace: &Backtrace) -> Option<Call> {
        Call::among(&backtrace.to_string())
    }

    /// As [`Call::of`], from the text of a backtrace.
    fn among(text: &str) -> Option<Call> {
        let frames = frames(text);
        // Whatever has no line may be of a crate that was compiled without.
        let with_line = |frame: &Frame| frame.location.is_some() && frame.is_own();
        let own = frames.iter().position(with_line);
        let own = own.or_else(|| frames.iter().position(Frame::is_own))?;
        let frame = &frames[own];
        let named = frames[..own].iter().rev().find(|frame| !path_of(&frame.function).is_empty());
        let operation = named.map_or_else(|| "a function of the system".into(), Frame::in_words);
        let place = match &frame.location {
            Some(location) => location.to_string(),
            None => format!("some line of `{}`", path_of(&frame.function)),
        };
        Some(Call { operation, place, location: frame.location.clone() })
    }

    /// Whether it waits for something that somebody else has only for a moment: a lock, or a value that is made once.
    pub fn waits_a_moment(&self) -> bool {
        let (path, file) = self.operation.split_once(" in ").unwrap_or((&self.operation, ""));
        let function = path.rsplit("::").next().unwrap_or_default();
        let names = [path, file].map(str::to_lowercase);
        let names = || names.iter().flat_map(|text| text.split(['/', ':', '.', '-']));
        let has = |wanted: &[&str]| {
            let words = |name: &str| name.split('_').any(|word| wanted.contains(&word));
            names().any(|name| wanted.contains(&name) || words(name))
        };
        let of_locks = ["lock", "read", "write", "upgradable_read", "lock_arc"].contains(&function);
        let once = ["once", "oncelock", "oncecell", "once_cell", "lazy", "lazylock"];
        (of_locks && !has(&["fs", "net"])) || has(&once) || has(&["stdio", "thread_local"])
    }
}

/// A line of a backtrace.
struct Frame {
    function: String,
    location: Option<Location>,
}

impl Frame {
    /// Whether it is none of the standard library, of Dally, of the C library or of the registry.
    fn is_own(&self) -> bool {
        const OF_OTHERS: [&str; 6] = [
            "/rustc/",
            "/registry/src/",
            "/git/checkouts/",
            "/rustlib/src/",
            "/crates/dally/src/",
            "/crates/dally-",
        ];
        if let Some(at) = &self.location {
            let of_c = [".c", ".S"].iter().any(|end| at.file.ends_with(end));
            return !of_c && !OF_OTHERS.iter().any(|part| at.file.contains(part));
        }
        let path = self.function.trim_start_matches(['<', '&', '*']);
        // What has no crate is a function of C, `main` among them.
        let Some((krate, _)) = path.split_once("::") else { return false };
        let krate = krate.rsplit(' ').next().unwrap_or(krate);
        let others = ["std", "core", "alloc", "tokio", "tokio_real", "corosensei", "test", "dally"];
        !others.contains(&krate) && !krate.starts_with("dally_") && !krate.starts_with("__rust")
    }

    /// The function by its path, or by its name and its file where there is little debug information.
    fn in_words(&self) -> String {
        let path = path_of(&self.function);
        let Some(at) = self.location.as_ref().filter(|_| !path.contains("::")) else { return path };
        let file = ["/library/", "/registry/src/", "/git/checkouts/"].iter().find_map(|part| {
            let (_, rest) = at.file.split_once(part)?;
            // The registry has a directory of its own.
            if *part == "/registry/src/" {
                rest.split_once('/').map(|(_, rest)| rest)
            } else {
                Some(rest)
            }
        });
        file.map_or(path.clone(), |file| format!("{path} in {file}"))
    }
}

/// The frames in the text of a backtrace, innermost first.
fn frames(text: &str) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(at) = line.strip_prefix("at ") {
            if let Some(frame) = frames.last_mut() {
                frame.location = location(at);
            }
        } else if let Some((number, function)) = line.split_once(": ")
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            frames.push(Frame { function: function.to_owned(), location: None });
        }
    }
    frames
}

fn location(text: &str) -> Option<Location> {
    let mut parts = text.rsplitn(3, ':');
    let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let file = parts.next()?;
    let file = file.strip_prefix("./").unwrap_or(file);
    let of_links = file.contains("/dally/shadow/");
    // A test of tokio code is compiled from links to its files: the same file is below the directory that it runs in.
    let below = file.match_indices('/').map(|(slash, _)| &file[slash + 1..]);
    let here = below.into_iter().find(|rest| of_links && Path::new(rest).is_file());
    Some(Location { file: here.unwrap_or(file).to_owned(), line, column })
}

/// The path of a function without its generic arguments: `std::sync::Mutex<T>::lock` and `<std::fs::File as
/// std::io::Read>::read` are `std::sync::Mutex::lock` and `std::fs::File::read`.
fn path_of(function: &str) -> String {
    let (own_type, rest) = match function.strip_prefix('<').and_then(closed) {
        Some((inside, rest)) => (inside.split(" as ").next().unwrap_or(inside), rest),
        None => ("", function),
    };
    let mut path = String::new();
    let (mut depth, mut before) = (0_u32, ' ');
    for letter in own_type.trim_start_matches(['&', '*']).chars().chain(rest.chars()) {
        match letter {
            '<' => depth += 1,
            // The arrow of a function's result.
            '>' if before == '-' => {}
            '>' => depth = depth.saturating_sub(1),
            letter if depth == 0 => path.push(letter),
            _ => {}
        }
        before = letter;
    }
    let is_closure = |part: &str| part.is_empty() || part.starts_with('{');
    let parts: Vec<&str> = path.split("::").filter(|part| !is_closure(part)).collect();
    parts.join("::")
}

/// What stands before the bracket that closes, and after it.
fn closed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1_u32;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            // Not the arrow of a function's result.
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..at], &text[at + 1..]));
        }
        before = letter;
    }
    None
}

/// The calls under way that block threads which run executions.
static BLOCKING: Mutex<Vec<(ThreadId, Arc<Backtrace>)>> = Mutex::new(Vec::new());

fn blocking() -> MutexGuard<'static, Vec<(ThreadId, Arc<Backtrace>)>> {
    BLOCKING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While this lives, the thread that has made it is in a call that may block it.
#[derive(Debug)]
#[must_use = "the call is over when this is dropped"]
pub struct Blocked(ThreadId);

impl Blocked {
    /// From here on, in this call.
    #[allow(clippy::disallowed_methods, reason = "for the words of a report only")]
    pub fn new(call: Arc<Backtrace>) -> Blocked {
        let thread = thread::current().id();
        blocking().push((thread, call));
        Blocked(thread)
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        let mut all = blocking();
        if let Some(place) = all.iter().rposition(|(thread, _)| *thread == self.0) {
            all.remove(place);
        }
    }
}

/// The call that a thread is in, if that may block it.
pub fn blocked_in(thread: ThreadId) -> Option<Call> {
    let found = blocking().iter().rfind(|(one, _)| *one == thread).map(|(_, call)| call.clone());
    found.and_then(|backtrace| Call::of(&backtrace))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCKED: &str = "   0: dally_tasks::platform::system_calls::syscall
             at /src/dally/crates/dally-tasks/src/platform/system_calls.rs:7:5
   1: std::sys::sync::mutex::futex::Mutex::lock_contended
             at /rustc/0f/library/std/src/sys/sync/mutex/futex.rs:61:9
   2: std::sync::poison::mutex::Mutex<T>::lock
             at /rustc/0f/library/std/src/sync/poison/mutex.rs:497:24
   3: bank::transfer::{{closure}}
             at ./src/lib.rs:20:9
   4: <core::pin::Pin<P> as core::future::future::Future>::poll
             at /rustc/0f/library/core/src/future/future.rs:133:9
";

    #[test]
    fn a_call_is_what_the_own_code_of_the_program_calls() {
        let call = Call::among(LOCKED).unwrap();
        insta::assert_snapshot!(call, @"`std::sync::poison::mutex::Mutex::lock` at src/lib.rs:20:9");
        assert!(call.waits_a_moment());
        let through_a_crate =
            LOCKED.replace("./src/lib.rs", "/cargo/registry/src/x/pool-1.0/src/lib.rs");
        assert!(Call::among(&through_a_crate).is_none(), "nobody is there but other crates");
    }

    #[test]
    fn without_lines_the_function_is_named() {
        let text: String = LOCKED
            .lines()
            .filter(|line| !line.contains(" at "))
            .fold(String::new(), |text, line| text + line + "\n");
        let call = Call::among(&text).unwrap();
        insta::assert_snapshot!(call, @"`std::sync::poison::mutex::Mutex::lock` at some line of `bank::transfer`");
        assert!(call.location.is_none());
        let lines_only = LOCKED.replace("std::sync::poison::mutex::Mutex<T>::", "");
        let call = Call::among(&lines_only).unwrap();
        insta::assert_snapshot!(call, @"`lock in std/src/sync/poison/mutex.rs` at src/lib.rs:20:9");
        assert!(call.waits_a_moment());
    }

    #[test]
    fn paths_of_functions_have_no_generic_arguments() {
        let read = path_of("<std::net::tcp::TcpStream as std::io::Read>::read");
        assert_eq!(read, "std::net::tcp::TcpStream::read");
        assert_eq!(path_of("<std::sync::Mutex<fn() -> u8>>::lock::<u8>"), "std::sync::Mutex::lock");
        assert_eq!(path_of("std::thread::spawn::{{closure}}"), "std::thread::spawn");
        let once =
            |path: &str| Call { operation: path.into(), place: String::new(), location: None };
        assert!(once("std::sync::OnceLock::get_or_init").waits_a_moment());
        assert!(once("once_cell::imp::initialize").waits_a_moment());
        assert!(once("get_or_init in once_cell-1.21.3/src/imp_std.rs").waits_a_moment());
        assert!(once("lazy in std/src/sys/thread_local/mod.rs").waits_a_moment());
        assert!(once("cabinet::Mutex::lock").waits_a_moment(), "it has nothing to do with `net`");
        assert!(once("offset::Table::read").waits_a_moment(), "it has nothing to do with `fs`");
        assert!(!once("nonce::Channel::recv").waits_a_moment(), "it has nothing to do with `once`");
        assert!(!once("std::fs::File::lock").waits_a_moment());
        assert!(!once("std::net::tcp::TcpStream::read").waits_a_moment());
        assert!(!once("std::sync::poison::condvar::Condvar::wait").waits_a_moment());
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "it is what is tested")]
    fn a_thread_is_blocked_while_its_call_lasts() {
        let here = thread::current().id();
        assert!(blocked_in(here).is_none());
        let call = Blocked::new(Arc::new(Backtrace::force_capture()));
        assert!(blocking().iter().any(|(thread, _)| *thread == here));
        drop(call);
        assert!(!blocking().iter().any(|(thread, _)| *thread == here));
    }
}
