//! Machines in production, on tokio.
//!
//! The machines are the ones that were tested, unchanged. Each is a task with an unbounded inbox, so
//! no send ever waits and no cycle of sends can deadlock. Timers are real, choices are random from a
//! seed, durable state goes to a [`Store`]. A task runs the same code for states, inboxes and effects
//! that runs under test.
//!
//! ```
//! # extern crate self as dally;
//! # pub mod machines { pub use ::dally_machines::*; }
//! # pub mod __private { pub use ::dally_core as contract; pub use crate::machines; }
//! use dally::machines::host::Host;
//! use dally::machines::{Addr, Cx};
//! # use dally_macros::machine;
//!
//! #[derive(Clone, PartialEq, Eq, Hash, Debug)]
//! struct Ping(Addr<Client>);
//! #[derive(Clone, PartialEq, Eq, Hash, Debug)]
//! struct Pong;
//!
//! #[derive(Clone, PartialEq, Eq, Hash, Debug)]
//! struct Server;
//!
//! #[machine(states(Serving))]
//! impl Server {
//!     #[on(Serving, Ping)]
//!     fn ping(&mut self, cx: &mut Cx<Self>, Ping(client): Ping) {
//!         cx.send(client, Pong);
//!     }
//! }
//!
//! #[derive(Clone, PartialEq, Eq, Hash, Debug)]
//! struct Client {
//!     server: Addr<Server>,
//! }
//!
//! #[machine(states(Asking))]
//! impl Client {
//!     #[entry(Asking)]
//!     fn ask(&mut self, cx: &mut Cx<Self>) {
//!         cx.send(self.server, Ping(cx.me()));
//!     }
//!
//!     #[on(Asking, Pong)]
//!     fn answered(&mut self, cx: &mut Cx<Self>) {
//!         cx.halt();
//!     }
//! }
//!
//! # fn main() {
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # runtime.block_on(async {
//! let host = Host::new();
//! let server = host.create(Server);
//! let client = host.create(Client { server });
//! host.wait_for(client).await;
//! let report = host.shutdown().await;
//! assert_eq!(report.to_string(), "2 machines: 1 halted, 1 stopped, 0 failed");
//! # });
//! # }
//! ```
//!
//! **When something goes wrong.** A machine that panics, or meets an event that it has no rule
//! for, stops, after the effects before the failure, as under test. The others go on; what is
//! sent to it from then on is dropped. Nothing is restarted. The failure is told at once, by
//! default on standard error, and is in the [`Report`]. A violated monitor is told in the same
//! way; it stops no machine and observes nothing further itself.
//!
//! **Time.** The clock is tokio's, so a test can pause it. A period is at least a millisecond,
//! and a periodic timer never ticks before its last tick was handled; ticks missed in that way
//! are not made up for. A default handler runs again and again while there is nothing to handle;
//! the task yields to others in between, but never sleeps.

mod clock;
mod live;
mod report;
mod shared;
mod store;
mod watch;

use std::any::TypeId;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use dally_core::words::visible;
use dally_core::{Event, MessageId, Text, WorkerId};

pub use report::{Failure, Report};
pub use store::Store;

use crate::addr::Addr;
use crate::inbox::Envelope;
use crate::machine::{Handles, Machine};
use crate::monitor::{self, MonitorMachine};
use crate::pool::Pool;
use crate::worker::Worker;
use shared::{Config, MakeStore, Phase, Shared};
use store::Keeper;
use watch::Watch;

pub(crate) type Describe = Box<dyn Fn(WorkerId) -> &'static str + Send + Sync>;

/// How long a handler may still run after its machine was told to stop.
const GRACE: Duration = Duration::from_secs(1);

/// Runs machines on tokio. Dropping it stops all machines at once; [`Host::shutdown`] lets them finish.
#[derive(Debug)]
pub struct Host {
    handle: Handle,
}

impl Host {
    /// A host without monitors, on the present runtime, with choices from seed 0.
    ///
    /// # Panics
    /// Outside a tokio runtime; use [`Builder::runtime`] there.
    #[track_caller]
    pub fn new() -> Host {
        Host::builder().build()
    }

    /// Options for a host.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A handle to send and create from other tasks.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Waits until this machine has halted or failed.
    pub async fn wait_for<M: Machine>(&self, machine: Addr<M>) {
        let shared = &self.handle.shared;
        shared.traffic.until(|| !shared.is_there(machine.id())).await;
    }

    /// Waits until every machine has halted or failed.
    pub async fn wait(&self) {
        let shared = &self.handle.shared;
        shared.traffic.until(|| shared.is_deserted()).await;
    }

    /// Waits until no handler runs and no event waits, but for deferred ones. Timers may still
    /// be armed.
    pub async fn idle(&self) {
        let shared = &self.handle.shared;
        shared.traffic.until(|| shared.traffic.is_idle()).await;
    }

    /// Runs until the signal, any future such as `tokio::signal::ctrl_c()`, is ready or every machine
    /// has ended, and shuts down.
    pub async fn run_until(self, signal: impl Future) -> Report {
        tokio::select! {
            _ = signal => {}
            () = self.wait() => {}
        }
        self.shutdown().await
    }

    /// Refuses events from outside, stops timers and default handlers, and handles everything in the
    /// inboxes with all that follows from it, up to the deadline ([`Builder::drain`]). Then stops the
    /// machines, and returns when their tasks have ended.
    pub async fn shutdown(self) -> Report {
        let shared = &self.handle.shared;
        shared.proceed_to(Phase::Draining);
        let idle = shared.traffic.until(|| shared.traffic.is_idle());
        let drained = shared::at_most(shared.config.drain, idle).await;
        shared.proceed_to(Phase::Over);
        let deserted = shared.traffic.until(|| shared.is_deserted());
        let joined = shared::at_most(GRACE, deserted).await;
        let stuck = if joined { Vec::new() } else { shared.abandon() };
        let hot = shared::lock(&shared.watch).hot();
        Report { drained, stuck, hot, ..shared::lock(&shared.tally).clone() }
    }
}

impl Default for Host {
    fn default() -> Host {
        Host::new()
    }
}

/// A host can send and create as its [`Handle`] can.
impl Deref for Host {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.handle.shared.proceed_to(Phase::Over);
    }
}

/// Sends to and creates machines of a host, from any task.
#[derive(Clone, Debug)]
pub struct Handle {
    shared: Arc<Shared>,
    /// Numbers the events from outside.
    sent: Arc<AtomicU32>,
}

impl Handle {
    /// Creates a machine. Ids are as under test: the first machine is `0`, the next `1`, and so on. On a
    /// host that is shutting down no machine starts, and sends to the address are refused.
    pub fn create<M: Machine>(&self, machine: M) -> Addr<M> {
        self.start(machine, None)
    }

    /// Creates a machine whose durable state is kept in this store. If the store has something,
    /// the machine recovers from it before it starts.
    pub fn create_with<M: Machine>(&self, machine: M, store: impl Store<M::Durable>) -> Addr<M> {
        self.start(machine, Some(store::keeper::<M>(store)))
    }

    fn start<M: Machine>(&self, machine: M, keeper: Option<Box<dyn Keeper>>) -> Addr<M> {
        let id = WorkerId::root(self.shared.roots.fetch_add(1, Relaxed));
        let shared = &self.shared;
        let _passage = shared.traffic.pass();
        if shared.phase() == Phase::Running {
            shared.start(Worker::make(id, machine, &mut Pool::default()), keeper);
        }
        Addr::new(id)
    }

    /// Sends an event from outside. It never waits: inboxes have no bound.
    pub fn send<M: Handles<E>, E>(&self, to: Addr<M>, event: E) -> Result<(), SendError> {
        let message = Pool::default().message::<M::Slot, E>(event);
        let id = MessageId { sender: WorkerId::OUTSIDE, number: self.sent.fetch_add(1, Relaxed) };
        let envelope = Envelope { id, event: M::EVENT, timer: None, message };
        let shared = &self.shared;
        let _passage = shared.traffic.pass();
        if shared.phase() != Phase::Running {
            Err(SendError::ShuttingDown)
        } else if shared.post(to.id(), envelope) {
            Ok(())
        } else {
            Err(SendError::Gone)
        }
    }
}

/// Why an event from outside was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SendError {
    /// The machine has halted or failed.
    #[error("the machine has halted or failed")]
    Gone,
    /// The host takes no more events.
    #[error("the host is shutting down")]
    ShuttingDown,
}

/// How a host is to run its machines.
pub struct Builder {
    config: Config,
    runtime: Option<tokio::runtime::Handle>,
    watch: Watch,
    /// Failures of monitors that could not be started.
    early: Vec<Failure>,
}

impl Default for Builder {
    fn default() -> Builder {
        let config = Config {
            seed: 0,
            drain: Duration::from_secs(30),
            stores: BTreeMap::new(),
            on_failure: Box::new(|failure| eprintln!("dally: {}", visible(&failure.to_string()))),
            on_event: None,
        };
        Builder { config, runtime: None, watch: Watch::default(), early: Vec::new() }
    }
}

impl Builder {
    /// Where choices come from: each machine has a random sequence of its own that depends on
    /// this and its id alone. Processes that must not behave alike need different seeds.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Builder {
        self.config.seed = seed;
        self
    }

    /// How long a shutdown waits for the inboxes to become empty; by default 30 seconds.
    #[must_use]
    pub fn drain(mut self, time: Duration) -> Builder {
        self.config.drain = time;
        self
    }

    /// The runtime that machines run on; by default the one in which the host is built.
    #[must_use]
    pub fn runtime(mut self, runtime: tokio::runtime::Handle) -> Builder {
        self.runtime = Some(runtime);
        self
    }

    /// A monitor that is told what machines announce.
    #[must_use]
    pub fn monitor<M: MonitorMachine>(mut self, monitor: M) -> Builder {
        match monitor::start(monitor) {
            Ok(monitor) => self.watch.add(monitor),
            Err(bug) => self.early.push(Failure { worker: None, bug }),
        }
        self
    }

    /// Makes the stores of machines of this type, also of those that other machines create. A durable
    /// machine without a store keeps what it persists in memory only. Ids are good names for files and
    /// keys: they are the same in every run that creates machines in the same order.
    #[must_use]
    pub fn store<M: Machine, S: Store<M::Durable>>(
        mut self,
        make: impl Fn(Addr<M>) -> S + Send + Sync + 'static,
    ) -> Builder {
        let make: MakeStore = Box::new(move |id| store::keeper::<M>(make(Addr::new(id))));
        self.config.stores.insert(TypeId::of::<M>(), make);
        self
    }

    /// What to do when a machine fails or a monitor is violated; by default a line goes to
    /// standard error. Called on the machine's task, so it should be brief.
    #[must_use]
    pub fn on_failure(mut self, tell: impl Fn(&Failure) + Send + Sync + 'static) -> Builder {
        self.config.on_failure = Box::new(tell);
        self
    }

    /// Called with every event that a trace has under test, and with the machine that it is about: for
    /// logs, metrics and tests. Texts cost nothing unless they are written.
    #[must_use]
    pub fn on_event(
        mut self,
        tell: impl Fn(WorkerId, Event<Text<'_>>) + Send + Sync + 'static,
    ) -> Builder {
        self.config.on_event = Some(Box::new(tell));
        self
    }

    /// The host.
    ///
    /// # Panics
    /// Outside a tokio runtime, if none was given.
    #[track_caller]
    pub fn build(self) -> Host {
        let Builder { config, runtime, watch, early } = self;
        let runtime = match runtime {
            Some(runtime) => runtime,
            None => tokio::runtime::Handle::current(),
        };
        let shared = Shared::new(config, runtime, watch);
        early.into_iter().for_each(|failure| shared.fail(failure));
        Host { handle: Handle { shared: Arc::new(shared), sent: Arc::default() } }
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("seed", &self.config.seed)
            .field("drain", &self.config.drain)
            .finish_non_exhaustive()
    }
}
