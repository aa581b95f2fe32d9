//! How the key points of workers are split over serial periods, for [`Period`](super::Period).

use dally_core::fingerprint;
use fastrand::Rng;

/// The splits of key points over `depth + 1` periods, without those that fewer periods give too.
#[derive(Clone, Debug)]
pub(super) struct Splits {
    counts: Vec<u64>,
    periods: usize,
    /// How many ways each worker has to split its own, and all together; `None` if these are too
    /// many to be numbered: then splits are drawn at random.
    ways: Option<(Vec<u128>, u128)>,
    /// Numbers are multiplied by `stride` and shifted, which scatters the splits.
    next: u128,
    stride: u128,
    shift: u64,
}

/// The most splits in a row that are passed over because they are not tight.
const MOST_TRIED: u32 = 100_000;

impl Splits {
    /// The splits at this depth, in an order that begins where the seed says.
    pub(super) fn new(counts: &[u64], depth: usize, seed: u64) -> Splits {
        let each: Option<Vec<u128>> =
            counts.iter().map(|&count| binomial(count + depth as u64, depth as u64)).collect();
        let all = each
            .as_ref()
            .and_then(|each| each.iter().try_fold(1u128, |all, &ways| all.checked_mul(ways)));
        // A descent needs a step of another worker than the one before.
        let (total, most) = (counts.iter().sum::<u64>(), counts.iter().max().copied());
        let ways = if depth as u64 > total - most.unwrap_or(0) {
            Some((Vec::new(), 0))
        } else {
            // Products of two numbers below this stay within 128 bits.
            each.zip(all).filter(|(_, all)| *all <= 1 << 63)
        };
        let stride = ways.as_ref().map_or(1, |(_, all)| scattering(*all));
        let shift = fingerprint::mix(seed, depth as u64);
        Splits { counts: counts.to_vec(), periods: depth + 1, ways, next: 0, stride, shift }
    }

    /// Writes the next split, worker by worker and period by period; `false` if there is none.
    pub(super) fn next(&mut self, split: &mut Vec<u64>) -> bool {
        for tried in 0.. {
            split.clear();
            match &self.ways {
                Some((_, all)) if self.next >= *all => return false,
                Some((each, all)) => {
                    let mut number = (self.next * self.stride + u128::from(self.shift)) % all;
                    for (&count, &ways) in self.counts.iter().zip(each) {
                        unrank(count, self.periods, number % ways, split);
                        number /= ways;
                    }
                }
                None => {
                    let mut rng = Rng::with_seed(fingerprint::mix(self.shift, self.next as u64));
                    for &count in &self.counts {
                        draw(count, self.periods, &mut rng, split);
                    }
                }
            }
            self.next += 1;
            // A split that is not tight does no harm, and finding a tight one may take long.
            if is_tight(split, self.periods) || self.ways.is_none() || tried >= MOST_TRIED {
                return true;
            }
        }
        false
    }
}

/// Whether the first worker of each period comes before the last one of the period before.
fn is_tight(split: &[u64], periods: usize) -> bool {
    let workers = split.len() / periods;
    let active = |period: usize, worker: &usize| split[worker * periods + period] > 0;
    let first = |period| (0..workers).find(|worker| active(period, worker));
    let last = |period| (0..workers).rev().find(|worker| active(period, worker));
    (1..periods).all(|period| match (last(period - 1), first(period)) {
        (Some(last), Some(first)) => first < last,
        _ => false,
    })
}

/// Appends the `number`-th way to write `count` as a sum of `parts` numbers.
fn unrank(count: u64, parts: usize, mut number: u128, split: &mut Vec<u64>) {
    let mut left = count;
    for after in (1..parts as u64).rev() {
        // The number of ways that have this part and split the rest among those after.
        let mut part = 0;
        loop {
            let ways = binomial(left - part + after - 1, after - 1).unwrap_or(u128::MAX);
            if number < ways || part == left {
                break;
            }
            number -= ways;
            part += 1;
        }
        split.push(part);
        left -= part;
    }
    split.push(left);
}

fn draw(count: u64, parts: usize, rng: &mut Rng, split: &mut Vec<u64>) {
    let start = split.len();
    split.extend((1..parts).map(|_| rng.u64(..=count)));
    split[start..].sort_unstable();
    split.push(count);
    for at in (start + 1..split.len()).rev() {
        split[at] -= split[at - 1];
    }
}

fn binomial(n: u64, k: u64) -> Option<u128> {
    let mut result: u128 = 1;
    for i in 0..u128::from(k) {
        // Exact: the product of `i + 1` consecutive numbers.
        result = result.checked_mul(u128::from(n) - i)? / (i + 1);
    }
    Some(result)
}

/// A number near the golden section of `all` that has no divisor in common with it.
fn scattering(all: u128) -> u128 {
    let mut stride = (all as f64 * 0.618_033_988_749_895) as u128;
    stride = stride.clamp(1, all.max(1));
    while gcd(stride, all) > 1 {
        stride += 1;
    }
    stride
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// All interleavings of workers with so many steps each, as words.
    fn words(counts: &mut [u64], word: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
        if counts.iter().all(|&count| count == 0) {
            all.push(word.clone());
        }
        for worker in 0..counts.len() {
            if counts[worker] > 0 {
                counts[worker] -= 1;
                word.push(worker);
                words(counts, word, all);
                word.pop();
                counts[worker] += 1;
            }
        }
    }

    fn descents(word: &[usize]) -> usize {
        word.windows(2).filter(|pair| pair[1] < pair[0]).count()
    }

    fn word(split: &[u64], periods: usize) -> Vec<usize> {
        let workers = split.len() / periods;
        let share = |at: usize| {
            let (period, worker) = (at / workers, at % workers);
            std::iter::repeat_n(worker, split[worker * periods + period] as usize)
        };
        (0..periods * workers).flat_map(share).collect()
    }

    #[test]
    fn each_depth_has_exactly_the_interleavings_with_so_many_descents() {
        for counts in [vec![3, 3], vec![1, 4], vec![2, 2, 2], vec![1, 2, 3], vec![1, 1, 1, 1]] {
            let mut all = Vec::new();
            words(&mut counts.clone(), &mut Vec::new(), &mut all);
            for depth in 1..8 {
                let mut splits = Splits::new(&counts, depth, depth as u64);
                let mut split = Vec::new();
                let mut found = BTreeSet::new();
                while splits.next(&mut split) {
                    assert!(found.insert(word(&split, depth + 1)), "{counts:?}: {split:?} again");
                }
                let expected: BTreeSet<_> =
                    all.iter().filter(|word| descents(word) == depth).cloned().collect();
                assert_eq!(found, expected, "{counts:?} at depth {depth}");
            }
        }
    }

    #[test]
    fn a_drawn_split_has_all_key_points() {
        let mut split = Vec::new();
        draw(9, 4, &mut Rng::with_seed(1), &mut split);
        assert_eq!((split.len(), split.iter().sum::<u64>()), (4, 9));
    }

    #[test]
    fn more_splits_than_can_be_numbered_are_drawn() {
        let mut splits = Splits::new(&[10_000; 40], 3, 0);
        assert!(splits.ways.is_none());
        let mut split = Vec::new();
        assert!(splits.next(&mut split));
        assert_eq!(split.len(), 160);
    }
}
