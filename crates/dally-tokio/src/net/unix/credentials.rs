//! Whose processes are at the ends of a connection: there is one process, the same in every execution.

/// The number of a user.
#[allow(non_camel_case_types, reason = "as in C")]
pub type uid_t = u32;

/// The number of a group of users.
#[allow(non_camel_case_types, reason = "as in C")]
pub type gid_t = u32;

/// The number of a process.
#[allow(non_camel_case_types, reason = "as in C")]
pub type pid_t = i32;

/// Whose process is at the other end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct UCred {
    _only: (),
}

impl UCred {
    pub(super) fn of_the_test() -> UCred {
        UCred { _only: () }
    }

    /// The user: a number that is the same everywhere.
    pub fn uid(&self) -> uid_t {
        1_000
    }

    /// The group: a number that is the same everywhere.
    pub fn gid(&self) -> gid_t {
        1_000
    }

    /// The process: a number that is the same everywhere.
    pub fn pid(&self) -> Option<pid_t> {
        Some(2)
    }
}
