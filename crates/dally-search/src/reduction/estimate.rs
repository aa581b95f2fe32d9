//! How many classes there are, as far as can be told before all are explored.
//!
//! Knuth ("Estimating the Efficiency of Backtrack Programs") multiplies the numbers of branches along
//! a way through a tree. Here many ways have been gone: beside each node of the present one are
//! branches whose leaves were counted. A branch that is left is expected to have as many leaves as
//! those explored beside it have on average, and as much more or fewer as they differ by.

use super::engine::Engine;
use super::inputs::InputDriver;
use crate::strata::StateSpace;

/// The leaves below one node so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leaves {
    /// Branches that were explored to their end, their leaves, and the squares of these numbers.
    branches: f64,
    sum: f64,
    squares: f64,
    /// Leaves of the branch under way.
    current: u64,
}

/// An estimate with its standard deviation.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Estimate {
    pub(crate) mean: f64,
    pub(crate) variance: f64,
}

impl Leaves {
    /// So many more leaves were found in the branch under way.
    pub(crate) fn found(&mut self, leaves: u64) {
        self.current += leaves;
    }

    /// The branch under way is explored.
    pub(crate) fn end_branch(&mut self) {
        let leaves = std::mem::take(&mut self.current) as f64;
        if leaves > 0.0 {
            self.branches += 1.0;
            self.sum += leaves;
            self.squares += leaves * leaves;
        }
    }

    /// All leaves so far.
    pub(crate) fn total(&self) -> u64 {
        self.sum as u64 + self.current
    }

    /// The leaves below the node, if the branch under way has those of `current` and `left` branches
    /// have not been begun.
    pub(crate) fn estimate(&self, current: Estimate, left: usize) -> Estimate {
        let known = self.branches + 1.0;
        let sum = self.sum + current.mean;
        let mean = sum / known;
        let squares = self.squares + current.mean * current.mean;
        let between = (squares / known - mean * mean).max(0.0);
        let left = left as f64;
        // The mean of the branches that are left differs from that of the known ones as two means
        // of so many do.
        let variance =
            current.variance * (1.0 + left / known).powi(2) + between * left * (1.0 + left / known);
        Estimate { mean: sum + left * mean, variance }
    }
}

impl<S: StateSpace, D: InputDriver> Engine<S, D> {
    /// How many leaves the tree has, with those that were found.
    pub(super) fn estimate(&self) -> Estimate {
        if self.nodes.len() <= self.depth {
            return Estimate::default();
        }
        let live = self.nodes[self.depth].leaves.total();
        let mut estimate = Estimate { mean: (live as f64).max(1.0), variance: 0.0 };
        for node in self.nodes[..self.depth].iter().rev() {
            estimate = node.leaves.estimate(estimate, node.wakeup.len());
        }
        estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_that_are_left_are_taken_for_as_large_as_those_beside_them() {
        let mut node = Leaves::default();
        for _ in 0..2 {
            node.found(6);
            node.end_branch();
        }
        let current = Estimate { mean: 6.0, variance: 0.0 };
        assert_eq!(node.estimate(current, 3), Estimate { mean: 36.0, variance: 0.0 });
        assert_eq!(node.total(), 12);
        node.found(2);
        node.end_branch();
        let Estimate { mean, variance } = node.estimate(current, 4);
        assert!((mean - 40.0).abs() < 1e-9 && variance > 0.0, "{mean} {variance}");
    }
}
