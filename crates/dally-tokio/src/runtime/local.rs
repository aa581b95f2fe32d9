//! Runtimes whose tasks need not be `Send`.

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::time::Duration;

use super::{Builder, EnterGuard, Handle};
use crate::task::{self, JoinHandle, LocalSet};

/// A runtime on the thread that made it.
#[derive(Debug)]
pub struct LocalRuntime {
    handle: Handle,
    /// It stays on its thread.
    _local: PhantomData<*const ()>,
}

/// What a [`LocalRuntime`] can be told: nothing.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct LocalOptions {
    _local: PhantomData<*const ()>,
}

impl LocalRuntime {
    /// A runtime with everything enabled.
    pub fn new() -> io::Result<LocalRuntime> {
        Builder::new_current_thread().enable_all().build_local(LocalOptions::default())
    }

    /// A handle to it.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Starts a task on this thread, in what it runs.
    ///
    /// # Panics
    /// Outside of [`LocalRuntime::block_on`].
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        task::spawn_local(future)
    }

    /// Runs a function that may block.
    ///
    /// # Panics
    /// Outside of [`LocalRuntime::block_on`].
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, func: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.handle.spawn_blocking(func)
    }

    /// Runs a future to its end.
    ///
    /// # Panics
    /// In async code, as tokio does.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(async move { LocalSet::new().run_until(future).await })
    }

    /// Makes this the current runtime, as every runtime is here.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// Ends the runtime. Its tasks end with the execution.
    pub fn shutdown_timeout(self, _: Duration) {}

    /// Ends the runtime. Its tasks end with the execution.
    pub fn shutdown_background(self) {}
}

impl Builder {
    /// A runtime whose tasks need not be `Send`.
    pub fn build_local(&mut self, _: LocalOptions) -> io::Result<LocalRuntime> {
        Ok(LocalRuntime { handle: self.build()?.handle, _local: PhantomData })
    }
}
