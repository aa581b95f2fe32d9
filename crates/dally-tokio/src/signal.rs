//! Signals. None ever arrives in a test.

use std::future::pending;
use std::io;

/// Waits for Ctrl-C, which never comes.
pub async fn ctrl_c() -> io::Result<()> {
    pending().await
}

/// Signals of Unix.
#[cfg(unix)]
pub mod unix {
    use std::future::pending;
    use std::io;
    use std::task::{Context, Poll};

    /// Which signal.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct SignalKind(i32);

    /// The signals that have a name of their own, with their numbers on Linux.
    macro_rules! kinds {
        ($($name:ident $number:literal),*) => {
            impl SignalKind {
                $(
                    /// The signal of this name.
                    pub const fn $name() -> SignalKind {
                        SignalKind($number)
                    }
                )*
            }
        };
    }

    kinds! {
        hangup 1, interrupt 2, quit 3, user_defined1 10, user_defined2 12, pipe 13, alarm 14, terminate 15,
        child 17, window_change 28, io 29
    }

    impl SignalKind {
        /// The signal with this number.
        pub const fn from_raw(number: i32) -> SignalKind {
            SignalKind(number)
        }

        /// The number of the signal.
        pub const fn as_raw_value(&self) -> i32 {
            self.0
        }
    }

    /// Listens for a signal.
    pub fn signal(kind: SignalKind) -> io::Result<Signal> {
        Ok(Signal { _kind: kind })
    }

    /// A listener for a signal, which never comes.
    #[derive(Debug)]
    pub struct Signal {
        _kind: SignalKind,
    }

    impl Signal {
        /// Waits for the signal.
        pub async fn recv(&mut self) -> Option<()> {
            pending().await
        }

        /// As [`Signal::recv`].
        pub fn poll_recv(&mut self, _: &mut Context<'_>) -> Poll<Option<()>> {
            Poll::Pending
        }
    }
}
