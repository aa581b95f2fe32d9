//! Machines in production: the same rules as under test, with real messages and real time.

// Generated code names the facade; these tests stand in for it.
extern crate self as dally;
#[allow(unused_imports)]
mod __private {
    pub use dally_core as contract;
    pub use dally_machines as machines;
}

mod durable;
mod failures;
mod life;
mod log;
mod monitors;
mod same;
mod shutdown;
mod timers;
