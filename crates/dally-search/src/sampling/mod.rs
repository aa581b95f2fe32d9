//! Strategies that sample or enumerate schedules, each in a file of its own. Those that are there
//! for comparisons are in [`research`](crate::research).

pub(crate) mod chains;
mod dfs;
mod fair;
mod pct;
mod pctcp;
mod portfolio;
mod pos;
pub(crate) mod profile;
mod random;
mod round_robin;
mod surw;

pub use dfs::Dfs;
pub use fair::Fair;
pub use pct::Pct;
pub use pctcp::Pctcp;
pub use portfolio::Portfolio;
pub use pos::Pos;
pub use random::Random;
pub use round_robin::RoundRobin;
pub use surw::Surw;
