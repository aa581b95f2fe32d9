//! Searches for cycles and loops of executions against brute force, on random labelled graphs.

mod foreseen;
mod labelled;
mod oracle;
mod sampled;
mod theorem;
mod verdicts;
