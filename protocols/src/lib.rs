//! The protocols that come with Dally, each with planted bugs behind names and a correct version.

mod alternation;
pub mod bounded_buffer;
pub mod cache_provider;
pub mod calculator;
pub mod chain_replication;
pub mod chord;
pub mod connection_pool;
pub mod elevator_door;
pub mod elevator_planning;
pub mod extent_manager;
pub mod failure_detector;
pub mod fib_bench;
pub mod german;
pub mod lann;
pub mod lcr;
pub mod messaging;
pub mod orset;
pub mod paxos;
pub mod philosophers;
pub mod pool_manager;
pub mod process_scheduler;
pub mod raft;
pub mod registry;
pub mod resource_provider;
pub mod safe_stack;
pub mod stale_cache;
pub mod tree_identification;
pub mod triangular;
pub mod two_phase_commit;

pub use registry::{PlantedBug, Protocol, all, find};
