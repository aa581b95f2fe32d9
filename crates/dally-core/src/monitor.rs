//! Monitors: specifications that observe an execution and judge it.

use std::any::{Any, TypeId};
use std::fmt::Debug;
use std::ops::Deref;

use serde::{Deserialize, Serialize};
use triomphe::Arc;
use unsize::{CoerceUnsize, Coercion};

use crate::bug::Bug;
use crate::event::{Event, Text};
use crate::fingerprint;
use crate::system::{Acceptance, Env, Stop};

/// An event that a program announces to its monitors: any plain value.
pub trait Announcement: Any + Debug {}

impl<T: Any + Debug> Announcement for T {}

/// Whether a monitor waits for something good to happen.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Heat {
    /// Something good is overdue: an execution must not stay or end here.
    Hot,
    /// All is well.
    Cold,
    /// Neither: the state makes no claim.
    #[default]
    Neutral,
}

/// A specification: deterministic, called synchronously, and invisible to the program.
pub trait Monitor: Any + Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Whether it has a handler for events of this type in any of its states.
    fn observes(&self, event: TypeId) -> bool;

    /// Takes note of an announced event, of a type that it observes.
    fn observe(&mut self, event: &dyn Any) -> Result<(), Bug>;

    /// The name of the state it is in.
    fn state(&self) -> &'static str;

    /// Whether that state is hot or cold.
    fn heat(&self) -> Heat;

    /// Whether an execution may be in this state only finitely often: a cycle through it is a bug.
    fn is_transient(&self) -> bool {
        false
    }

    /// Appends an injective encoding of its state.
    fn encode(&self, out: &mut Vec<u8>);

    /// A hash of what [`Monitor::encode`] writes.
    fn digest(&self) -> u64 {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        fingerprint::of_bytes(&bytes)
    }

    /// A copy in the same state: `SharedMonitor::new(self.clone())`.
    fn duplicate(&self) -> SharedMonitor;

    /// Becomes a copy of another monitor in the same memory; `false`, and unchanged, if it cannot.
    fn copy_from(&mut self, _saved: &dyn Monitor) -> bool {
        false
    }
}

/// A monitor as executions hold it: copies of an execution share it until it changes in one.
#[derive(Clone)]
pub struct SharedMonitor(Arc<dyn Monitor>);

impl SharedMonitor {
    /// This monitor, which nobody shares yet.
    pub fn new(monitor: impl Monitor) -> SharedMonitor {
        SharedMonitor(Arc::new(monitor).unsize(Coercion!(to dyn Monitor)))
    }

    /// The monitor to be changed: a copy of it if it is shared.
    pub fn make_mut(&mut self) -> &mut dyn Monitor {
        if !Arc::is_unique(&self.0) {
            *self = self.duplicate();
        }
        let Some(monitor) = Arc::get_mut(&mut self.0) else { unreachable!("made unique above") };
        monitor
    }

    /// Tells it of an event, if it observes such. Answers whether it has changed its state.
    pub fn announce(&mut self, event: &dyn Any, env: &mut dyn Env) -> Result<bool, Stop> {
        if !self.observes(event.type_id()) {
            return Ok(false);
        }
        let monitor = self.make_mut();
        let before = monitor.state();
        monitor.observe(event)?;
        let to = monitor.state();
        if to != before {
            let (monitor, heat) = (Text::Str(monitor.name()), monitor.heat());
            env.event(Event::MonitorChanged { monitor, to: Text::Str(to), heat })?;
        }
        Ok(to != before)
    }
}

impl Deref for SharedMonitor {
    type Target = dyn Monitor;

    fn deref(&self) -> &dyn Monitor {
        &*self.0
    }
}

/// What can be put to work as a monitor: every type with `#[dally::monitor]`.
pub trait IntoMonitor {
    /// The monitor in its first state; entering that may show a bug already.
    fn into_monitor(self) -> Result<SharedMonitor, Bug>;
}

/// The monitors of one execution, shared copy-on-write between forks.
#[derive(Clone, Default)]
pub struct Monitors {
    all: Vec<SharedMonitor>,
    /// What the monitors say of the last step, without [`Monitors::transient`].
    acceptance: Acceptance,
    /// The monitors in a state that executions may be in only finitely often.
    transient: u64,
}

impl Monitors {
    /// Adds a monitor; at most 64 fit.
    ///
    /// # Panics
    /// On the 65th monitor.
    pub fn add(&mut self, monitor: SharedMonitor) {
        assert!(self.all.len() < 64, "an execution has at most 64 monitors");
        self.all.push(monitor);
        self.reheat(self.all.len() - 1);
        self.begin_step();
    }

    /// A step begins: what monitors went through in the one before is over.
    #[inline]
    pub fn begin_step(&mut self) {
        (self.acceptance.relieved, self.acceptance.visits) = (0, 0);
    }

    /// Whether there are no monitors.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Tells every monitor, in the order in which they were added.
    pub fn announce<T: Announcement>(&mut self, event: &T, env: &mut dyn Env) -> Result<(), Stop> {
        self.announce_any(event, event, env)
    }

    /// As [`Monitors::announce`], where the event's type is no longer known.
    pub fn announce_any(
        &mut self,
        event: &dyn Any,
        payload: &dyn Debug,
        env: &mut dyn Env,
    ) -> Result<(), Stop> {
        env.event(Event::Announced { payload: Text::Debug(payload) })?;
        for index in 0..self.all.len() {
            if self.all[index].announce(event, env)? {
                self.reheat(index);
            }
        }
        Ok(())
    }

    /// Goes back to a saved state, reusing memory.
    pub fn restore_from(&mut self, saved: &Monitors) {
        self.all.truncate(saved.all.len());
        for (own, saved) in self.all.iter_mut().zip(&saved.all) {
            let copied = Arc::ptr_eq(&own.0, &saved.0)
                || Arc::get_mut(&mut own.0).is_some_and(|monitor| monitor.copy_from(&**saved));
            if !copied {
                own.clone_from(saved);
            }
        }
        self.all.extend_from_slice(&saved.all[self.all.len()..]);
        (self.acceptance, self.transient) = (saved.acceptance, saved.transient);
    }

    /// What the monitors say of the last step and the present state.
    #[inline]
    pub fn acceptance(&self) -> Acceptance {
        Acceptance { visits: self.acceptance.visits | self.transient, ..self.acceptance }
    }

    /// The name of a monitor and the state it is in.
    pub fn describe(&self, index: usize) -> (String, String) {
        let monitor = &self.all[index];
        (monitor.name().to_owned(), monitor.state().to_owned())
    }

    /// The share of the monitors in a fingerprint.
    pub fn hash(&self) -> u64 {
        self.all.iter().enumerate().fold(0u64, |sum, (index, monitor)| {
            sum.wrapping_add(fingerprint::part(!(index as u64), monitor.digest()))
        })
    }

    /// Appends an injective encoding of all monitors.
    pub fn encode(&self, out: &mut Vec<u8>) {
        for monitor in &self.all {
            let start = out.len();
            out.extend_from_slice(&[0; 4]);
            monitor.encode(out);
            let length = (out.len() - start - 4) as u32;
            out[start..start + 4].copy_from_slice(&length.to_le_bytes());
        }
    }

    fn reheat(&mut self, index: usize) {
        let (bit, monitor) = (1 << index, &self.all[index]);
        let with = |set: u64, there: bool| if there { set | bit } else { set & !bit };
        let Acceptance { hot, relieved, visits } = self.acceptance;
        let (is_hot, is_transient) = (monitor.heat() == Heat::Hot, monitor.is_transient());
        self.transient = with(self.transient, is_transient);
        self.acceptance = Acceptance {
            hot: with(hot, is_hot),
            relieved: relieved | with(0, !is_hot),
            visits: visits | with(0, is_transient),
        };
    }
}
