//! Signals. One is a fault: within the budget of faults, each that the program listens for on a host may come once, at
//! any point after somebody has begun to listen. Without a budget none does.

mod coming;

use std::io;

use self::coming::Listener;

/// What Ctrl-C sends.
const INTERRUPT: i32 = 2;

/// Waits for Ctrl-C.
pub async fn ctrl_c() -> io::Result<()> {
    Listener::new(INTERRUPT).recv().await;
    Ok(())
}

/// Signals of Unix.
#[cfg(unix)]
pub mod unix {
    use std::io;
    use std::task::{Context, Poll};

    use super::coming::Listener;

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
        Ok(Signal { listener: Listener::new(kind.0) })
    }

    /// A listener for a signal.
    #[derive(Debug)]
    pub struct Signal {
        listener: Listener,
    }

    impl Signal {
        /// Waits for the signal.
        pub async fn recv(&mut self) -> Option<()> {
            self.listener.recv().await;
            Some(())
        }

        /// As [`Signal::recv`].
        pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
            self.listener.poll_recv(cx).map(Some)
        }
    }
}
