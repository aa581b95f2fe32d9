//! Runs: batches of schedules over threads, under supervision.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use dally_core::words::{count, grouped};
use dally_core::{Cause, Finding, Program, Trace};

use crate::batch::{Batch, News, Order, Ran, Shared, Told, work};
use crate::deadline::Stopwatch;
use crate::executor::{Desk, Limits, Recorder, Stage};
use crate::guide::Manner;
use crate::learning::file;
use crate::liveness::Loops;
use crate::options::{Options, Phase, Progress, Reached, Sink};
use crate::record::{Followed, Heading, Script, follow};
use crate::replay::before_last_step;
use crate::report::{Ended, Report};
use crate::seen::{MAX_OBSERVATIONS, Seen};
use crate::settle::Raw;
use crate::strategy::Outcome;
use crate::tape::{Pen, Tape};
use crate::watchdog::{Watch, spawn, stuck, tick, watched};

/// Runs schedules of `program` as the options say, and tells the sink of findings the moment
/// they are found.
///
/// Schedules run on threads of their own; the calling thread supervises them, and returns even
/// if a step never does.
///
/// The same program, seed and options give the same report, but for the time elapsed, with any
/// number of threads: schedules are numbered, batches have fixed sizes, and what comes after
/// the first failing schedule does not count.
pub fn run<P: Program + 'static>(
    program: Arc<P>,
    mut options: Options,
    sink: Arc<dyn Sink>,
) -> Report {
    options.strategy.reseed(options.seed);
    options.fairness = options.fairness.under_a_strategy();
    let name = options.strategy.name();
    let key = file::Key::new(&options.program, &options.settings, program.granularity(), &name);
    let strategy = &mut options.strategy;
    let path = options.learned.as_deref();
    let recalled = path.map_or(Ok(()), |path| file::load(path, &key, &mut **strategy));
    let mut run = Run::new(program, options, name, sink);
    match recalled {
        Ok(()) => run.all_schedules(),
        Err(why) => {
            run.report.notes.push(why);
            run.end(Ended::Failed);
        }
    }
    run.finish()
}

/// The first batch is small, so that strategies learn early; later ones are as large as the
/// strategy likes, so that threads seldom wait for each other.
const FIRST_BATCH: u64 = 16;

/// How many small batches a thread that works alone is given at once.
const ALONE: u64 = 64;

/// More causes than this are noise: they are counted and no longer kept.
const MAX_FINDINGS: usize = 100;

/// How long a strategy may take to tell what it has learnt.
const TELLING: Duration = Duration::from_secs(60);

/// How long threads may take to hear that the run is over.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// A run under supervision: by schedules here, by states in `strata`.
pub(crate) struct Run<P: Program + 'static> {
    pub(crate) program: Arc<P>,
    pub(crate) options: Options,
    pub(crate) shared: Arc<Shared>,
    pub(crate) report: Report,
    pub(crate) clock: Stopwatch,
    /// When progress was last shown.
    shown: Stopwatch,
    /// The causes seen so far.
    pub(crate) groups: BTreeMap<Cause, Group>,
    /// Why no more is wanted.
    pub(crate) ended: Option<Ended>,
    /// How far a search of states is, for the progress.
    pub(crate) reached: Option<Reached>,
}

/// The schedules that showed one cause.
#[derive(Default)]
pub(crate) struct Group {
    occurrences: u64,
    /// The finding that stands for them, by its place in the report.
    finding: Option<usize>,
}

/// Counts a bug with its cause; answers it if its cause is new.
pub(crate) fn count_bug(
    groups: &mut BTreeMap<Cause, Group>,
    cause: Cause,
    raw: Option<Box<Raw>>,
) -> Option<Raw> {
    let group = groups.entry(cause).or_default();
    group.occurrences += 1;
    // Two threads may each have held theirs to be the first of its cause.
    raw.filter(|_| group.occurrences == 1).map(|raw| *raw)
}

/// A thread that runs schedules, seen from outside.
pub(crate) struct Hand {
    orders: Sender<Order>,
    news: Receiver<News>,
    ran: Arc<Mutex<Vec<Ran>>>,
    watch: Watch,
    /// It has an order and has not answered.
    busy: bool,
}

impl Hand {
    fn results(&self) -> Vec<Ran> {
        std::mem::take(&mut *self.ran.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<P: Program + 'static> Run<P> {
    /// A run that nothing has come of yet. `name` says who picks the choices.
    pub(crate) fn new(
        program: Arc<P>,
        options: Options,
        name: String,
        sink: Arc<dyn Sink>,
    ) -> Run<P> {
        let clock = Stopwatch::start();
        let limits = Limits {
            max_steps: options.max_steps,
            fail_on_max_steps: options.fail_on_max_steps,
            temperature: options.temperature.unwrap_or(options.max_steps / 2),
            fairness: options.fairness,
            loops: Loops::Ignored,
            blamed: None,
            step_items: options.step_items,
        };
        let heading = Heading {
            program: options.program.clone(),
            settings: options.settings.clone(),
            limits,
        };
        let shared = Arc::new(Shared {
            heading,
            sink,
            keep_going: options.keep_going,
            shrink_steps: options.shrink.then_some(options.shrink_steps),
            repeat_check: options.repeat_check,
            observe_every: options.observe_every,
            halt: AtomicBool::new(false),
            hurry: AtomicBool::new(false),
            full: AtomicBool::new(false),
            schedules: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            first: Mutex::new(BTreeMap::new()),
            sightings: RwLock::default(),
        });
        let report = Report {
            program: options.program.clone(),
            strategy: name,
            seed: options.seed,
            granularity: program.granularity(),
            schedules: 0,
            steps: 0,
            longest: 0,
            cut: 0,
            max_steps: options.max_steps,
            observations: 0,
            seen: Seen::default(),
            findings: Vec::new(),
            ended: Ended::Schedules,
            states: None,
            notes: Vec::new(),
            elapsed: Duration::ZERO,
        };
        let shown = Stopwatch::start();
        let groups = BTreeMap::new();
        let (ended, reached) = (None, None);
        Run { program, options, shared, report, clock, shown, groups, ended, reached }
    }

    fn all_schedules(&mut self) {
        let sequential = self.options.strategy.is_sequential();
        let threads = if sequential { 1 } else { self.options.threads.clamp(1, 1024) };
        let mut hands: Vec<Hand> = (0..threads).map_while(|_| self.hire()).collect();
        let mut next = 0;
        let largest = self.options.strategy.batch().max(1);
        let mut size = FIRST_BATCH.min(largest);
        let mut learn = Vec::new();
        while next < self.options.schedules {
            self.look_up();
            self.show(Phase::Searching);
            if hands.is_empty() {
                self.end(Ended::Failed);
            }
            if self.ended.is_some() {
                break;
            }
            let alone = (hands.len() == 1 && largest <= FIRST_BATCH).then_some(size);
            let batches = if alone.is_some() { ALONE } else { 1 };
            let end = self.options.schedules.min(next.saturating_add(size * batches));
            let batch = Arc::new(Batch {
                next: AtomicU64::new(next),
                end: AtomicU64::new(end),
                learn: std::mem::take(&mut learn),
                alone,
                unlearnt: AtomicU64::new(next),
            });
            for hand in &mut hands {
                hand.busy = hand.orders.send(Order::Run(batch.clone())).is_ok();
            }
            let mut ran = self.await_batch(&mut hands);
            ran.sort_by_key(|ran| ran.outcome.schedule);
            let wanted = batch.end.load(Ordering::Acquire);
            ran.retain(|ran| ran.outcome.schedule < wanted);
            let raws;
            (learn, raws) = self.merge(ran);
            let unlearnt = batch.unlearnt.load(Ordering::Acquire);
            learn.retain(|outcome| outcome.schedule >= unlearnt);
            if !raws.is_empty() && !self.options.keep_going {
                self.ended = self.ended.filter(|&ended| ended != Ended::Time).or(Some(Ended::Bug));
            } else if wanted < end {
                self.ended = self.ended.or(Some(Ended::Exhausted));
            }
            for raw in raws {
                self.settle(&mut hands, raw);
            }
            let full = self.report.findings.len() >= MAX_FINDINGS;
            self.shared.full.store(full, Ordering::Relaxed);
            next = end;
            size = size.saturating_mul(2).min(largest);
        }
        // A search that has just run its last schedule is exhausted, and only it knows.
        if self.ended.is_none()
            && sequential
            && let Some(hand) = hands.first()
        {
            let asked = hand.orders.send(Order::Ask(next, std::mem::take(&mut learn))).is_ok();
            let answer = hand.news.recv_timeout(self.options.step_time);
            if asked && matches!(answer, Ok(News::More(false))) {
                self.ended = Some(Ended::Exhausted);
            }
        }
        if self.options.learned.is_some() {
            self.keep_learned(&hands, learn);
        }
        for Hand { orders, news, .. } in hands {
            // Without orders the thread ends, and with it what is left of the last execution.
            drop(orders);
            while news.recv_timeout(GRACE).is_ok() {}
        }
    }

    /// Writes to a file what any of the threads has learnt, after it has learnt this too.
    fn keep_learned(&mut self, hands: &[Hand], learn: Vec<Outcome>) {
        let Some(path) = &self.options.learned else { return };
        let kept = match hands.first() {
            None => Err("What was learnt is lost with the threads that learnt it.".into()),
            Some(hand) => {
                // One that cannot be told has died, and says so by its channel.
                let _ = hand.orders.send(Order::Tell(learn));
                match hand.news.recv_timeout(TELLING) {
                    Ok(News::Learned(Some(learned))) => {
                        let Report { program, strategy, granularity, .. } = &self.report;
                        let settings = &self.options.settings;
                        let key = file::Key::new(program, settings, granularity, strategy);
                        file::save(path, &key, &learned)
                    }
                    _ => Err("What was learnt is lost: the strategy did not tell it.".into()),
                }
            }
        };
        self.report.notes.extend(kept.err());
    }

    /// Starts a thread that runs schedules.
    fn hire(&mut self) -> Option<Hand> {
        let (orders, told) = mpsc::channel();
        let (answer, news) = mpsc::channel();
        let ran = Arc::new(Mutex::new(Vec::new()));
        let pen = Pen::new();
        let watch = Watch::new(pen.tape().clone());
        let (program, shared) = (self.program.clone(), self.shared.clone());
        let strategy = self.options.strategy.fork();
        let told = Told { orders: told, news: answer, ran: ran.clone() };
        let spawned = spawn(&self.options.program, move || {
            work(&*program, strategy, pen, &shared, &told);
        });
        match spawned {
            Ok(()) => Some(Hand { orders, news, ran, watch, busy: false }),
            Err(error) => {
                self.report.notes.push(format!("A thread could not be started: {error}."));
                None
            }
        }
    }

    /// Waits for all threads to answer; those that never will are left behind.
    fn await_batch(&mut self, hands: &mut Vec<Hand>) -> Vec<Ran> {
        let mut all = Vec::new();
        let mut halted: Option<Stopwatch> = None;
        let tick = tick(self.options.step_time);
        while let Some(busy) = hands.iter().position(|hand| hand.busy) {
            match hands[busy].news.recv_timeout(tick) {
                Ok(_) => {
                    hands[busy].busy = false;
                    all.extend(hands[busy].results());
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let hand = hands.remove(busy);
                    all.extend(hand.results());
                    self.report.notes.push(
                        "A thread that ran schedules died: a strategy or a sink panicked.".into(),
                    );
                    self.end(Ended::Failed);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.look_up();
            self.show(Phase::Searching);
            let step_time = self.options.step_time;
            for hand in hands.extract_if(.., |hand| hand.busy && hand.watch.is_stuck(step_time)) {
                all.extend(hand.results());
                self.step_is_stuck(hand.watch.tape());
            }
            if self.shared.halt.load(Ordering::Relaxed) {
                let since = *halted.get_or_insert_with(Stopwatch::start);
                if since.is_past(GRACE) {
                    for hand in hands.extract_if(.., |hand| hand.busy) {
                        all.extend(hand.results());
                        self.report.notes.push(
                            "A step was still running when the run ended: its thread was left \
                             behind."
                                .into(),
                        );
                    }
                }
            }
        }
        all
    }

    /// No more schedules.
    pub(crate) fn end(&mut self, why: Ended) {
        self.ended = self.ended.or(Some(why));
        self.shared.halt.store(true, Ordering::Relaxed);
    }

    /// Sees whether the time is up or the user wants to leave.
    pub(crate) fn look_up(&mut self) {
        if self.options.stop.load(Ordering::Relaxed) {
            self.shared.hurry.store(true, Ordering::Relaxed);
            self.end(Ended::Interrupted);
        } else if self.options.time.is_some_and(|limit| self.clock.is_past(limit)) {
            self.end(Ended::Time);
        }
    }

    /// Shows the progress, not too often.
    pub(crate) fn show(&mut self, phase: Phase) {
        if self.shown.is_past(Duration::from_millis(50)) {
            self.shown = Stopwatch::start();
            self.shared.sink.progress(&self.progress(phase));
        }
    }

    fn progress(&self, phase: Phase) -> Progress {
        Progress {
            schedules: self.shared.schedules.load(Ordering::Relaxed),
            of: self.options.schedules,
            steps: self.shared.steps.load(Ordering::Relaxed),
            observations: self.report.observations,
            findings: self.report.findings.len(),
            reached: self.reached,
            phase,
            elapsed: self.clock.elapsed(),
        }
    }

    /// Adds up what a batch came to, in the order of its schedules. Answers what strategies
    /// learn, and the bugs with new causes.
    fn merge(&mut self, ran: Vec<Ran>) -> (Vec<Outcome>, Vec<Raw>) {
        let mut raws = Vec::new();
        let mut outcomes = Vec::with_capacity(ran.len());
        let mut sightings = self.shared.sightings.write().unwrap_or_else(PoisonError::into_inner);
        for Ran { outcome, bug, shown, whole, notes } in ran {
            self.report.schedules += 1;
            self.report.steps += outcome.steps as u64;
            self.report.longest = self.report.longest.max(outcome.steps);
            self.report.cut += u64::from(!outcome.complete && !outcome.bug);
            for note in notes {
                if !self.report.notes.contains(&note) {
                    self.report.notes.push(note);
                }
            }
            sightings.add(shown, whole || self.options.observe_every == 0);
            if let Some((cause, raw)) = bug {
                raws.extend(count_bug(&mut self.groups, cause, raw));
            }
            outcomes.push(outcome);
        }
        self.report.observations = sightings.distinct();
        self.report.seen = sightings.seen(self.options.strategy.draws_alike());
        (outcomes, raws)
    }

    /// Has a bug with a new cause confirmed and shrunk.
    pub(crate) fn settle(&mut self, hands: &mut Vec<Hand>, raw: Raw) {
        if self.report.findings.len() >= MAX_FINDINGS {
            return;
        }
        let cause = raw.bug.cause();
        let mut finding = raw.finding(&self.shared.heading);
        if hands.is_empty() {
            hands.extend(self.hire());
        }
        if let Some(hand) = hands.first_mut() {
            // A hand that cannot be told has died, and says so by its channel below.
            let _ = hand.orders.send(Order::Settle(Box::new(raw)));
            match self.await_settled(hands, &mut finding) {
                Ok(()) => {}
                Err(why) => {
                    hands.remove(0);
                    let what = if finding.trace.steps.is_empty() { "repeated" } else { "shrunk" };
                    finding.notes.push(format!("It could not be {what}: {why}."));
                    self.shared.sink.found(&finding);
                    self.end(Ended::Stuck);
                }
            }
        }
        self.keep(cause, finding);
    }

    fn await_settled(&mut self, hands: &mut [Hand], finding: &mut Finding) -> Result<(), String> {
        let tick = tick(self.options.step_time);
        loop {
            match hands[0].news.recv_timeout(tick) {
                Ok(News::Settled(settled)) => {
                    *finding = *settled;
                    return Ok(());
                }
                Ok(News::Confirmed(confirmed)) => *finding = *confirmed,
                Ok(News::Ran | News::More(_) | News::Learned(_)) => {}
                Err(RecvTimeoutError::Disconnected) => return Err("its thread died".into()),
                Err(RecvTimeoutError::Timeout) => {
                    if hands[0].watch.is_stuck(self.options.step_time) {
                        let tape = hands[0].watch.tape();
                        let choices = tape.choices();
                        let bug = stuck(tape.doing(), &choices, self.options.step_time);
                        return Err(bug.message);
                    }
                }
            }
            // The first finding may be shrunk after the time is up; the others are not worth it.
            let late = self.options.time.is_some_and(|limit| self.clock.is_past(limit));
            let enough = late && !self.report.findings.is_empty();
            if enough || self.options.stop.load(Ordering::Relaxed) {
                self.shared.hurry.store(true, Ordering::Relaxed);
            }
            self.show(Phase::Shrinking);
        }
    }

    /// Reports a step that does not come back; its thread is left behind, and the run ends.
    pub(crate) fn step_is_stuck(&mut self, tape: &Tape) {
        let (schedule, choices) = (tape.schedule(), tape.choices());
        let bug = stuck(tape.doing(), &choices, self.options.step_time);
        let cause = bug.cause();
        let script = Script::of(before_last_step(&choices).to_vec(), 0);
        let raw = Raw {
            bug,
            schedule,
            choices,
            fair_from: 0,
            notes: Vec::new(),
            trace: Trace::default(),
            stem: None,
            searched: false,
        };
        let mut finding = raw.finding(&self.shared.heading);
        self.shared.sink.found(&finding);
        self.end(Ended::Stuck);
        // What led to the step can be repeated without the step itself.
        let (program, limits) = (self.program.clone(), self.shared.heading.limits);
        let led_to = watched(&self.options.program, self.options.step_time, move |pen| {
            let mut stage = Stage::new(&*program);
            let (recorder, desk) = (Recorder::default(), Desk::undisturbed(pen));
            follow(recorder, &mut stage, schedule, &script, Manner::Exact, &limits, desk)
        });
        if let Ok(Followed { recording, left_at: None, .. }) = led_to {
            finding.trace = recording.trace;
            self.shared.sink.found(&finding);
        }
        self.report.schedules += 1;
        self.groups.entry(cause).or_default().occurrences += 1;
        self.keep(cause, finding);
    }

    /// Puts a finding into the report. One that has turned out to be of a known cause joins it.
    fn keep(&mut self, cause: Cause, finding: Finding) {
        let settled = finding.bug.cause();
        let findings = &mut self.report.findings;
        let place = findings.iter().position(|known| known.bug.cause() == settled);
        let place = place.unwrap_or_else(|| {
            findings.push(finding);
            findings.len() - 1
        });
        self.groups.entry(cause).or_default().finding = Some(place);
    }

    /// The report, with all that was found.
    pub(crate) fn finish(mut self) -> Report {
        let findings = &mut self.report.findings;
        findings.iter_mut().for_each(|finding| finding.occurrences = 0);
        let mut others = 0;
        for group in self.groups.values() {
            match group.finding {
                Some(place) => findings[place].occurrences += group.occurrences,
                None => others += 1,
            }
        }
        findings.sort_by_key(|finding| finding.found_at);
        if others > 0 {
            let others = count(others, "further cause");
            self.report.notes.push(format!("Bugs of {others} were counted and not kept."));
        }
        if self.report.observations >= MAX_OBSERVATIONS as u64 {
            let bound = grouped(MAX_OBSERVATIONS as u64);
            self.report.notes.push(format!("Observations were told apart up to {bound}."));
        }
        self.report.ended = self.ended.unwrap_or(Ended::Schedules);
        self.report.elapsed = self.clock.elapsed();
        self.shared.sink.progress(&self.progress(Phase::Searching));
        self.report
    }
}
