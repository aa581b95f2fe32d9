//! Virtual time: it moves only when a timer fires, and when that is depends on the program's
//! [`Clock`](crate::Clock).

mod clock;
pub mod error;
mod instant;
mod interval;
mod sleep;
mod timeout;

pub use std::time::Duration;

pub use self::clock::{advance, pause, resume};
pub use self::instant::Instant;
pub use self::interval::{Interval, MissedTickBehavior, interval, interval_at};
pub use self::sleep::{Sleep, sleep, sleep_until};
pub use self::timeout::{Timeout, timeout, timeout_at};
