//! Which combinations of values a parametric test is run with: all of them, or a selection in
//! which every combination of any `t` parameters occurs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The greatest number of combinations.
pub(crate) const COMBINATIONS: usize = 1_000_000;

/// The greatest number of tests made of one.
pub(crate) const TESTS: usize = 10_000;

/// The greatest number of parts of combinations that the choice of the next one looks at.
const WORK: usize = 10_000_000;

/// All combinations of indices below `sizes`, the first changing fastest; `None` if there are more
/// than [`COMBINATIONS`].
pub(crate) fn combinations(sizes: &[usize]) -> Option<impl Iterator<Item = Vec<usize>>> {
    let product = sizes.iter().try_fold(1_usize, |product, &size| {
        product.checked_mul(size).filter(|product| *product <= COMBINATIONS)
    })?;
    Some((0..product).map(|number| digits(number, sizes)))
}

/// With `wise`, a subset of these combinations in which all values of any `wise` parameters occur
/// together that do so in the whole, chosen greedily: always the first of those that cover most of
/// what is missing. `None` if it is larger than [`TESTS`].
pub(crate) fn select(
    sizes: &[usize],
    wise: Option<usize>,
    all: Vec<Vec<usize>>,
) -> Option<Vec<Vec<usize>>> {
    let chosen = match wise {
        Some(wise) => cover(sizes, wise, &all)?.into_iter().map(|at| all[at].clone()).collect(),
        None => all,
    };
    (chosen.len() <= TESTS).then_some(chosen)
}

fn digits(mut number: usize, sizes: &[usize]) -> Vec<usize> {
    let mut digit = |size: &usize| {
        let digit = number % size;
        number /= size;
        digit
    };
    sizes.iter().map(&mut digit).collect()
}

/// The indices of combinations that cover all parts of the given ones, ascending.
fn cover(sizes: &[usize], wise: usize, all: &[Vec<usize>]) -> Option<Vec<usize>> {
    // A parameter with one value is covered by every combination.
    let varying: Vec<usize> = (0..sizes.len()).filter(|&at| sizes[at] > 1).collect();
    let groups = subsets(&varying, wise.min(varying.len()), WORK / all.len().max(1))?;
    let mut offsets = Vec::with_capacity(groups.len());
    let mut total = 0_usize;
    for group in &groups {
        offsets.push(total);
        total += group.iter().map(|&at| sizes[at]).product::<usize>();
    }
    // The index in `covered` for each part of a combination.
    let parts = |combination: &[usize]| -> Vec<usize> {
        let place = |(group, offset): (&Vec<usize>, &usize)| {
            offset + group.iter().fold(0, |place, &at| place * sizes[at] + combination[at])
        };
        groups.iter().zip(&offsets).map(place).collect()
    };
    let mut covered = vec![false; total];
    // What a combination adds only shrinks as others are chosen, so the first one in the queue whose
    // number is up to date is the best.
    let mut queue: BinaryHeap<(usize, Reverse<usize>)> =
        (0..all.len()).map(|at| (groups.len(), Reverse(at))).collect();
    let mut chosen = Vec::new();
    while let Some((claimed, Reverse(at))) = queue.pop() {
        let parts = parts(&all[at]);
        let adds = parts.iter().filter(|&&part| !covered[part]).count();
        if adds == 0 {
            continue;
        }
        if adds < claimed {
            queue.push((adds, Reverse(at)));
            continue;
        }
        parts.into_iter().for_each(|part| covered[part] = true);
        chosen.push(at);
    }
    // If no parameter varies, there is one combination without parts to cover.
    if groups.iter().all(Vec::is_empty) && !all.is_empty() && chosen.is_empty() {
        chosen.push(0);
    }
    chosen.sort_unstable();
    Some(chosen)
}

/// All ways to take `size` of these, in order; `None` if there are more than `limit`.
fn subsets(of: &[usize], size: usize, limit: usize) -> Option<Vec<Vec<usize>>> {
    let mut found = vec![Vec::new()];
    for _ in 0..size {
        let mut longer = Vec::new();
        for subset in &found {
            let rest = of.iter().filter(|&&at| subset.last().is_none_or(|&last| last < at));
            longer.extend(rest.map(|&at| [&**subset, &[at]].concat()));
            if longer.len() > limit {
                return None;
            }
        }
        found = longer;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{combinations, select};

    fn all(sizes: &[usize], wise: Option<usize>) -> Vec<Vec<usize>> {
        select(sizes, wise, combinations(sizes).unwrap().collect()).unwrap()
    }

    #[test]
    fn without_strength_all_combinations_are_taken_the_first_parameter_fastest() {
        assert_eq!(all(&[2, 2], None), [[0, 0], [1, 0], [0, 1], [1, 1]]);
        assert_eq!(all(&[], None), [[0_usize; 0]]);
    }

    #[test]
    fn pairwise_needs_four_of_eight_combinations_of_three_truth_values() {
        assert_eq!(all(&[2, 2, 2], Some(2)), [[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]]);
    }

    #[test]
    fn parameters_with_one_value_need_nothing() {
        assert_eq!(all(&[1, 1, 1], Some(2)), [[0, 0, 0]]);
        assert_eq!(all(&[1, 3, 1], Some(2)).len(), 3);
    }

    #[test]
    fn too_many_combinations_are_refused() {
        assert!(combinations(&[10; 30]).is_none());
        let tests = combinations(&[200, 100]).unwrap().collect();
        assert_eq!(select(&[200, 100], None, tests), None);
    }

    /// Every way to fix `wise` of the parameters, as (parameter, value) pairs.
    fn parts(combination: &[usize], wise: usize) -> BTreeSet<Vec<(usize, usize)>> {
        let pairs: Vec<(usize, usize)> = combination.iter().copied().enumerate().collect();
        let ways = 0..1_u32 << pairs.len();
        ways.filter(|way| way.count_ones() as usize == wise)
            .map(|way| pairs.iter().filter(|(at, _)| way >> at & 1 == 1).copied().collect())
            .collect()
    }

    proptest! {
        #[test]
        fn every_allowed_combination_of_so_many_parameters_is_covered(
            sizes in prop::collection::vec(1_usize..4, 1..5),
            wise in 1_usize..5,
            forbidden in any::<u64>(),
        ) {
            let wise = wise.min(sizes.len());
            let hash = |it: &[usize]| it.iter().fold(7_u32, |sum, &at| sum * 5 + at as u32) % 64;
            let allowed = combinations(&sizes).unwrap().filter(|it| forbidden >> hash(it) & 1 == 1);
            let all: Vec<Vec<usize>> = allowed.collect();
            let chosen = select(&sizes, Some(wise), all.clone()).unwrap();
            let parts_of = |list: &[Vec<usize>]| -> BTreeSet<_> {
                list.iter().flat_map(|combination| parts(combination, wise)).collect()
            };
            prop_assert!(chosen.iter().all(|combination| all.contains(combination)));
            prop_assert_eq!(parts_of(&chosen), parts_of(&all));
            prop_assert!(chosen.len() <= all.len());
        }
    }
}
