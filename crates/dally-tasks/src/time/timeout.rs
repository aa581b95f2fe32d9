//! Giving a future some time.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;

use super::{Instant, Sleep, error, sleep_until};

/// Gives a future this much time. Both outcomes are explored wherever the future is not done
/// at once; see the [crate's documentation](crate#time).
#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    timeout_at(Instant::now().after(duration), future)
}

/// Gives a future time until `deadline`.
#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout { value: future.into_future(), delay: sleep_until(deadline) }
}

pin_project! {
    /// The future of [`timeout`] and [`timeout_at`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless they are awaited"]
    pub struct Timeout<F> {
        #[pin]
        value: F,
        delay: Sleep,
    }
}

impl<F> Timeout<F> {
    /// The future that was given time.
    pub fn get_ref(&self) -> &F {
        &self.value
    }

    /// The future that was given time.
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.value
    }

    /// The future that was given time.
    pub fn into_inner(self) -> F {
        self.value
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, error::Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(output) = this.value.poll(cx) {
            return Poll::Ready(Ok(output));
        }
        Pin::new(this.delay).poll(cx).map(|()| Err(error::Elapsed(())))
    }
}
