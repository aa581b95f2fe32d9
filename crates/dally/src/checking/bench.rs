//! What a campaign asks of a program: batches of schedules, smaller findings, replays.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dally_core::{Finding, Schedule};
use dally_search::{
    Batch, BatchOutcome, Mode, NotIndependent, Options, Sink, StrategyKind, UnknownName,
};

use super::{AnyProgram, Checking, ROUNDS};
use crate::settings::Settings;

/// A program with all that its schedules depend on, but for strategy and seed.
pub struct Bench {
    /// The program.
    pub program: Arc<dyn AnyProgram>,
    /// Its name in schedules.
    pub name: String,
    /// Further (name, value) pairs that a replay needs, such as the planted bug.
    pub replay_settings: Vec<(String, String)>,
    /// How it is checked.
    pub settings: Settings,
    /// Setting it ends a batch, which does not count then.
    pub stop: Arc<AtomicBool>,
}

/// Of one schedule in so many it is counted what machines do: that takes up to a hundred times as long as running it.
const CENSUS: u64 = 1_024;

/// A batch cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotRun {
    /// There is no such strategy.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// It cannot go on from batch to batch.
    #[error(transparent)]
    NotIndependent(#[from] NotIndependent),
}

impl Bench {
    /// Runs a batch to its end, whatever it finds; a strategy that learns goes on from what it has `learned`.
    pub fn run(
        &self,
        strategy: &str,
        batch: Batch,
        learned: Option<&[u8]>,
    ) -> Result<BatchOutcome, CannotRun> {
        let options = self.options(strategy, batch.seed)?;
        let options = Options { keep_going: true, shrink: false, census_every: CENSUS, ..options };
        Ok(Arc::clone(&self.program).run_in_turn(batch, learned, options, Arc::new(()))?)
    }

    /// Runs a batch in a process that runs nothing else: nothing is run twice, since what a schedule leaves in statics
    /// would be there the second time. The sink is told of a schedule that ends the process.
    pub fn run_once(
        &self,
        strategy: &str,
        batch: Batch,
        learned: Option<&[u8]>,
        sink: Arc<dyn Sink>,
    ) -> Result<BatchOutcome, CannotRun> {
        let options = self.options(strategy, batch.seed)?;
        let options = Options { confirm: false, shrink: false, repeat_check: false, ..options };
        let mut ran = Arc::clone(&self.program).run_in_turn(batch, learned, options, sink)?;
        ran.report.foreign = self.program.foreign();
        Ok(ran)
    }

    /// Repeats a finding of a batch with a full record.
    pub fn confirm(
        &self,
        strategy: &str,
        seed: u64,
        finding: &Finding,
    ) -> Result<Finding, CannotRun> {
        let options = Options { shrink: false, ..self.options(strategy, seed)? };
        Ok(Arc::clone(&self.program).confirmed(finding, options))
    }

    /// Makes a finding of a batch smaller.
    pub fn shrink(
        &self,
        strategy: &str,
        seed: u64,
        finding: &Finding,
    ) -> Result<Finding, CannotRun> {
        let options = self.options(strategy, seed)?;
        Ok(Arc::clone(&self.program).shrunk(finding, options))
    }

    fn options(&self, strategy: &str, seed: u64) -> Result<Options, UnknownName> {
        let strategy: StrategyKind = strategy.parse()?;
        let settings = Settings { strategy, seed, learned: None, ..self.settings.clone() };
        let checking = Checking {
            replay_settings: self.replay_settings.clone(),
            stop: Arc::clone(&self.stop),
            ..Checking::new(self.name.clone(), settings)
        };
        Ok(checking.options())
    }

    /// Whether a schedule shows the bug that it was recorded with; `None` if the program no longer makes these
    /// choices.
    pub fn shows(&self, schedule: &Schedule) -> Option<bool> {
        let program = Arc::clone(&self.program);
        let replayed = program.replay(schedule, Mode::Exact, ROUNDS, self.settings.step_time);
        let recorded = schedule.bug.as_ref().map(|bug| bug.cause);
        match replayed.bug.map(|bug| bug.cause()) {
            cause @ Some(_) if cause == recorded => Some(true),
            _ if replayed.schedule.choices == schedule.choices => Some(false),
            _ => None,
        }
    }
}
