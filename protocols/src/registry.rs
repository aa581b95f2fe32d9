//! The list of protocols, for the command line and the evaluation.

use std::sync::Arc;
use std::time::Duration;

use dally::checking::Job;
use dally::core::{Program, Schedule};
use dally::machines::MachineProgram;
use dally::search::strata::Bundled;
use dally::search::{self, Mode, Options, Replayed, Report, Sink};
use dally::tasks::TaskProgram;

use crate::{
    bounded_buffer, cache_provider, calculator, chain_replication, chord, connection_pool,
    elevator_door, elevator_planning, extent_manager, failure_detector, fib_bench, german, lann,
    lcr, messaging, orset, paxos, philosophers, pool_manager, process_scheduler, raft,
    resource_provider, safe_stack, stale_cache, tree_identification, triangular, two_phase_commit,
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

/// A program of one of the front ends.
#[expect(clippy::large_enum_variant, reason = "there is one for a whole run")]
pub enum Subject {
    /// Machines.
    Machines(MachineProgram),
    /// Tasks.
    Tasks(TaskProgram),
    /// The model of SafeStack, written by hand against the contract of systems.
    Model(safe_stack::Model),
}

impl Subject {
    /// What a step is in it.
    pub fn granularity(&self) -> &'static str {
        match self {
            Subject::Machines(program) => Program::granularity(program),
            Subject::Tasks(program) => program.granularity(),
            Subject::Model(program) => program.granularity(),
        }
    }

    /// Runs schedules of it: [`dally::search::run`], whichever front end it has.
    pub fn run(self, options: Options, sink: Arc<dyn Sink>) -> Report {
        match self {
            Subject::Machines(program) => search::run(Arc::new(program), options, sink),
            Subject::Tasks(program) => search::run(Arc::new(program), options, sink),
            Subject::Model(program) => search::run(Arc::new(program), options, sink),
        }
    }

    /// Does a job with it: runs schedules or searches states, as the job says.
    pub fn check(self, job: Job) -> Report {
        match self {
            Subject::Machines(program) => job.machines(Arc::new(program)),
            Subject::Tasks(program) => job.tasks(Arc::new(program)),
            Subject::Model(program) => job.captured::<_, Bundled>(Arc::new(program), None),
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
            Subject::Model(program) => {
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
    cache_provider::PROTOCOL,
    pool_manager::V1,
    pool_manager::V2,
    resource_provider::V1,
    resource_provider::V2,
    messaging::PROTOCOL,
    calculator::PROTOCOL,
    bounded_buffer::PROTOCOL,
    fib_bench::SHORT,
    fib_bench::LONGEST,
    triangular::SHORT,
    triangular::LONGEST,
    safe_stack::FIVE,
    safe_stack::THREE,
    safe_stack::MODEL,
    stale_cache::PROTOCOL,
    connection_pool::PROTOCOL,
];
