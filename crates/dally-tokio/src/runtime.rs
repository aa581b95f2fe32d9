//! Runtimes. Whatever is spawned on one runs in the execution that runs.
//!
//! `#[tokio::test]` explores its body. A runtime that is made outside of one, as by `#[tokio::main]` or in a
//! plain `#[test]`, cannot: its future exists once. It is run under one schedule, and a line says so.

mod local;

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::sync::{Arc, Once};
use std::time::Duration;

use dally::report::{tell, text};
use dally_tasks::pipe;

pub use self::local::{LocalOptions, LocalRuntime};
use crate::task::{self, JoinHandle, OfRuntime};

/// A runtime.
#[derive(Debug)]
pub struct Runtime {
    handle: Handle,
}

/// Which kind of runtime it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RuntimeFlavor {
    /// All tasks on the thread that calls `block_on`.
    CurrentThread,
    /// Tasks on threads of the runtime.
    MultiThread,
}

impl Runtime {
    /// A runtime for several threads with everything enabled.
    pub fn new() -> io::Result<Runtime> {
        Builder::new_multi_thread().enable_all().build()
    }

    /// A handle to it.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Starts a task.
    ///
    /// # Panics
    /// Outside of a Dally execution, before `block_on` is called.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Runs a function that may block.
    ///
    /// # Panics
    /// As [`Runtime::spawn`].
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
        self.handle.block_on(future)
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

/// A handle to a runtime.
#[derive(Clone, Debug)]
pub struct Handle {
    flavor: RuntimeFlavor,
    start_paused: bool,
    name: Option<Arc<str>>,
}

thread_local! {
    /// The name that the test of the running execution gives its runtime.
    static NAME: Cell<Option<(u64, &'static str)>> = const { Cell::new(None) };
}

/// Gives the runtime of the running execution a name.
pub(crate) fn name_current(name: &'static str) {
    NAME.set(pipe::execution().map(|run| (run, name)));
}

impl Handle {
    /// The handle of the runtime that runs.
    ///
    /// # Panics
    /// Outside of a Dally execution.
    #[track_caller]
    pub fn current() -> Handle {
        match Handle::try_current() {
            Ok(handle) => handle,
            Err(why) => panic!("{why}"),
        }
    }

    /// The handle of the runtime that runs, if one does.
    pub fn try_current() -> Result<Handle, TryCurrentError> {
        let run = pipe::execution().ok_or(TryCurrentError(()))?;
        let name = NAME.get().filter(|(named, _)| *named == run).map(|(_, name)| name.into());
        Ok(Handle { flavor: RuntimeFlavor::CurrentThread, start_paused: false, name })
    }

    /// Makes this the current runtime, as every runtime is here.
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard(PhantomData)
    }

    /// Starts a task.
    ///
    /// # Panics
    /// Outside of a Dally execution.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        task::spawn(future)
    }

    /// Runs a function that may block.
    ///
    /// # Panics
    /// Outside of a Dally execution.
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, func: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        task::spawn_blocking(func)
    }

    /// Runs a future to its end, in code that may block.
    ///
    /// # Panics
    /// In async code, as tokio does.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        if pipe::execution().is_some() {
            return task::block_on(future);
        }
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // Not captured by the harness, which shows nothing of a test that passes.
            tell::err_at_once(
                "dally: `block_on` outside of a #[tokio::test] is run under one schedule: what it does \
                 is not explored\n",
            );
        });
        let paused = self.start_paused;
        let ended = dally_tasks::run_once(async move {
            if paused {
                crate::time::pause();
            }
            future.await
        });
        ended.unwrap_or_else(|failed| match failed.payload {
            Some(payload) => std::panic::resume_unwind(payload),
            None => panic!("{}", text::bug(&failed.bug)),
        })
    }

    /// Which kind of runtime it is.
    pub fn runtime_flavor(&self) -> RuntimeFlavor {
        self.flavor
    }

    /// The name that the runtime was given.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl OfRuntime for Runtime {
    #[track_caller]
    fn run<F: Future>(&self, future: F) -> F::Output {
        self.block_on(future)
    }
}

impl OfRuntime for Handle {
    #[track_caller]
    fn run<F: Future>(&self, future: F) -> F::Output {
        self.block_on(future)
    }
}

/// Makes a runtime the current one until it is dropped.
#[derive(Debug)]
#[must_use = "a runtime is left where this is dropped"]
pub struct EnterGuard<'a>(PhantomData<&'a Handle>);

/// There is no runtime here.
#[derive(Debug, PartialEq, Eq)]
pub struct TryCurrentError(());

impl TryCurrentError {
    /// Whether there is none: always.
    pub fn is_missing_context(&self) -> bool {
        true
    }

    /// Whether the thread is at its end: never.
    pub fn is_thread_local_destroyed(&self) -> bool {
        false
    }
}

impl fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "there is no reactor running, must be called from the context of a Tokio 1.x runtime",
        )
    }
}

impl std::error::Error for TryCurrentError {}

/// Makes runtimes. What it can be told about threads has no effect, because Dally decides who runs.
#[derive(Debug)]
pub struct Builder {
    flavor: RuntimeFlavor,
    start_paused: bool,
    name: Option<Arc<str>>,
}

impl Builder {
    /// For a runtime with one thread.
    pub fn new_current_thread() -> Builder {
        Builder { flavor: RuntimeFlavor::CurrentThread, start_paused: false, name: None }
    }

    /// For a runtime with several threads.
    pub fn new_multi_thread() -> Builder {
        Builder { flavor: RuntimeFlavor::MultiThread, start_paused: false, name: None }
    }

    /// The runtime.
    pub fn build(&mut self) -> io::Result<Runtime> {
        let Builder { flavor, start_paused, ref name } = *self;
        let handle = Handle { flavor, start_paused, name: name.clone() };
        Ok(Runtime { handle })
    }

    /// The name that [`Handle::name`] answers.
    pub fn name(&mut self, val: impl Into<String>) -> &mut Builder {
        self.name = Some(val.into().into());
        self
    }

    /// Whether time stands still from the beginning.
    pub fn start_paused(&mut self, start_paused: bool) -> &mut Builder {
        self.start_paused = start_paused;
        self
    }
}

/// The methods that have no effect.
macro_rules! without_effect {
    ($($name:ident($($argument:ty)?);)*) => {
        impl Builder {
            $(
                /// Has no effect here.
                pub fn $name(&mut self $(, _: $argument)?) -> &mut Builder {
                    self
                }
            )*
        }
    };
}

without_effect! {
    enable_all();
    enable_io();
    enable_time();
    event_interval(u32);
    global_queue_interval(u32);
    max_blocking_threads(usize);
    max_io_events_per_tick(usize);
    thread_keep_alive(Duration);
    thread_name(impl Into<String>);
    thread_name_fn(impl Fn() -> String + Send + Sync + 'static);
    thread_stack_size(usize);
    worker_threads(usize);
}
