//! What a socket is waited for, and what it is ready for.

use std::fmt;
use std::io;
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};

/// What is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interest(u8);

/// What can be done without waiting.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Ready(u8);

const READABLE: u8 = 1;
const WRITABLE: u8 = 2;
const READ_CLOSED: u8 = 4;
const WRITE_CLOSED: u8 = 8;
const PRIORITY: u8 = 16;
const ERROR: u8 = 32;

impl Interest {
    /// That something can be read, or nothing more will come.
    pub const READABLE: Interest = Interest(READABLE);
    /// That something can be written, or nothing more can.
    pub const WRITABLE: Interest = Interest(WRITABLE);
    /// That there is an error.
    pub const ERROR: Interest = Interest(ERROR);
    /// That there are urgent bytes, which never come.
    pub const PRIORITY: Interest = Interest(PRIORITY);

    /// Whether it includes reading.
    pub const fn is_readable(self) -> bool {
        self.0 & READABLE != 0
    }

    /// Whether it includes writing.
    pub const fn is_writable(self) -> bool {
        self.0 & WRITABLE != 0
    }

    /// Whether it includes errors.
    pub const fn is_error(self) -> bool {
        self.0 & ERROR != 0
    }

    /// Whether it includes urgent bytes.
    pub const fn is_priority(self) -> bool {
        self.0 & PRIORITY != 0
    }

    /// Both.
    #[must_use = "this returns the result of the operation, without modifying the original"]
    pub const fn add(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }

    /// What is left without the other; `None` if nothing is.
    #[must_use = "this returns the result of the operation, without modifying the original"]
    pub fn remove(self, other: Interest) -> Option<Interest> {
        let left = self.0 & !other.0;
        (left != 0).then_some(Interest(left))
    }
}

impl BitOr for Interest {
    type Output = Interest;

    fn bitor(self, other: Interest) -> Interest {
        self.add(other)
    }
}

impl BitOrAssign for Interest {
    fn bitor_assign(&mut self, other: Interest) {
        *self = *self | other;
    }
}

impl fmt::Debug for Interest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        names(
            f,
            self.0,
            &[
                (READABLE, "READABLE"),
                (WRITABLE, "WRITABLE"),
                (PRIORITY, "PRIORITY"),
                (ERROR, "ERROR"),
            ],
        )
    }
}

fn names(f: &mut fmt::Formatter<'_>, bits: u8, names: &[(u8, &str)]) -> fmt::Result {
    let there: Vec<_> =
        names.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect();
    f.write_str(&there.join(" | "))
}

impl Ready {
    /// Nothing.
    pub const EMPTY: Ready = Ready(0);
    /// Something can be read.
    pub const READABLE: Ready = Ready(READABLE);
    /// Something can be written.
    pub const WRITABLE: Ready = Ready(WRITABLE);
    /// Nothing more will come.
    pub const READ_CLOSED: Ready = Ready(READ_CLOSED);
    /// Nothing more can be written.
    pub const WRITE_CLOSED: Ready = Ready(WRITE_CLOSED);
    /// There are urgent bytes.
    pub const PRIORITY: Ready = Ready(PRIORITY);
    /// There is an error.
    pub const ERROR: Ready = Ready(ERROR);
    /// All of it.
    pub const ALL: Ready =
        Ready(READABLE | WRITABLE | READ_CLOSED | WRITE_CLOSED | PRIORITY | ERROR);

    /// Whether there is nothing.
    pub fn is_empty(self) -> bool {
        self == Ready::EMPTY
    }

    /// Whether something can be read, the end included.
    pub fn is_readable(self) -> bool {
        self.contains(Ready::READABLE) || self.is_read_closed()
    }

    /// Whether something can be written, a failure included.
    pub fn is_writable(self) -> bool {
        self.contains(Ready::WRITABLE) || self.is_write_closed()
    }

    /// Whether nothing more will come.
    pub fn is_read_closed(self) -> bool {
        self.contains(Ready::READ_CLOSED)
    }

    /// Whether nothing more can be written.
    pub fn is_write_closed(self) -> bool {
        self.contains(Ready::WRITE_CLOSED)
    }

    /// Whether there are urgent bytes.
    pub fn is_priority(self) -> bool {
        self.contains(Ready::PRIORITY)
    }

    /// Whether there is an error.
    pub fn is_error(self) -> bool {
        self.contains(Ready::ERROR)
    }

    /// Whether all of the other is in it.
    pub fn contains<T: Into<Ready>>(&self, other: T) -> bool {
        let other = other.into();
        *self & other == other
    }

    /// What somebody with this interest hears of.
    pub(crate) fn of(self, interest: Interest) -> Ready {
        let mut heard = interest.0;
        if interest.is_readable() {
            heard |= READ_CLOSED;
        }
        if interest.is_writable() {
            heard |= WRITE_CLOSED;
        }
        Ready(self.0 & heard)
    }
}

impl BitOr for Ready {
    type Output = Ready;

    fn bitor(self, other: Ready) -> Ready {
        Ready(self.0 | other.0)
    }
}

impl BitOrAssign for Ready {
    fn bitor_assign(&mut self, other: Ready) {
        *self = *self | other;
    }
}

impl BitAnd for Ready {
    type Output = Ready;

    fn bitand(self, other: Ready) -> Ready {
        Ready(self.0 & other.0)
    }
}

impl Sub for Ready {
    type Output = Ready;

    fn sub(self, other: Ready) -> Ready {
        Ready(self.0 & !other.0)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready")
            .field("is_readable", &self.is_readable())
            .field("is_writable", &self.is_writable())
            .field("is_read_closed", &self.is_read_closed())
            .field("is_write_closed", &self.is_write_closed())
            .field("is_error", &self.is_error())
            .field("is_priority", &self.is_priority())
            .finish()
    }
}

/// What every kind of socket has beside reading and writing, once it can say what it is ready for and wait for
/// that: methods in the shape of tokio's.
macro_rules! readiness {
    ($type:ty) => {
        impl $type {
            /// Waits until any of these can be done, and answers what can.
            pub async fn ready(
                &self,
                interest: crate::io::Interest,
            ) -> std::io::Result<crate::io::Ready> {
                std::future::poll_fn(|cx| {
                    let reads = interest.is_readable() && self.poll_read_ready(cx).is_ready();
                    let writes = interest.is_writable() && self.poll_write_ready(cx).is_ready();
                    let ready = self.readiness().of(interest);
                    if (reads || writes) && !ready.is_empty() {
                        return std::task::Poll::Ready(Ok(ready));
                    }
                    std::task::Poll::Pending
                })
                .await
            }

            /// Waits until something can be read.
            pub async fn readable(&self) -> std::io::Result<()> {
                std::future::poll_fn(|cx| self.poll_read_ready(cx)).await
            }

            /// Waits until something can be written.
            pub async fn writable(&self) -> std::io::Result<()> {
                std::future::poll_fn(|cx| self.poll_write_ready(cx)).await
            }

            /// Does something with the socket, if it is ready for that.
            pub fn try_io<R>(
                &self,
                interest: crate::io::Interest,
                f: impl FnOnce() -> std::io::Result<R>,
            ) -> std::io::Result<R> {
                crate::io::when_ready(self.readiness(), interest)?;
                f()
            }

            /// Does something with the socket as soon as it is ready and the closure does not say that it would
            /// have to wait.
            pub async fn async_io<R>(
                &self,
                interest: crate::io::Interest,
                mut f: impl FnMut() -> std::io::Result<R>,
            ) -> std::io::Result<R> {
                loop {
                    self.ready(interest).await?;
                    match f() {
                        Err(why) if why.kind() == std::io::ErrorKind::WouldBlock => {
                            dally_tasks::yield_now().await;
                        }
                        answer => return answer,
                    }
                }
            }
        }
    };
}

pub(crate) use readiness;

/// An error if none of these can be done.
pub(crate) fn when_ready(ready: Ready, interest: Interest) -> io::Result<()> {
    if ready.of(interest).is_empty() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
}
