//! Strategies that sample or enumerate schedules, each in a file of its own.

mod dfs;
mod fair;
mod irs;
mod pct;
mod portfolio;
mod random;
mod round_robin;

pub use dfs::Dfs;
pub use fair::Fair;
pub use irs::Irs;
pub use pct::Pct;
pub use portfolio::Portfolio;
pub use random::Random;
pub use round_robin::RoundRobin;
