//! What a few runs allow to say.

pub use dally::report::survival::{Effort, Fall, survival};

/// Wilson's score interval for a share of which `found` of `all` were seen, at 95%.
///
/// It is never empty and never leaves the range from 0 to 1, however few runs there were and
/// however lopsided they came out (Wilson, "Probable inference, the law of succession, and
/// statistical inference", 1927).
///
/// ```
/// let (low, high) = dally_compare::statistics::wilson(0, 10);
/// assert_eq!(low, 0.0);
/// assert!((high - 0.2775).abs() < 1e-4); // nothing in ten runs: still up to 28% in the long run
/// ```
pub fn wilson(found: u64, all: u64) -> (f64, f64) {
    if all == 0 {
        return (0.0, 1.0);
    }
    let (n, share, z) = (all as f64, found as f64 / all as f64, Z);
    let middle = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    // What rounding leaves of an exact 0 or 1 would be printed.
    let low = if found == 0 { 0.0 } else { (middle - spread) / scale };
    let high = if found == all { 1.0 } else { (middle + spread) / scale };
    (low, high)
}

/// The 97.5% quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// The least effort within which half of all runs find the bug: where [`survival`] falls to one
/// half, so that table and chart say the same; nothing if it does not fall so far.
///
/// Where all runs have the same budget, a run that found nothing counts as longer than any other.
/// Where time ended it earlier, it counts for as long as it went on.
pub fn median(efforts: &[Effort]) -> Option<u64> {
    // Products of fractions may miss an exact half by a little.
    let half = 0.5 + 1e-9;
    survival(efforts).into_iter().find(|fall| fall.share <= half).map(|fall| fall.spent)
}

/// The effort of all runs together for each bug found: what a bug costs on average, if every
/// schedule is as likely to show it as the next (then it is the maximum-likelihood estimate, and
/// runs that found nothing pull it up as they should). Nothing if no run found it.
pub fn mean(efforts: &[Effort]) -> Option<f64> {
    let found = efforts.iter().filter(|effort| effort.found).count();
    let spent: u64 = efforts.iter().map(|effort| effort.spent).sum();
    (found > 0).then(|| spent as f64 / found as f64)
}

/// The geometric mean of those that are not zero, and how many they are, as Table 2 of Mukherjee et
/// al., "Learning-Based Controlled Concurrency Testing" has it.
pub fn geometric_mean(counts: &[u64]) -> Option<(f64, usize)> {
    let logs: Vec<f64> =
        counts.iter().filter(|&&count| count > 0).map(|&count| (count as f64).ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    (!logs.is_empty()).then(|| (mean.exp(), logs.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: u64, all: u64, expected: (f64, f64)) {
        let (low, high) = wilson(found, all);
        let near = |a: f64, b: f64| (a - b).abs() < 5e-5;
        assert!(near(low, expected.0) && near(high, expected.1), "{found}/{all}: {low} {high}");
    }

    /// Values from Newcombe, "Two-sided confidence intervals for the single proportion",
    /// Statistics in Medicine 17 (1998), table I, method 3, and its mirror image.
    #[test]
    fn wilson_gives_the_intervals_that_were_published() {
        close(81, 263, (0.2553, 0.3662));
        close(15, 148, (0.0624, 0.1605));
        close(0, 20, (0.0, 0.1611));
        close(1, 29, (0.0061, 0.1718));
        close(20, 20, (0.8389, 1.0));
        close(28, 29, (0.8282, 0.9939));
    }

    #[test]
    fn wilson_of_no_runs_says_nothing() {
        assert_eq!(wilson(0, 0), (0.0, 1.0));
    }

    fn efforts(found: &[u64], lost: &[u64]) -> Vec<Effort> {
        let found = found.iter().map(|&spent| Effort { spent, found: true });
        found.chain(lost.iter().map(|&spent| Effort { spent, found: false })).collect()
    }

    #[test]
    fn the_median_counts_runs_that_found_nothing_as_the_longest() {
        assert_eq!(median(&efforts(&[30, 10, 20], &[])), Some(20));
        assert_eq!(median(&efforts(&[30, 10, 20], &[100])), Some(20));
        assert_eq!(median(&efforts(&[30, 10, 20], &[100; 2])), Some(30));
        assert_eq!(median(&efforts(&[30, 10, 20], &[100; 3])), Some(30));
        assert_eq!(median(&efforts(&[30, 10, 20], &[100; 4])), None);
        assert_eq!(median(&efforts(&[], &[100])), None);
        assert_eq!(median(&[]), None);
    }

    /// Kaplan and Meier's estimator with runs that time has cut off: after two of four have left
    /// the ranks at 5, the first bug is found by one of two that are left.
    #[test]
    fn the_median_takes_runs_that_were_cut_off_early_out_of_the_ranks() {
        assert_eq!(median(&efforts(&[50, 80], &[5, 5])), Some(50));
        assert_eq!(median(&efforts(&[50], &[5, 60, 60])), None);
    }

    #[test]
    fn the_median_is_where_the_survival_curve_falls_to_one_half() {
        for runs in 1..40u64 {
            for lost in 0..=runs {
                let found: Vec<u64> = (1..=runs - lost).collect();
                let median = median(&efforts(&found, &vec![100; lost as usize]));
                // Without runs cut off early, it is the run in the middle.
                let middle = runs.div_ceil(2);
                assert_eq!(median, (middle <= runs - lost).then_some(middle), "{lost} of {runs}");
            }
        }
    }

    #[test]
    fn the_mean_is_all_effort_by_bugs_found() {
        assert_eq!(mean(&efforts(&[10, 20], &[])), Some(15.0));
        assert_eq!(mean(&efforts(&[10, 20], &[100])), Some(65.0));
        assert_eq!(mean(&efforts(&[], &[100])), None);
    }

    #[test]
    fn the_geometric_mean_leaves_zeros_out_and_says_so() {
        let (mean, counted) = geometric_mean(&[100, 0, 25]).unwrap();
        assert!((mean - 50.0).abs() < 1e-9);
        assert_eq!(counted, 2);
        assert_eq!(geometric_mean(&[0, 0]), None);
    }
}
