//! What tasks do and wait for, in words that are written only when somebody reads them.

use std::fmt;
use std::panic::Location;

use dally_core::bug::{self, Place, PlaceOf};
use dally_core::{ObjectId, fingerprint};

/// What a shared object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Channel,
    Oneshot,
    Mutex,
    Notify,
    Semaphore,
    RwLock,
    Watch,
    Broadcast,
    Barrier,
    Once,
    JoinSet,
    LocalSet,
    /// A queue of bytes, connections or datagrams, by what it is called.
    Pipe(&'static str),
    /// A task's result.
    Task,
    Clock,
    /// The faults that may still happen.
    Faults,
    /// The wakers that combinators put in between.
    Wakers,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Channel => "channel",
            Kind::Oneshot => "oneshot",
            Kind::Mutex => "mutex",
            Kind::Notify => "notify",
            Kind::Semaphore => "semaphore",
            Kind::RwLock => "rwlock",
            Kind::Watch => "watch",
            Kind::Broadcast => "broadcast",
            Kind::Barrier => "barrier",
            Kind::Once => "once cell",
            Kind::JoinSet => "join set",
            Kind::LocalSet => "local set",
            Kind::Pipe(name) => name,
            Kind::Task => "task",
            Kind::Clock => "clock",
            Kind::Faults => "faults",
            Kind::Wakers => "wakers",
        }
    }
}

/// A shared object as people see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    pub id: ObjectId,
    pub kind: Kind,
    /// The execution that it belongs to.
    pub run: u64,
    /// Its place in the execution's table of objects.
    pub index: u32,
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.name())
    }
}

impl Object {
    /// Which one of its kind it is.
    fn name(&self) -> String {
        let ObjectId { creator, number } = self.id;
        // A task has one result and the execution has one clock: no number tells them apart.
        if number < ONLY { format!("{creator}#{number}") } else { creator.to_string() }
    }
}

/// Object numbers from here on are not counted but fixed.
pub(crate) const ONLY: u32 = u32::MAX - 3;
/// The number of a task's result among the objects of that task.
pub(crate) const RESULT: u32 = u32::MAX;
/// The number of the virtual clock among the objects of the main task.
pub(crate) const CLOCK: u32 = u32::MAX - 1;
/// The number of the faults that may still happen among the objects of the main task.
pub(crate) const FAULTS: u32 = u32::MAX - 3;
/// The number of the wakers of combinators among the objects of the main task.
pub(crate) const WAKERS: u32 = u32::MAX - 2;

/// An operation on an object, such as ``send `u32` to ``.
#[derive(Debug)]
pub(crate) struct Operation {
    pub verb: &'static str,
    /// The type of what is moved, if anything is.
    pub payload: Option<fn() -> &'static str>,
    pub joint: &'static str,
}

impl Operation {
    /// An access that traces do not show: vector clocks and happens-before fingerprints need it, and
    /// a reader learns the same from the event that comes with it, such as that a task waits.
    pub const SILENT: &'static Operation = &Operation::plain("");

    pub const fn plain(verb: &'static str) -> Operation {
        Operation { verb, payload: None, joint: "" }
    }

    pub const fn moving<T>(verb: &'static str, joint: &'static str) -> Operation {
        Operation { verb, payload: Some(std::any::type_name::<T>), joint }
    }

    pub fn of<'a>(&'a self, object: &'a Object) -> OperationOf<'a> {
        OperationOf { operation: self, object }
    }
}

/// A operation with its object.
pub(crate) struct OperationOf<'a> {
    operation: &'a Operation,
    object: &'a Object,
}

impl fmt::Display for OperationOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.operation.verb.is_empty() {
            return Ok(());
        }
        f.write_str(self.operation.verb)?;
        if let Some(payload) = self.operation.payload {
            write!(f, " `{}` {}", Short(payload()), self.operation.joint)?;
        }
        write!(f, " `{}`", self.object)
    }
}

/// Something that a task waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub object: Object,
    pub operation: &'static Operation,
    /// What is at the place.
    pub place: PlaceOf,
    /// Where in the user's source.
    pub at: &'static Location<'static>,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = match self.place {
            PlaceOf::Creation => "made ",
            PlaceOf::Spawn => "spawned ",
            _ => "",
        };
        write!(f, "{} {of}at {}", self.operation.of(&self.object), self.at)
    }
}

impl Wait {
    /// The same as part of a bug.
    pub fn as_data(&self) -> bug::Wait {
        let payload = self.operation.payload.map(|full| Short(full()).to_string());
        let place = Place { of: self.place, location: self.at.into() };
        bug::Wait {
            operation: self.operation.verb.to_owned(),
            payload: payload.into_iter().collect(),
            object: Some(bug::Object {
                kind: self.object.kind.name().to_owned(),
                id: self.object.name(),
            }),
            place: Some(place),
        }
    }
}

/// All that a task waits for: any of it would let the task go on.
pub(crate) struct Waits<'a>(pub &'a [Wait]);

impl fmt::Display for Waits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("a future that Dally does not control and that nobody has woken");
        }
        for (i, wait) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", or ")?;
            }
            fmt::Display::fmt(wait, f)?;
        }
        Ok(())
    }
}

/// The name of a type without the paths of its parts: `Vec<String>` for
/// `alloc::vec::Vec<alloc::string::String>`.
struct Short(&'static str);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while !rest.is_empty() {
            let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
            let (path, more) = rest.split_at(word.unwrap_or(rest.len()));
            let end = more.chars().next().map_or(0, char::len_utf8);
            f.write_str(path.rsplit("::").next().unwrap_or(path))?;
            f.write_str(&more[..end])?;
            rest = &more[end..];
        }
        Ok(())
    }
}

/// What a task is called.
#[derive(Clone, Debug)]
pub(crate) enum TaskName {
    Main,
    Given(String),
    /// The type of the future, which carries the name of the function, and where it was spawned.
    Spawned(&'static str, &'static Location<'static>),
}

impl PartialEq for TaskName {
    fn eq(&self, other: &TaskName) -> bool {
        match (self, other) {
            (TaskName::Main, TaskName::Main) => true,
            (TaskName::Given(own), TaskName::Given(other)) => own == other,
            (TaskName::Spawned(own, at), TaskName::Spawned(other, there)) => {
                // Mostly it is the very same text, and need not be read.
                (std::ptr::eq(*own, *other) || own == other)
                    && (std::ptr::eq(*at, *there) || at == there)
            }
            _ => false,
        }
    }
}

impl TaskName {
    /// The name, and where the task was spawned.
    pub fn with_place(&self) -> String {
        match self {
            TaskName::Spawned(_, at) => format!("`{self}`, spawned at {at}"),
            name => format!("`{name}`"),
        }
    }

    /// A hash that tells kinds of tasks apart, as observations do.
    pub fn kind(&self) -> u64 {
        match self {
            TaskName::Main => 0,
            TaskName::Given(name) => fingerprint::of_bytes(name.as_bytes()),
            TaskName::Spawned(future, at) => {
                let place = u64::from(at.line()) << 32 | u64::from(at.column());
                fingerprint::mix(fingerprint::of_bytes(future.as_bytes()), place)
            }
        }
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskName::Main => f.write_str("main"),
            TaskName::Given(name) => f.write_str(name),
            TaskName::Spawned(future, at) => write!(f, "{}:{}", function(future), at.line()),
        }
    }
}

/// The function that a future's type is named after: `worker` for
/// `pool::worker::{{closure}}`. A block inside an async function, which has more than one closure
/// in its type, is just a task: the function's name is its parent's.
fn function(future: &str) -> &str {
    if future.matches("{{closure}}").count() > 1 {
        return "task";
    }
    let path = future.split('<').next().unwrap_or(future);
    path.rsplit("::").find(|part| !part.is_empty() && !part.starts_with('{')).unwrap_or("task")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_lose_their_paths_and_keep_their_arguments() {
        let full = "core::result::Result<alloc::vec::Vec<(u8, a::B)>, &str>";
        assert_eq!(Short(full).to_string(), "Result<Vec<(u8, B)>, &str>");
        assert_eq!(Short("()").to_string(), "()");
    }

    #[test]
    fn names_that_read_the_same_are_equal_wherever_their_texts_are() {
        let at = Location::caller();
        let elsewhere: &'static str = "pool::worker".to_owned().leak();
        let name = TaskName::Spawned("pool::worker", at);
        assert_eq!(name, TaskName::Spawned(elsewhere, at));
        assert_ne!(name, TaskName::Spawned("pool::server", at));
        assert_ne!(name, TaskName::Spawned("pool::worker", Location::caller()));
        assert_ne!(name, TaskName::Given("pool::worker".to_owned()));
    }

    #[test]
    fn a_task_is_named_after_its_function() {
        assert_eq!(function("pool::worker::{{closure}}"), "worker");
        assert_eq!(function("pool::serve<u32>::{{closure}}"), "serve");
        assert_eq!(function("pool::tests::drains::{{closure}}::{{closure}}"), "task");
    }
}
