//! Strategies, runner, replay and shrinking, on small programs whose answers are known.

mod abort;
mod bugs;
mod dfs;
mod inputs;
mod lassos;
mod learning;
mod lessons;
mod limits;
mod merging;
#[path = "../past/mod.rs"]
mod past;
mod pasts;
mod pct;
mod programs;
mod pruning;
mod replaying;
mod shrinking;
mod strategies;
mod threads;
