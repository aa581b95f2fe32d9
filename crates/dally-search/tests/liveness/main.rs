//! Searches for cycles and loops of executions against brute force, on random labelled graphs.

mod foreseen;
#[path = "../how_many/mod.rs"]
mod how_many;
mod labelled;
mod oracle;
mod sampled;
mod theorem;
mod verdicts;
