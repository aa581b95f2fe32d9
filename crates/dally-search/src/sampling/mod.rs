//! Strategies that sample or enumerate schedules, each in a file of its own.

mod chains;
mod dfs;
mod fair;
mod irs;
mod pct;
mod pctcp;
mod period;
mod portfolio;
mod pos;
mod profile;
mod random;
mod round_robin;
mod splits;
mod surw;
mod tapct;
mod urw;

pub use dfs::Dfs;
pub use fair::Fair;
pub use irs::Irs;
pub use pct::Pct;
pub use pctcp::Pctcp;
pub use period::Period;
pub use portfolio::Portfolio;
pub use pos::Pos;
pub use random::Random;
pub use round_robin::RoundRobin;
pub use surw::Surw;
pub use tapct::TaPct;
pub use urw::Urw;
