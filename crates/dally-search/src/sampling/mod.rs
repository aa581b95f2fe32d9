//! Strategies that sample or enumerate schedules; [`research`](crate::research) has more.

pub(crate) mod chains;
mod dfs;
mod fair;
mod partition;
mod pct;
mod pctcp;
mod pending;
mod portfolio;
mod pos;
pub(crate) mod profile;
mod random;
mod round_robin;
mod sampler;
mod surw;

pub use dfs::Dfs;
pub use fair::Fair;
pub use fastrand::Rng;
pub use pct::Pct;
pub use pctcp::Pctcp;
pub use portfolio::Portfolio;
pub use pos::Pos;
pub use random::Random;
pub use round_robin::RoundRobin;
pub use sampler::{Sampler, Seeded};
pub use surw::Surw;
