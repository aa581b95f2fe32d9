//! The threads of a search of states, under supervision.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};

use dally_core::{Bug, Program, Stop, panics};

use super::depth_first::DepthFirstWorker;
use super::entry::Entry;
use super::sampler::{SampleCounters, SampleQuota, SampleStart};
use super::shared_state::{SharedState, ThreadCounters};
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use crate::batch::save_before_abort;
use crate::choice_log::{Activity, ChoiceWriter};
use crate::deadline::Stopwatch;
use crate::liveness::Cycle;
use crate::options::Phase;
use crate::report::Ended;
use crate::runner::{GRACE, Run};
use crate::watchdog::{Watch, spawn, tick};

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
}

/// What a thread says.
pub(crate) enum Answer<S: StateSpace, O: TransitionOrder> {
    Begun(Result<Begun<S, O>, Bug>),
    /// What is left for the next stratum, and what was counted.
    Searched(Vec<Box<Entry<S, O>>>, ThreadCounters),
    Started,
    Sampled(SampleCounters),
    Retraced,
    /// It cannot go on, for this reason.
    Died(String),
}

/// The first state, and what was counted there.
pub(crate) type Begun<S, O> = (Box<Entry<S, O>>, ThreadCounters);

/// A thread, seen from outside.
struct PoolThread<S: StateSpace, O: TransitionOrder> {
    tasks: Sender<Task<S, O>>,
    answers: Receiver<Answer<S, O>>,
    watch: Watch,
    /// It has a task and has not answered.
    busy: bool,
}

/// How the space of states is made: in the thread that uses it.
pub(crate) type Make<P, S> = fn(Arc<P>) -> Result<S, Bug>;

/// All threads of a search.
pub(crate) struct SearchPool<S: StateSpace, O: TransitionOrder> {
    hands: Vec<PoolThread<S, O>>,
    pub(crate) shared_state: Arc<SharedState<S, O>>,
}

impl<S: StateSpace, O: TransitionOrder> SearchPool<S, O> {
    /// Starts the threads.
    pub(crate) fn hire<P: Program + 'static>(
        run: &mut Run<P>,
        shared_state: Arc<SharedState<S, O>>,
        make: Make<P, S>,
        threads: usize,
    ) -> SearchPool<S, O> {
        let mut hands = Vec::new();
        for _ in 0..threads {
            let (tasks, told) = mpsc::channel();
            let (answer, answers) = mpsc::channel();
            let writer = ChoiceWriter::new();
            let watch = Watch::new(writer.choice_log().clone());
            let (program, shared_state) = (run.program.clone(), shared_state.clone());
            let spawned = spawn(&run.options.program, move || {
                work(program, make, shared_state, writer, &told, &answer);
            });
            match spawned {
                Ok(()) => hands.push(PoolThread { tasks, answers, watch, busy: false }),
                Err(error) => {
                    run.report.notes.push(format!("A thread could not be started: {error}."));
                    break;
                }
            }
        }
        if hands.is_empty() {
            run.end(Ended::Failed);
        }
        SearchPool { hands, shared_state }
    }

    /// Has the first thread go to the first state: an entry, and what was counted there.
    pub(crate) fn begin<P: Program + 'static>(
        &mut self,
        run: &mut Run<P>,
        order: O,
    ) -> Option<Result<Begun<S, O>, Bug>> {
        let hand = self.hands.first_mut()?;
        hand.busy = hand.tasks.send(Task::Begin(order)).is_ok();
        let mut begun = None;
        self.wait(
            run,
            |_| false,
            |answer| {
                if let Answer::Begun(result) = answer {
                    begun = Some(result);
                }
            },
        );
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
        for hand in &mut self.hands {
            hand.busy = hand.tasks.send(Task::Search(bound)).is_ok();
        }
        let (mut frontier, mut counters) = (Vec::new(), ThreadCounters::default());
        self.wait(run, enough, |answer| {
            if let Answer::Searched(left, counted) = answer {
                frontier.extend(left);
                counters.add(&counted);
            }
        });
        (frontier, counters)
    }

    /// Gives the threads the states that samples start from; the first one, if there are none.
    pub(crate) fn start<P: Program + 'static>(
        &mut self,
        run: &mut Run<P>,
        entries: Vec<Box<Entry<S, O>>>,
        order: &O,
    ) {
        let hands = self.hands.len().max(1);
        let mut shares: Vec<Vec<Box<Entry<S, O>>>> = (0..hands).map(|_| Vec::new()).collect();
        for (number, entry) in entries.into_iter().enumerate() {
            shares[number % hands].push(entry);
        }
        for (hand, share) in self.hands.iter_mut().zip(shares) {
            hand.busy = hand.tasks.send(Task::Start(share, order.clone())).is_ok();
        }
        self.wait(run, |_| false, |_| {});
    }

    /// Has all threads draw samples.
    pub(crate) fn sample<P: Program + 'static>(
        &mut self,
        run: &mut Run<P>,
        samples: &Arc<SampleQuota>,
    ) -> SampleCounters {
        for hand in &mut self.hands {
            hand.busy = hand.tasks.send(Task::Sample(samples.clone())).is_ok();
        }
        let mut drawn = SampleCounters::default();
        self.wait(
            run,
            |run| run.ended.is_some(),
            |answer| {
                if let Answer::Sampled(more) = answer {
                    drawn.add(&more);
                }
            },
        );
        drawn
    }

    /// Has the first thread go round a cycle, and report it; `false` if there is none.
    pub(crate) fn retrace<P: Program + 'static>(&mut self, run: &mut Run<P>, cycle: Cycle) -> bool {
        let Some(hand) = self.hands.first_mut() else { return false };
        hand.busy = hand.tasks.send(Task::Retrace(cycle)).is_ok();
        let told = hand.busy;
        self.wait(run, |_| false, |_| {});
        told
    }

    /// How many threads there are.
    pub(crate) fn size(&self) -> usize {
        self.hands.len()
    }

    /// Waits for all threads to answer; those that never will are left behind.
    fn wait<P: Program + 'static>(
        &mut self,
        run: &mut Run<P>,
        enough: impl Fn(&mut Run<P>) -> bool,
        mut hear: impl FnMut(Answer<S, O>),
    ) {
        let mut halted: Option<Stopwatch> = None;
        let step_time = run.options.step_time;
        while let Some(busy) = self.hands.iter().position(|hand| hand.busy) {
            match self.hands[busy].answers.recv_timeout(tick(step_time)) {
                Ok(Answer::Died(why)) => {
                    self.hands.remove(busy);
                    // Two threads may have died of the same.
                    if !run.report.notes.contains(&why) {
                        run.report.notes.push(why);
                    }
                    run.end(Ended::Failed);
                    continue;
                }
                Ok(answer) => {
                    self.hands[busy].busy = false;
                    hear(answer);
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.hands.remove(busy);
                    run.report.notes.push("A thread of the search died.".into());
                    run.end(Ended::Failed);
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            run.look_up();
            // What they tell is shown the next time.
            self.shared_state.asked.ask();
            if let Some(reached) = &mut run.reached {
                (reached.states, reached.transitions) = self.shared_state.reached();
                reached.bytes = self.shared_state.bytes();
            }
            run.show(Phase::Searching);
            if enough(run) {
                self.shared_state.stop();
            }
            for hand in
                self.hands.extract_if(.., |hand| hand.busy && hand.watch.is_stuck(step_time))
            {
                run.step_is_stuck(hand.watch.choice_log());
            }
            if self.shared_state.is_halted() {
                let since = *halted.get_or_insert_with(Stopwatch::start);
                if since.is_past(GRACE) {
                    // Who judges what was logged is not in a step, and comes back.
                    let in_a_step = |hand: &mut PoolThread<S, O>| {
                        hand.busy && hand.watch.choice_log().doing() != Activity::Nothing
                    };
                    for _ in self.hands.extract_if(.., in_a_step) {
                        run.report.notes.push(
                            "A step was still running when the run ended: its thread was left \
                             behind."
                                .into(),
                        );
                    }
                }
            }
        }
    }
}

fn work<P: Program, S: StateSpace, O: TransitionOrder>(
    program: Arc<P>,
    make: Make<P, S>,
    shared_state: Arc<SharedState<S, O>>,
    writer: ChoiceWriter,
    tasks: &Receiver<Task<S, O>>,
    answers: &Sender<Answer<S, O>>,
) {
    save_before_abort(&writer, &shared_state.shared);
    let shared = shared_state.shared.clone();
    let worked = panics::catch(|| {
        let space = match make(program) {
            Ok(space) => space,
            Err(bug) => {
                // A program that cannot be started fails in the hands of whoever begins.
                if tasks.recv().is_ok() {
                    let _ = answers.send(Answer::Begun(Err(bug)));
                }
                return;
            }
        };
        let mut searcher = DepthFirstWorker::new(shared_state, space, writer);
        let mut starts = Vec::new();
        while let Ok(task) = tasks.recv() {
            let answer = match task {
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
                Task::Sample(samples) => {
                    let drawn = searcher.draw(&starts, &samples);
                    searcher.results();
                    Answer::Sampled(drawn)
                }
            };
            if answers.send(answer).is_err() {
                break;
            }
        }
    });
    if let Err(Stop::Bug(bug)) = worked {
        let why = format!("A thread of the search panicked, in an explorer or a front end: {bug}");
        let _ = answers.send(Answer::Died(why));
        // The others would wait for ever for what this one took and does not finish.
        shared.halt.store(true, Ordering::Relaxed);
    }
    panics::before_abort(None);
}
