//! Standard input, which is empty, and standard output and error. Those are the process's own: what is written is not
//! explored.

use std::io::{self, Write as _};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{AsyncRead, AsyncWrite, ReadBuf};

macro_rules! standard {
    ($(#[doc = $text:literal])* $type:ident $function:ident) => {
        $(#[doc = $text])*
        #[derive(Debug)]
        pub struct $type(());

        $(#[doc = $text])*
        pub fn $function() -> $type {
            $type(())
        }

        impl AsyncWrite for $type {
            fn poll_write(
                self: Pin<&mut Self>,
                _: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                Poll::Ready(io::$function().write(buf))
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(io::$function().flush())
            }

            fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_flush(cx)
            }
        }
    };
}

standard! {
    /// The standard output of the process, written to at once.
    Stdout stdout
}

standard! {
    /// The standard error of the process, written to at once.
    Stderr stderr
}

/// The standard input of a test, which is at its end: what a process is given would not be the same in every schedule.
#[derive(Debug)]
pub struct Stdin(());

/// The standard input of a test, which is at its end.
pub fn stdin() -> Stdin {
    Stdin(())
}

impl AsyncRead for Stdin {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
