//! Searches for cycles against brute force, on random labelled graphs.

mod labelled;
mod oracle;
mod theorem;
