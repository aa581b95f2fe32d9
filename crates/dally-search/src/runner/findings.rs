//! The bugs of a run: grouped by cause, confirmed and kept as findings.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dally_core::bug::{Endless, Holder};
use dally_core::player::{PlayedStep, Player};
use dally_core::report::{Ended, MAX_FINDINGS};
use dally_core::{Bug, Cause, Choice, Finding, Problem, Program, System, WorkerId, panics};

use super::Run;
use super::threads::ScheduleThreads;
use crate::batch::{BatchCommand, BatchMessage};
use crate::choice_log::{Activity, ChoiceLog};
use crate::confirm::RawFinding;
use crate::deadline::Deadline;
use crate::executor::Executor;
use crate::options::{Options, Phase, Sink};
use crate::record::Followed;
use crate::replay::before_last_step;
use crate::supervisor::{Lost, Notice, last_step, stuck, watched};

/// The schedules that showed one cause.
#[derive(Default)]
pub(crate) struct Group {
    pub(super) occurrences: u64,
    /// The finding that stands for them, by its place in the report.
    pub(super) finding: Option<usize>,
}

/// Counts a bug; returns it if its cause is new.
pub(crate) fn count_bug(
    groups: &mut BTreeMap<Cause, Group>,
    cause: Cause,
    raw: Option<Box<RawFinding>>,
) -> Option<RawFinding> {
    count_bugs(groups, cause, 1, raw)
}

/// Counts so many bugs of a cause; returns the first if the cause is new.
pub(crate) fn count_bugs(
    groups: &mut BTreeMap<Cause, Group>,
    cause: Cause,
    times: u64,
    raw: Option<Box<RawFinding>>,
) -> Option<RawFinding> {
    let group = groups.entry(cause).or_default();
    let is_new = group.occurrences == 0;
    group.occurrences += times;
    // Two threads may each have found the first bug of this cause.
    raw.filter(|_| is_new).map(|raw| *raw)
}

/// Repeats a finding of another run of this program and makes it smaller, as a run does that shrinks what it
/// finds. The options are those of the run that found it.
pub fn shrunk<P: Program + 'static>(
    program: Arc<P>,
    finding: &Finding,
    options: Options,
    sink: Arc<dyn Sink>,
) -> Finding {
    confirmed(program, finding, Options { shrink: true, ..options }, sink)
}

/// Repeats a finding of another run of this program, as a run does with what it finds, and makes it smaller if the
/// options say so. If it cannot be repeated, that is the finding.
pub fn confirmed<P: Program + 'static>(
    program: Arc<P>,
    finding: &Finding,
    options: Options,
    sink: Arc<dyn Sink>,
) -> Finding {
    let options = Options { confirm: true, ..options.naming(&*program) };
    let name = options.strategy.name();
    let fair_from = finding.schedule.setting("fair-from").and_then(|step| step.parse().ok());
    let raw = RawFinding {
        choices: finding.schedule.choices.clone(),
        fair_from: fair_from.unwrap_or(usize::MAX),
        stem: finding.lasso.as_ref().map(|lasso| lasso.stem),
        ..RawFinding::new(finding.bug.clone(), finding.found_at.saturating_sub(1))
    };
    let mut run = Run::new(program, options, name, sink);
    let mut threads = run.supervisor();
    run.confirm(&mut threads, raw);
    threads.finish();
    let mut again = run.report.findings.pop().unwrap_or_else(|| finding.clone());
    again.occurrences = finding.occurrences;
    again
}

impl<P: Program + 'static> Run<P> {
    pub(crate) fn confirm(&mut self, threads: &mut ScheduleThreads, raw: RawFinding) {
        if self.is_full() {
            return;
        }
        let cause = raw.bug.cause();
        let mut finding = raw.finding(&self.shared.description);
        if !self.options.confirm {
            return self.keep(cause, finding);
        }
        if !threads.is_empty() || self.start_thread(threads) {
            let deadline = self.deadline();
            threads.command_first(BatchCommand::Confirm(Box::new(raw), deadline));
            if let Err(why) = self.await_finding(threads, &mut finding) {
                let what = if finding.trace.steps.is_empty() { "repeated" } else { "shrunk" };
                finding.notes.push(format!("It could not be {what}: {why}."));
                self.shared.sink.found(&finding);
                self.end(Ended::Stuck);
            }
        }
        self.keep(cause, finding);
    }

    fn await_finding(
        &mut self,
        threads: &mut ScheduleThreads,
        finding: &mut Finding,
    ) -> Result<(), String> {
        let all = threads.len();
        let mut stuck_step = None;
        threads.wait(None, |notice| match notice {
            Notice::Answer(_, BatchMessage::Confirmed(confirmed)) => {
                *finding = *confirmed;
                self.hurry_if_late();
            }
            Notice::Stuck(log) => {
                let limit = self.options.step_time;
                let what = match last_step(&log.choices()) {
                    Some((step, worker)) if log.doing() == Activity::Stepping => {
                        format!("step {step}, of worker {worker},")
                    }
                    _ => "its start or its end".to_owned(),
                };
                stuck_step = Some(format!("{what} has not come back after {limit:?}"));
            }
            Notice::Tick => {
                self.hurry_if_late();
                self.show_progress(Phase::Shrinking);
            }
            Notice::Answer(..) | Notice::Died(_) | Notice::LeftBehind => {}
        });
        match stuck_step {
            Some(why) => Err(why),
            None if threads.len() < all => Err("its thread died".into()),
            None => Ok(()),
        }
    }

    /// When shrinking must stop: with the time of the run; the first finding has a quarter more.
    fn deadline(&self) -> Option<Deadline> {
        let time = self.options.time?;
        let more = if self.report.findings.is_empty() { time / 4 } else { Duration::ZERO };
        Some(Deadline { clock: self.clock, limit: time.saturating_add(more) })
    }

    fn hurry_if_late(&mut self) {
        if self.deadline().is_some_and(Deadline::is_past)
            || self.options.stop.load(Ordering::Relaxed)
        {
            self.shared.stop_shrinking.store(true, Ordering::Relaxed);
        }
    }

    /// Reports a step that does not come back. Its thread is left behind, and the run ends.
    pub(crate) fn step_is_stuck(&mut self, choice_log: &ChoiceLog) {
        let schedule = choice_log.schedule();
        let (bug, choices) = stuck(choice_log, self.options.step_time);
        let cause = bug.cause();
        let before = before_last_step(&choices).to_vec();
        let raw =
            RawFinding { choices: choices.clone(), fair_from: 0, ..RawFinding::new(bug, schedule) };
        let mut finding = raw.finding(&self.shared.description);
        self.shared.sink.found(&finding);
        self.end(Ended::Stuck);
        // What led to the step is repeated without that step.
        let (program, limits) = (self.program.clone(), self.shared.description.limits);
        let led_to = watched(&self.options.program, self.options.step_time, move |writer| {
            Executor::new(&*program, writer).repeat(schedule, &before, 0, &limits)
        });
        if let Ok(Followed { recording, left_at: None, .. }) = led_to {
            finding.trace = recording.trace;
            let standing = &recording.execution.standing;
            let found = self.holder(standing, &choices, &finding.bug);
            match (found, &mut *finding.bug.problem) {
                (Some(found), Problem::EndlessStep(Endless::Time { holder, .. })) => {
                    *holder = Some(found);
                }
                _ => finding.notes.extend(may_hold(standing, finding.bug.worker)),
            }
            self.shared.sink.found(&finding);
        }
        self.report.schedules += 1;
        self.groups.entry(cause).or_default().occurrences += 1;
        self.keep(cause, finding);
    }

    /// Who holds what a call waits for that blocks its step: the step comes back where that worker gives up before
    /// it, and does not where nobody does. Tried with each of those who stand somewhere, on threads that are left
    /// behind with the step, for as long as the run may go on.
    fn holder(
        &self,
        standing: &[(WorkerId, String)],
        choices: &[Choice],
        bug: &Bug,
    ) -> Option<Holder> {
        /// How long it may take to come back.
        const PATIENCE: Duration = Duration::from_secs(2);
        /// How many are asked.
        const MOST: usize = 8;
        let Problem::EndlessStep(Endless::Time { call: Some(_), .. }) = &*bug.problem else {
            return None;
        };
        let others = standing.iter().filter(|(worker, _)| Some(*worker) != bug.worker);
        let patience = self.options.step_time.min(PATIENCE);
        let comes_back = |without: Option<WorkerId>| {
            let is_over = self.options.stop.load(Ordering::Relaxed)
                || self.deadline().is_some_and(Deadline::is_past);
            if is_over {
                return Err(Lost::Failed("the run is over".into()));
            }
            let (program, choices) = (self.program.clone(), choices.to_vec());
            watched(&self.options.program, patience, move |mut writer| {
                writer.now(Activity::Stepping);
                comes_back_without(&*program, &choices, without)
            })
        };
        // A step that comes back by itself the second time accuses nobody.
        if !matches!(comes_back(None), Err(Lost::Stuck(..))) {
            return None;
        }
        let found =
            others.take(MOST).find(|(other, _)| matches!(comes_back(Some(*other)), Ok(true)));
        found.map(|(worker, standing)| Holder { worker: *worker, standing: standing.clone() })
    }

    /// Puts a finding into the report, or merges it with that of the cause that it now has.
    fn keep(&mut self, cause: Cause, finding: Finding) {
        let confirmed = finding.bug.cause();
        let findings = &mut self.report.findings;
        let place = findings.iter().position(|known| known.bug.cause() == confirmed);
        let place = place.unwrap_or_else(|| {
            findings.push(finding);
            findings.len() - 1
        });
        self.groups.entry(cause).or_default().finding = Some(place);
    }

    pub(super) fn is_full(&self) -> bool {
        self.report.findings.len() >= MAX_FINDINGS
    }
}

/// Makes these choices again, and has a worker, if one is named, give up what it holds before the last step of them;
/// answers whether that could be done, if it comes back.
fn comes_back_without<P: Program>(
    program: &P,
    choices: &[Choice],
    without: Option<WorkerId>,
) -> bool {
    let before = before_last_step(choices).len();
    let Ok(mut system) = program.start() else { return false };
    let mut player = Player::new(choices);
    while let Ok(worker) = player.worker() {
        let is_last = player.position() > before;
        if let Some(without) = without.filter(|_| is_last)
            && !system.give_up(without)
        {
            return false;
        }
        let stepped = panics::catch(|| system.step(worker, &mut PlayedStep::new(&mut player)));
        if is_last || stepped.is_err() {
            return is_last;
        }
    }
    false
}

/// Who may hold what the step of this worker waits for.
fn may_hold(standing: &[(WorkerId, String)], stuck: Option<WorkerId>) -> Option<String> {
    let others = standing.iter().filter(|(worker, _)| Some(*worker) != stuck);
    let others: Vec<_> =
        others.map(|(worker, where_it_is)| format!("{worker} {where_it_is}")).collect();
    (!others.is_empty()).then(|| {
        let others = others.join("; ");
        format!("If it waits for a lock that Dally does not know of, one of these may hold it: {others}.")
    })
}
