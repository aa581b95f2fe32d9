//! A monitor of what clients see: whether some order of their calls explains all answers.
//!
//! A system is linearizable if each call seems to take effect at one moment between its begin and its end. What
//! the calls do is said by an [`Object`] for one caller at a time; the clients announce when a call begins and
//! what it has answered. A call that never ends may have taken effect or not.
//!
//! ```
//! use dally::linearizable::{Begun, Ended, Linearizable, Object};
//! use dally::tasks::{announce, TaskProgram};
//!
//! #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
//! struct Register(u8);
//!
//! #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
//! enum Call {
//!     Set(u8),
//!     Get,
//! }
//!
//! impl Object for Register {
//!     type Call = Call;
//!     type Answer = u8;
//!
//!     fn apply(&mut self, call: &Call) -> u8 {
//!         match call {
//!             Call::Set(value) => std::mem::replace(&mut self.0, *value),
//!             Call::Get => self.0,
//!         }
//!     }
//! }
//!
//! let program = TaskProgram::new("stale read", || async {
//!     announce(Begun::<Register> { id: 0, call: Call::Set(7) });
//!     announce(Ended::<Register> { id: 0, answer: 0 });
//!     announce(Begun::<Register> { id: 1, call: Call::Get });
//!     announce(Ended::<Register> { id: 1, answer: 0 }); // a bug: the value is 7
//! })
//! .monitor(|| Linearizable::new(Register(0)));
//! # dally::testing::Test::new("dally", "stale_read").should_fail("no order of the calls explains").run(program);
//! ```
//!
//! The algorithm is that of Wing and Gong, "Testing and Verifying Concurrent Objects", in the form that Lowe
//! gives it in "Testing for Linearizability": calls take effect when an answer needs it, and states of
//! affairs that were met are not gone through again.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug};
use std::hash::Hash;

use dally_core::bug::Violation;
use dally_core::fingerprint::Encoder;
use dally_core::{Bug, Heat, IntoMonitor, Monitor, Problem, SharedMonitor};

/// What the calls of clients do where there is one client that waits for each answer.
pub trait Object: Clone + Ord + Hash + Debug + Send + Sync + 'static {
    /// A call.
    type Call: Clone + Ord + Hash + Debug + Send + Sync + 'static;
    /// An answer.
    type Answer: Clone + Ord + Hash + Debug + Send + Sync + 'static;

    /// Does what is called for, and answers.
    fn apply(&mut self, call: &Self::Call) -> Self::Answer;
}

/// To be announced: a call begins.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Begun<O: Object> {
    /// The call's own number.
    pub id: u64,
    /// What is called for.
    pub call: O::Call,
}

/// To be announced: a call has ended.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Ended<O: Object> {
    /// The number that it has begun with.
    pub id: u64,
    /// What it has answered.
    pub answer: O::Answer,
}

/// The monitor: see the [module](self).
#[derive(Clone)]
pub struct Linearizable<O: Object> {
    /// What can be the case, as far as the answers tell.
    possible: BTreeSet<Possible<O>>,
    /// The calls that have begun and not ended.
    under_way: BTreeMap<u64, O::Call>,
}

/// A state that the object can be in, and which of the calls that have not ended have taken effect, with the
/// answers that they must give.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Possible<O: Object> {
    object: O,
    effective: BTreeMap<u64, O::Answer>,
}

impl<O: Object> Linearizable<O> {
    /// The monitor of an object that is like this at first.
    pub fn new(object: O) -> Linearizable<O> {
        let first = Possible { object, effective: BTreeMap::new() };
        Linearizable { possible: [first].into(), under_way: BTreeMap::new() }
    }

    /// A call begins.
    pub fn begin(&mut self, id: u64, call: O::Call) {
        self.under_way.insert(id, call);
    }

    /// A call has ended; answers whether some order of the calls explains it. If not, nothing is known from here
    /// on.
    pub fn end(&mut self, id: u64, answer: &O::Answer) -> bool {
        let mut open: Vec<Possible<O>> = self.possible.iter().cloned().collect();
        let mut met = std::mem::take(&mut self.possible);
        while let Some(mut possible) = open.pop() {
            if let Some(given) = possible.effective.get(&id) {
                if given == answer {
                    possible.effective.remove(&id);
                    self.possible.insert(possible);
                }
                continue;
            }
            for (&other, call) in &self.under_way {
                if possible.effective.contains_key(&other) {
                    continue;
                }
                let mut next = possible.clone();
                let given = next.object.apply(call);
                if other == id && given != *answer {
                    continue;
                }
                next.effective.insert(other, given);
                if met.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        self.under_way.remove(&id);
        !self.possible.is_empty()
    }
}

impl<O: Object> Debug for Linearizable<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linearizable").field("under_way", &self.under_way).finish_non_exhaustive()
    }
}

impl<O: Object> IntoMonitor for Linearizable<O> {
    fn into_monitor(self) -> Result<SharedMonitor, Bug> {
        Ok(SharedMonitor::new(self))
    }
}

impl<O: Object> Monitor for Linearizable<O> {
    fn name(&self) -> &'static str {
        "Linearizable"
    }

    fn observes(&self, event: TypeId) -> bool {
        event == TypeId::of::<Begun<O>>() || event == TypeId::of::<Ended<O>>()
    }

    fn observe(&mut self, event: &dyn Any) -> Result<(), Bug> {
        if let Some(Begun::<O> { id, call }) = event.downcast_ref() {
            self.begin(*id, call.clone());
            return Ok(());
        }
        let Some(Ended::<O> { id, answer }) = event.downcast_ref() else { return Ok(()) };
        let call = self.under_way.get(id).cloned();
        let states: BTreeSet<_> =
            self.possible.iter().map(|known| format!("{:?}", known.object)).collect();
        if self.end(*id, answer) {
            return Ok(());
        }
        let call = call.map_or("a call that has not begun".to_owned(), |call| format!("{call:?}"));
        let states: Vec<_> = states.into_iter().collect();
        let mut message = format!(
            "no order of the calls explains that {call} has answered {answer:?}; before it the object was {}",
            states.join(" or ")
        );
        if !self.under_way.is_empty() {
            let others: Vec<_> = self.under_way.values().map(|call| format!("{call:?}")).collect();
            message += &format!(", and had not answered {}", others.join(", "));
        }
        Err(Bug::new(Problem::Monitor(Violation::Assertion { message })).by("Linearizable"))
    }

    fn state(&self) -> &'static str {
        "explained"
    }

    fn heat(&self) -> Heat {
        Heat::Neutral
    }

    fn encode(&self, out: &mut Vec<u8>) {
        Encoder::encode(&self.possible, out);
        Encoder::encode(&self.under_way, out);
    }

    fn duplicate(&self) -> SharedMonitor {
        SharedMonitor::new(self.clone())
    }
}
