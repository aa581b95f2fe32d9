//! Searches for loops against brute force, on random programs of machines.

// Generated code names the facade; these tests stand in for it.
extern crate self as dally;
#[allow(unused_imports)]
mod __private {
    pub use dally_core as contract;
    pub use dally_machines as machines;
}

mod graph;
mod oracle;
mod programs;
mod theorem;
mod walker;
