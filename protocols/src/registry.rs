//! The list of protocols, for the command line and the evaluation.

use std::sync::Arc;
use std::time::Duration;

use dally::checking::Job;
use dally::core::Schedule;
use dally::machines::MachineProgram;
use dally::search::{self, Mode, Options, Replayed, Report, Sink};
use dally::tasks::TaskProgram;

use crate::{
    bounded_buffer, calculator, chain_replication, chord, connection_pool, elevator_door,
    elevator_planning, extent_manager, failure_detector, german, lann, lcr, messaging, orset,
    paxos, philosophers, process_scheduler, raft, stale_cache, tree_identification,
    two_phase_commit,
};

/// A protocol that can be checked.
#[derive(Clone, Copy)]
pub struct Protocol {
    /// The name on the command line.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub summary: &'static str,
    /// The bugs planted in it.
    pub bugs: &'static [PlantedBug],
    /// A step bound that suits it.
    pub max_steps: usize,
    /// Makes the program: with the bug of this name, or the correct version.
    pub program: fn(bug: Option<&str>) -> Subject,
}

/// A bug that can be switched on.
#[derive(Clone, Copy)]
pub struct PlantedBug {
    /// The name on the command line.
    pub name: &'static str,
    /// What is wrong, in one sentence.
    pub summary: &'static str,
}

/// A program of either front end.
#[expect(clippy::large_enum_variant, reason = "there is one for a whole run")]
pub enum Subject {
    /// Machines.
    Machines(MachineProgram),
    /// Tasks.
    Tasks(TaskProgram),
}

impl Subject {
    /// Runs schedules of it: [`dally::search::run`], whichever front end it has.
    pub fn run(self, options: Options, sink: Arc<dyn Sink>) -> Report {
        match self {
            Subject::Machines(program) => search::run(Arc::new(program), options, sink),
            Subject::Tasks(program) => search::run(Arc::new(program), options, sink),
        }
    }

    /// Does a job with it: runs schedules or searches states, as the job says.
    pub fn check(self, job: Job) -> Report {
        match self {
            Subject::Machines(program) => job.machines(Arc::new(program)),
            Subject::Tasks(program) => job.tasks(Arc::new(program)),
        }
    }

    /// Runs a recorded schedule of it: [`dally::search::replay`].
    pub fn replay(
        self,
        schedule: &Schedule,
        mode: Mode,
        rounds: u32,
        step_time: Duration,
    ) -> Replayed {
        match self {
            Subject::Machines(program) => {
                search::replay(Arc::new(program), schedule, mode, rounds, step_time)
            }
            Subject::Tasks(program) => {
                search::replay(Arc::new(program), schedule, mode, rounds, step_time)
            }
        }
    }
}

/// All protocols, in the order of `dally list`.
pub fn all() -> &'static [Protocol] {
    ALL
}

/// The protocol of this name.
pub fn find(name: &str) -> Option<&'static Protocol> {
    ALL.iter().find(|protocol| protocol.name == name)
}

const ALL: &[Protocol] = &[
    two_phase_commit::PROTOCOL,
    raft::V1,
    raft::V2,
    paxos::PROTOCOL,
    failure_detector::PROTOCOL,
    chord::PROTOCOL,
    chain_replication::PROTOCOL,
    lcr::PROTOCOL,
    german::PROTOCOL,
    orset::PROTOCOL,
    lann::PROTOCOL,
    tree_identification::PROTOCOL,
    elevator_door::PROTOCOL,
    elevator_planning::PROTOCOL,
    extent_manager::PROTOCOL,
    process_scheduler::PROTOCOL,
    philosophers::PROTOCOL,
    messaging::PROTOCOL,
    calculator::PROTOCOL,
    bounded_buffer::PROTOCOL,
    stale_cache::PROTOCOL,
    connection_pool::PROTOCOL,
];
