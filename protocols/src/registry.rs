//! The list of protocols, for the command line and the evaluation.

use std::sync::Arc;

use dally::checking::AnyProgram;

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
    pub program: fn(bug: Option<&str>) -> Arc<dyn AnyProgram>,
}

/// A bug that can be switched on.
#[derive(Clone, Copy)]
pub struct PlantedBug {
    /// The name on the command line.
    pub name: &'static str,
    /// What is wrong, in one sentence.
    pub summary: &'static str,
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
