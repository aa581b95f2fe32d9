//! Searches that sample against brute force, on programs of straight lines.

#[path = "../how_many/mod.rs"]
mod how_many;
mod hybrid;
mod straight;
mod theorem;
