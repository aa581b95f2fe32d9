//! Strategies for comparisons: the baselines of papers, and variants of everyday strategies.
//!
//! They are chosen by name like all others, and `dally compare` runs them side by side. No member
//! of the [`Portfolio`](crate::sampling::Portfolio) is among them.

mod bonus_max;
mod greedy;
mod idb;
mod irs;
mod period;
mod splits;
mod tapct;
mod urw;

pub use bonus_max::BonusMax;
pub use greedy::Greedy;
pub use idb::Idb;
pub use irs::Irs;
pub use period::Period;
pub use tapct::TaPct;
pub use urw::Urw;
