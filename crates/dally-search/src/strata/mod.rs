//! Search by strata: delaying explorers, stratified exhaustive search and stratified sampling.

mod explorer;
mod plan;
mod space;

pub use explorer::{Explorer, Stepped};
pub use plan::{CachePolicy, Plan, SearchKind};
