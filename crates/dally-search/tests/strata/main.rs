//! Searches by strata against brute force, on random transition graphs.

mod bugs;
mod caches;
mod claims;
mod copied_or_replayed;
mod determinism;
mod explorers;
mod graphs;
#[path = "../how_many/mod.rs"]
mod how_many;
mod limits;
mod random;
mod reachability;
mod sealing;
mod soundness;
mod strata;
mod walk;
mod written;
