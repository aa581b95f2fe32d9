//! The bundled explorers, each of which a user could write: see `Explorer` for the contract.

/// `Clone` that reuses memory: a search copies the explorer for each transition.
macro_rules! clone_into_place {
    ($explorer:ident { $($field:ident),* }) => {
        impl Clone for $explorer {
            fn clone(&self) -> $explorer {
                $explorer { $($field: self.$field.clone()),* }
            }

            fn clone_from(&mut self, other: &$explorer) {
                $(self.$field.clone_from(&other.$field);)*
            }
        }
    };
}

mod kind;
mod probabilistic;
mod random_order;
mod round_robin;
mod run_to_completion;
#[cfg(test)]
mod tests;

pub use kind::{Bundled, ExplorerKind, IntoExplorer};
pub use probabilistic::ProbabilisticRoundRobin;
pub use random_order::RandomOrder;
pub use round_robin::RoundRobin;
pub use run_to_completion::RunToCompletion;
