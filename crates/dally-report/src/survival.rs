//! Who has not found it yet: Kaplan and Meier's curve, with Greenwood's interval.

/// An effort, and whether it was rewarded: `spent` schedules or steps until the bug was `found`,
/// or until they were used up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// How much.
    pub spent: u64,
    /// Whether it was enough.
    pub found: bool,
}

/// Where a curve of survival falls.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fall {
    /// The effort at which it does.
    pub spent: u64,
    /// The share that has found nothing from there on.
    pub share: f64,
    /// The interval of this share at 95%. Where nobody is left there is none.
    pub interval: Option<(f64, f64)>,
}

/// The 97.5% quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// The share of efforts that are not rewarded after so much, as a staircase: the points at which it falls.
/// Efforts that were given up leave the ranks instead of counting as survivors (Kaplan and Meier,
/// "Nonparametric estimation from incomplete observations", 1958).
///
/// The interval is Greenwood's ("The natural duration of cancer", 1926): where `d` of `n` that are left are
/// rewarded at each fall, the variance of the share is its square times the sum of `d / (n (n - d))`. It is for
/// one point of the curve at a time, wants some dozens of efforts, and is cut off at 0 and 1.
///
/// ```
/// use dally_report::survival::{Effort, survival};
///
/// let effort = |spent, found| Effort { spent, found };
/// let falls = survival(&[effort(1, true), effort(2, false), effort(3, true), effort(4, false)]);
/// let shares: Vec<_> = falls.iter().map(|fall| (fall.spent, fall.share)).collect();
/// assert_eq!(shares, [(1, 0.75), (3, 0.375)]);
/// ```
pub fn survival(efforts: &[Effort]) -> Vec<Fall> {
    let mut sorted = efforts.to_vec();
    sorted.sort_by_key(|effort| effort.spent);
    let (mut share, mut variance) = (1.0, 0.0);
    let mut falls: Vec<Fall> = Vec::new();
    let mut left = sorted.len();
    // At the same effort those that found it still count those that did not.
    for together in sorted.chunk_by(|one, other| one.spent == other.spent) {
        let rewarded = together.iter().filter(|effort| effort.found).count();
        if rewarded > 0 {
            let (n, d) = (left as f64, rewarded as f64);
            share *= (n - d) / n;
            variance += d / (n * (n - d));
            let spread = Z * share * f64::sqrt(variance);
            let interval =
                (left > rewarded).then(|| ((share - spread).max(0.0), (share + spread).min(1.0)));
            falls.push(Fall { spent: together[0].spent, share, interval });
        }
        left -= together.len();
    }
    falls
}

#[cfg(test)]
mod tests {
    use super::*;

    fn efforts(found: &[u64], lost: &[u64]) -> Vec<Effort> {
        let found = found.iter().map(|&spent| Effort { spent, found: true });
        found.chain(lost.iter().map(|&spent| Effort { spent, found: false })).collect()
    }

    fn points(efforts: &[Effort]) -> Vec<(u64, f64)> {
        survival(efforts).iter().map(|fall| (fall.spent, fall.share)).collect()
    }

    /// The textbook example: without censoring it is the share of those that are left.
    #[test]
    fn survival_falls_by_one_run_for_each_bug() {
        assert_eq!(points(&efforts(&[1, 2, 2, 4], &[])), [(1, 0.75), (2, 0.25), (4, 0.0)]);
    }

    #[test]
    fn survival_takes_runs_that_were_cut_off_out_of_the_ranks() {
        assert_eq!(points(&efforts(&[1, 3], &[2, 4])), [(1, 0.75), (3, 0.375)]);
        // Who leaves where another finds it was there to find it.
        assert_eq!(points(&efforts(&[2], &[2])), [(2, 0.5)]);
    }

    /// By hand, for efforts of 1 and 3 that found it, and of 2 and 4 that did not. At 1, one of four:
    /// 3/4, with the variance (3/4)^2 * 1/(4*3) = 3/64. At 3, one of two: 3/8, with the variance
    /// (3/8)^2 * (1/12 + 1/2) = 21/256.
    #[test]
    fn greenwoods_interval_is_that_of_an_example_by_hand() {
        let falls = survival(&efforts(&[1, 3], &[2, 4]));
        let near = |(low, high): (f64, f64), share: f64, variance: f64| {
            let spread = 1.959_963_984_540_054 * variance.sqrt();
            let wanted = ((share - spread).max(0.0), (share + spread).min(1.0));
            (low - wanted.0).abs() < 1e-12 && (high - wanted.1).abs() < 1e-12
        };
        assert!(near(falls[0].interval.unwrap(), 0.75, 3.0 / 64.0), "{falls:?}");
        assert!(near(falls[1].interval.unwrap(), 0.375, 21.0 / 256.0), "{falls:?}");
        assert_eq!(survival(&efforts(&[5], &[])), [Fall { spent: 5, share: 0.0, interval: None }]);
    }

    /// The remissions of 21 patients under 6-mercaptopurine (Freireich and others, 1963), with the shares and
    /// standard errors that textbooks print for them.
    #[test]
    fn the_curve_of_a_published_example_is_the_published_curve() {
        let found = [6, 6, 6, 7, 10, 13, 16, 22, 23];
        let lost = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35];
        let published = [
            (6, 0.857, 0.0764),
            (7, 0.807, 0.0869),
            (10, 0.753, 0.0963),
            (13, 0.690, 0.1068),
            (16, 0.627, 0.1141),
            (22, 0.538, 0.1282),
            (23, 0.448, 0.1346),
        ];
        let falls = survival(&efforts(&found, &lost));
        assert_eq!(falls.len(), published.len());
        for (fall, (spent, share, error)) in falls.iter().zip(published) {
            let (low, _) = fall.interval.unwrap();
            assert_eq!(fall.spent, spent);
            assert!((fall.share - share).abs() < 6e-4, "{fall:?}");
            assert!(((fall.share - low) / 1.96 - error).abs() < 2e-4, "{fall:?}");
        }
    }
}
