//! The shapes of tokio's cooperative scheduling. Dally gives way before every operation anyway, so no task
//! has a budget that could be used up.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::current;

/// Whether the task may go on without giving way: always.
pub fn has_budget_remaining() -> bool {
    true
}

/// Lets any other task step before this one goes on.
pub async fn consume_budget() {
    std::future::poll_fn(|cx| match current::pass(cx, false, None) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

/// What [`poll_proceed`] gives; there is no budget to restore.
#[derive(Debug)]
#[must_use]
pub struct RestoreOnPending(PhantomData<*mut ()>);

impl RestoreOnPending {
    /// The operation has made progress.
    pub fn made_progress(&self) {}
}

/// Asks to go on: always granted.
pub fn poll_proceed(_: &mut Context<'_>) -> Poll<RestoreOnPending> {
    Poll::Ready(RestoreOnPending(PhantomData))
}

pin_project! {
    /// The future of [`cooperative`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Coop<F: Future> {
        #[pin]
        future: F,
    }
}

/// The future as it is.
pub fn cooperative<F: Future>(future: F) -> Coop<F> {
    Coop { future }
}

impl<F: Future> Future for Coop<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}

pin_project! {
    /// The future of [`unconstrained`].
    #[derive(Debug)]
    #[must_use = "Unconstrained does nothing unless polled"]
    pub struct Unconstrained<F> {
        #[pin]
        future: F,
    }
}

/// The future as it is.
pub fn unconstrained<F>(future: F) -> Unconstrained<F> {
    Unconstrained { future }
}

impl<F: Future> Future for Unconstrained<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}
