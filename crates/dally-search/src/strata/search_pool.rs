//! The threads of a search of states, under supervision.

use std::sync::{Arc, Mutex, PoisonError};

use dally_core::report::Ended;
use dally_core::{Bug, Program};

use super::depth_first::DepthFirstWorker;
use super::entry::Entry;
use super::shared_state::{SharedState, ThreadCounters};
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use crate::runner::Run;
use crate::supervisor::{LeaveBehind, Supervisor};

/// A job of a thread; it gets the thread's worker, or the bug that kept the program from starting.
type Job<S, O> = Box<dyn FnOnce(&mut Result<DepthFirstWorker<S, O>, Bug>) + Send>;

pub(crate) type Begun<S, O> = (Entry<S, O>, ThreadCounters);

/// Makes the space of states, in the thread that uses it.
pub(crate) type Make<P, S> = fn(Arc<P>) -> Result<S, Bug>;

pub(crate) struct SearchPool<S: StateSpace, O: TransitionOrder> {
    threads: Supervisor<Job<S, O>, ()>,
    pub(crate) shared_state: Arc<SharedState<S, O>>,
}

impl<S: StateSpace, O: TransitionOrder> SearchPool<S, O> {
    pub(crate) fn start_threads<P: Program + 'static>(
        run: &mut Run<P>,
        shared_state: Arc<SharedState<S, O>>,
        make: Make<P, S>,
        threads: usize,
    ) -> SearchPool<S, O> {
        let mut pool = SearchPool { threads: run.supervisor(), shared_state };
        while pool.size() < threads {
            let (program, shared_state) = (run.program.clone(), pool.shared_state.clone());
            let started = pool.threads.spawn(move |writer, supervised| {
                let mut searcher =
                    make(program).map(|space| DepthFirstWorker::new(shared_state, space, writer));
                while let Some(job) = supervised.command() {
                    job(&mut searcher);
                    supervised.answer(());
                }
            });
            if !run.is_started(started) {
                break;
            }
        }
        if pool.threads.is_empty() {
            run.end(Ended::Failed);
        }
        pool
    }

    pub(crate) fn size(&self) -> usize {
        self.threads.len()
    }

    /// Has the first thread go to the first state.
    pub(crate) fn begin<P: Program + 'static>(
        &mut self,
        run: &mut Run<P>,
        order: O,
    ) -> Option<Result<Begun<S, O>, Bug>> {
        self.ask_first(run, |searcher| {
            let searcher = searcher.as_mut().map_err(|bug| bug.clone())?;
            let first = searcher.first(order);
            let (_, counters) = searcher.results();
            Ok((first?, counters))
        })
    }

    /// Has all threads search one stratum; returns the entries for the next, in the order of
    /// threads, and the counts. `enough` is asked from time to time whether to stop.
    pub(crate) fn search_within<P: Program + 'static>(
        &mut self,
        run: &mut Run<P>,
        bound: u32,
        enough: impl Fn(&mut Run<P>) -> bool,
    ) -> (Vec<Entry<S, O>>, ThreadCounters) {
        let parts = self.all(run, enough, |_| {
            move |searcher: &mut DepthFirstWorker<S, O>| {
                searcher.search_within(bound);
                searcher.results()
            }
        });
        let (mut left, mut counters) = (Vec::new(), ThreadCounters::default());
        for (entries, counted) in parts {
            left.extend(entries);
            counters.add(&counted);
        }
        (left, counters)
    }

    /// Has the first thread do a job; `None` if there is no thread or it was lost.
    pub(crate) fn first<P: Program + 'static, T: Send + 'static>(
        &mut self,
        run: &mut Run<P>,
        job: impl FnOnce(&mut DepthFirstWorker<S, O>) -> T + Send + 'static,
    ) -> Option<T> {
        self.ask_first(run, |searcher| searcher.as_mut().ok().map(job)).flatten()
    }

    fn ask_first<P: Program + 'static, T: Send + 'static>(
        &mut self,
        run: &mut Run<P>,
        job: impl FnOnce(&mut Result<DepthFirstWorker<S, O>, Bug>) -> T + Send + 'static,
    ) -> Option<T> {
        let answers = Answers::default();
        self.threads.command_first(answers.of(0, job));
        self.wait(run, |_| false);
        answers.take().pop()
    }

    /// Has all threads do the jobs for their places; returns their answers in this order. `enough`
    /// is asked from time to time whether to stop.
    pub(crate) fn all<P: Program + 'static, T: Send + 'static, J>(
        &mut self,
        run: &mut Run<P>,
        enough: impl Fn(&mut Run<P>) -> bool,
        mut job: impl FnMut(usize) -> J,
    ) -> Vec<T>
    where
        J: FnOnce(&mut DepthFirstWorker<S, O>) -> T + Send + 'static,
    {
        let answers = Answers::default();
        self.threads.command_all(|place| {
            let job = job(place);
            answers.of(place, |searcher| searcher.as_mut().ok().map(job))
        });
        self.wait(run, enough);
        answers.take().into_iter().flatten().collect()
    }

    /// Waits until all threads have answered or are left behind.
    fn wait<P: Program + 'static>(
        &mut self,
        run: &mut Run<P>,
        enough: impl Fn(&mut Run<P>) -> bool,
    ) {
        let SearchPool { threads, shared_state } = self;
        let tick = |run: &mut Run<P>| {
            // The answers to this are shown the next time.
            shared_state.asked.ask();
            if let Some(reached) = &mut run.reached {
                (reached.states, reached.transitions) = shared_state.reached();
                reached.bytes = shared_state.bytes();
            }
            if enough(run) {
                shared_state.stop();
            }
        };
        // A thread that judges cycles is outside the program, and comes back.
        run.supervise(threads, LeaveBehind::InsideProgram, tick, |_, ()| {});
    }
}

/// The answers of threads, each with its place.
struct Answers<T>(Arc<Mutex<Vec<(usize, T)>>>);

impl<T> Default for Answers<T> {
    fn default() -> Answers<T> {
        Answers(Arc::default())
    }
}

impl<T: Send + 'static> Answers<T> {
    /// A job whose answer is kept here.
    fn of<S: StateSpace, O: TransitionOrder>(
        &self,
        place: usize,
        job: impl FnOnce(&mut Result<DepthFirstWorker<S, O>, Bug>) -> T + Send + 'static,
    ) -> Job<S, O> {
        let answers = self.0.clone();
        Box::new(move |searcher| {
            let answer = job(searcher);
            answers.lock().unwrap_or_else(PoisonError::into_inner).push((place, answer));
        })
    }

    fn take(self) -> Vec<T> {
        let mut answers =
            std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        answers.sort_by_key(|answer| answer.0);
        answers.into_iter().map(|answer| answer.1).collect()
    }
}
