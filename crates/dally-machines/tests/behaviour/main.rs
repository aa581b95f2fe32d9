//! The behaviour of machines, rule by rule. Programs are small enough that every schedule is run
//! and counted.

// Generated code names the facade; these tests stand in for it.
extern crate self as dally;
#[allow(unused_imports)]
mod __private {
    pub use dally_core as contract;
    pub use dally_machines as machines;
}

mod capture;
mod crashes;
mod debug_forms;
mod driver;
mod effects;
mod endless;
mod inboxes;
mod life;
mod monitors;
mod network;
mod observations;
mod seal_while;
mod sealing;
mod states;
mod timers;
mod twice;
