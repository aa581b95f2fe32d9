//! A barrier, in the shape of `tokio::sync::Barrier`.

use std::fmt;
use std::future::Future;
use std::panic::Location;

use dally_core::Mode;

use super::bound::Bound;
use super::queue::Queue;
use super::until::{Until, Words};
use crate::current;
use crate::text::{Kind, Operation};
use crate::waker::rouse;

const WAIT: &Operation = &Operation::plain("wait for all at");

/// Lets tasks go on when so many of them have come.
pub struct Barrier {
    state: Bound<State>,
    n: usize,
}

struct State {
    arrived: usize,
    generation: u64,
    waiting: Queue,
}

impl Barrier {
    /// A barrier for so many tasks; for none it is as for one.
    #[track_caller]
    pub fn new(n: usize) -> Barrier {
        let state = State { arrived: 0, generation: 0, waiting: Queue::new() };
        Barrier { state: Bound::new(Kind::Barrier, state), n: n.max(1) }
    }

    /// Comes to the barrier and waits until all have come. Who has come and is dropped still counts.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> {
        let at = Location::caller();
        async move {
            let generation = self.come(at).await;
            let Some(generation) = generation else { return BarrierWaitResult(true) };
            let words = Words { what: "`Barrier::wait`", operation: WAIT, at };
            let ready = move |state: &State| state.generation > generation;
            Until::new(&self.state, words, |state| &mut state.waiting, ready, |_| ()).await;
            BarrierWaitResult(false)
        }
    }

    /// Comes to the barrier; `None` if it is the last of them.
    async fn come(&self, at: &'static Location<'static>) -> Option<u64> {
        let next = self.state.next();
        std::future::poll_fn(|cx| match current::pass(cx, false, next) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        })
        .await;
        let (generation, woken) = self.state.with(at, |exec, state, object| {
            exec.touch(object, Mode::ReadModifyWrite, const { &Operation::plain("come to") });
            state.arrived += 1;
            if state.arrived < self.n {
                exec.holds(object, state.arrived);
                return (Some(state.generation), Vec::new());
            }
            state.arrived = 0;
            state.generation += 1;
            exec.holds(object, 0);
            (None, state.waiting.dismiss())
        });
        woken.into_iter().for_each(rouse);
        generation
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrived = self.state.look(|state| state.arrived);
        f.debug_struct("Barrier").field("n", &self.n).field("arrived", &arrived).finish()
    }
}

/// What waiting at a [`Barrier`] gives.
#[derive(Clone, Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether this is the task that came last: one of them all.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}
