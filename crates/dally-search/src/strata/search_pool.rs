//! The threads of a search of states, under supervision.

use std::sync::Arc;

use dally_core::report::Ended;
use dally_core::{Bug, Program};

use super::depth_first::DepthFirstWorker;
use super::entry::Entry;
use super::sampler::{SampleCounters, SampleQuota, SampleStart};
use super::shared_state::{SharedState, ThreadCounters};
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use super::written_entry::{WrittenEntry, WrittenEntryError};
use crate::choice_log::{Activity, ChoiceWriter};
use crate::liveness::Cycle;
use crate::runner::Run;
use crate::supervisor::{LeaveBehind, Supervised, Supervisor};

/// What a thread is told to do.
pub(crate) enum Task<S: StateSpace, O: TransitionOrder> {
    /// Go to the first state, and give it back as an entry.
    Begin(O),
    /// Take entries from the queue, and go through what they lead to within this bound.
    Search(u32),
    /// Draw samples from these states from now on; if there are none, from the first.
    Start(Vec<Box<Entry<S, O>>>, O),
    /// Draw these samples.
    Sample(Arc<SampleQuota>),
    /// Go round this cycle.
    Retrace(Cycle),
    /// Go to the states of these entries of the search by this name.
    Restore(Vec<WrittenEntry>, String, O),
}

/// What a thread says.
pub(crate) enum Answer<S: StateSpace, O: TransitionOrder> {
    Begun(Result<Begun<S, O>, Bug>),
    /// What is left for the next stratum, and what was counted.
    Searched(Vec<Box<Entry<S, O>>>, ThreadCounters),
    Started,
    Sampled(SampleCounters),
    Retraced,
    Restored(Restored<S, O>),
}

/// The first state, and what was counted there.
pub(crate) type Begun<S, O> = (Box<Entry<S, O>>, ThreadCounters);

/// How the space of states is made: in the thread that uses it.
pub(crate) type Make<P, S> = fn(Arc<P>) -> Result<S, Bug>;

/// Entries whose states a thread has gone to, or why one of them does not fit the program.
type Restored<S, O> = Result<Vec<Box<Entry<S, O>>>, WrittenEntryError>;

/// All threads of a search.
pub(crate) struct SearchPool<S: StateSpace, O: TransitionOrder> {
    threads: Supervisor<Task<S, O>, Answer<S, O>>,
    pub(crate) shared_state: Arc<SharedState<S, O>>,
}

impl<S: StateSpace, O: TransitionOrder> SearchPool<S, O> {
    /// Starts the threads.
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
                work(program, make, shared_state, writer, supervised);
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

    /// Has the first thread go to the first state: an entry, and what was counted there.
    pub(crate) fn begin<P: Program + 'static>(
        &mut self,
        run: &mut Run<P>,
        order: O,
    ) -> Option<Result<Begun<S, O>, Bug>> {
        self.threads.command_first(Task::Begin(order));
        let mut begun = None;
        let no_end = |_: &mut Run<P>| false;
        self.wait(run, no_end, |_, answer| {
            if let Answer::Begun(result) = answer {
                begun = Some(result);
            }
        });
        begun
    }

    /// Has all threads go through one stratum. What they leave for the next, in the order of
    /// threads, and what they counted. `enough` is asked from time to time whether to stop.
    pub(crate) fn search_within<P: Program + 'static>(
        &mut self,
        run: &mut Run<P>,
        bound: u32,
        enough: impl Fn(&mut Run<P>) -> bool,
    ) -> (Vec<Box<Entry<S, O>>>, ThreadCounters) {
        self.threads.command_all(|_| Task::Search(bound));
        let (mut parts, mut counters) = (Vec::new(), ThreadCounters::default());
        self.wait(run, enough, |thread, answer| {
            if let Answer::Searched(left, counted) = answer {
                parts.push((thread, left));
                counters.add(&counted);
            }
        });
        parts.sort_by_key(|part| part.0);
        (parts.into_iter().flat_map(|part| part.1).collect(), counters)
    }

    /// Gives the threads the states that samples start from; the first one, if there are none.
    pub(crate) fn start<P: Program + 'static>(
        &mut self,
        run: &mut Run<P>,
        entries: Vec<Box<Entry<S, O>>>,
        order: &O,
    ) {
        let threads = self.size().max(1);
        let mut shares: Vec<Vec<Box<Entry<S, O>>>> = (0..threads).map(|_| Vec::new()).collect();
        for (number, entry) in entries.into_iter().enumerate() {
            shares[number % threads].push(entry);
        }
        self.threads
            .command_all(|place| Task::Start(std::mem::take(&mut shares[place]), order.clone()));
        self.wait(run, |_| false, |_, _| {});
    }

    /// Has all threads draw samples.
    pub(crate) fn sample<P: Program + 'static>(
        &mut self,
        run: &mut Run<P>,
        samples: &Arc<SampleQuota>,
    ) -> SampleCounters {
        self.threads.command_all(|_| Task::Sample(samples.clone()));
        let mut drawn = SampleCounters::default();
        let has_ended = |run: &mut Run<P>| run.ended.is_some();
        self.wait(run, has_ended, |_, answer| {
            if let Answer::Sampled(more) = answer {
                drawn.add(&more);
            }
        });
        drawn
    }

    /// Has the first thread go round a cycle, and report it; `false` if there is none.
    pub(crate) fn retrace<P: Program + 'static>(&mut self, run: &mut Run<P>, cycle: Cycle) -> bool {
        let commanded = self.threads.command_first(Task::Retrace(cycle));
        self.wait(run, |_| false, |_, _| {});
        commanded
    }

    /// Has the first thread go to the states of these entries of the search by this name.
    pub(crate) fn restore<P: Program + 'static>(
        &mut self,
        run: &mut Run<P>,
        written: Vec<WrittenEntry>,
        search: String,
        order: O,
    ) -> Option<Restored<S, O>> {
        self.threads.command_first(Task::Restore(written, search, order));
        let mut restored = None;
        let no_end = |_: &mut Run<P>| false;
        self.wait(run, no_end, |_, answer| {
            if let Answer::Restored(result) = answer {
                restored = Some(result);
            }
        });
        restored
    }

    /// How many threads there are.
    pub(crate) fn size(&self) -> usize {
        self.threads.len()
    }

    /// Waits for all threads to answer; those that never will are left behind.
    fn wait<P: Program + 'static>(
        &mut self,
        run: &mut Run<P>,
        enough: impl Fn(&mut Run<P>) -> bool,
        answered: impl FnMut(usize, Answer<S, O>),
    ) {
        let SearchPool { threads, shared_state } = self;
        let tick = |run: &mut Run<P>| {
            // What the threads answer to this is shown the next time.
            shared_state.asked.ask();
            if let Some(reached) = &mut run.reached {
                (reached.states, reached.transitions) = shared_state.reached();
                reached.bytes = shared_state.bytes();
            }
            if enough(run) {
                shared_state.stop();
            }
        };
        // A thread that judges cycles is outside of the program, and comes back.
        run.supervise(threads, LeaveBehind::InsideProgram, tick, answered);
    }
}

fn work<P: Program, S: StateSpace, O: TransitionOrder>(
    program: Arc<P>,
    make: Make<P, S>,
    shared_state: Arc<SharedState<S, O>>,
    writer: ChoiceWriter,
    supervised: &Supervised<Task<S, O>, Answer<S, O>>,
) {
    let space = match make(program) {
        Ok(space) => space,
        Err(bug) => {
            // That the program cannot be started is the answer to the first task.
            if supervised.command().is_some() {
                supervised.answer(Answer::Begun(Err(bug)));
            }
            return;
        }
    };
    let mut searcher = DepthFirstWorker::new(shared_state, space, writer);
    let mut starts = Vec::new();
    while let Some(task) = supervised.command() {
        supervised.answer(match task {
            Task::Begin(order) => {
                let first = searcher.first(order);
                let (_, counters) = searcher.results();
                Answer::Begun(first.map(|first| (first, counters)))
            }
            Task::Search(bound) => {
                searcher.search_within(bound);
                let (left, counters) = searcher.results();
                Answer::Searched(left, counters)
            }
            Task::Start(entries, order) => {
                starts = entries.into_iter().map(SampleStart::frontier).collect();
                if starts.is_empty() {
                    starts.extend(searcher.first(order).map(SampleStart::first));
                }
                Answer::Started
            }
            Task::Retrace(cycle) => {
                searcher.retrace(cycle);
                Answer::Retraced
            }
            Task::Restore(written, search, order) => {
                let restored = written
                    .iter()
                    .map(|written| searcher.restore(written, &search, order.clone()))
                    .collect();
                searcher.writer.now(Activity::Nothing);
                Answer::Restored(restored)
            }
            Task::Sample(samples) => {
                let drawn = searcher.draw(&starts, &samples);
                searcher.results();
                Answer::Sampled(drawn)
            }
        });
    }
}
