//! The risk that is left: how likely the next schedule is to fail by a cause that is not known yet.

use std::fmt;

use dally_core::Report;

/// How likely one more schedule of the same strategy is to show a bug of a cause that none has shown.
///
/// It is Good and Turing's estimate: of `n` schedules, the share that alone have shown their cause, since each
/// of these would have been the first of it if it had come last. Where every known cause was shown by several
/// schedules, or no bug by any, the estimate is 0 and says too little. Then there is a bound: if the risk were
/// larger than `1 - 0.05^(1/n)`, about `3 / n`, one of the `n` schedules would have shown such a bug in 19 cases
/// of 20.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Risk {
    /// About this.
    About(f64),
    /// At most this, at 95%.
    AtMost(f64),
}

impl Risk {
    /// The risk that the schedules of this report leave. There is none without schedules, or under a strategy
    /// that does not draw them alike.
    pub fn of(report: &Report) -> Option<Risk> {
        let alike = report.novelty.as_ref().is_some_and(|novelty| novelty.alike);
        if !alike || report.schedules == 0 {
            return None;
        }
        let kept = report.findings.iter().map(|finding| finding.occurrences);
        let counted = report.further_causes.iter().map(|(_, occurrences)| *occurrences);
        let alone = kept.chain(counted).filter(|&occurrences| occurrences == 1).count();
        let n = report.schedules as f64;
        Some(match alone {
            0 => Risk::AtMost(1.0 - 0.05_f64.powf(1.0 / n)),
            alone => Risk::About(alone as f64 / n),
        })
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Risk::About(risk) => write!(f, "{risk:.1e}"),
            Risk::AtMost(risk) => write!(f, "< {risk:.1e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use dally_core::report::Sightings;
    use dally_core::{Bug, Finding, Schedule};

    use super::*;

    /// The report of so many schedules, with bugs that were shown so often.
    fn report(schedules: u64, shown: &[u64]) -> Report {
        let mut report = Report::new("pool", "");
        report.schedules = schedules;
        report.novelty = Some(Sightings::default().novelty(true));
        let found = shown.iter().enumerate().map(|(number, &occurrences)| {
            let bug = Bug::panic(format!("bug {number}"));
            let mut finding = Finding::new(bug, Schedule::default(), 1);
            finding.occurrences = occurrences;
            finding
        });
        report.findings = found.collect();
        report
    }

    #[test]
    fn the_risk_is_the_share_of_schedules_that_alone_have_shown_their_cause() {
        assert_eq!(Risk::of(&report(1_000, &[1, 5, 1])), Some(Risk::About(0.002)));
        assert_eq!(Risk::of(&report(1_000, &[1])).unwrap().to_string(), "1.0e-3");
        let Some(Risk::AtMost(bound)) = Risk::of(&report(1_000, &[7])) else { panic!("a bound") };
        assert!((bound - 3.0 / 1_000.0).abs() < 1e-5, "the rule of three: {bound}");
        assert_eq!(Risk::of(&report(0, &[])), None);
        let mut unlike = report(1_000, &[1]);
        unlike.novelty = Some(Sightings::default().novelty(false));
        assert_eq!(Risk::of(&unlike), None);
    }

    /// Bugs with known chances, drawn many times: what is told is compared with the chance of those that did
    /// not show.
    #[test]
    fn the_estimate_has_the_mean_of_the_true_risk_and_the_bound_holds_in_19_cases_of_20() {
        const SCHEDULES: u64 = 200;
        const RUNS: u32 = 2_000;
        let mut rng = fastrand::Rng::with_seed(4);
        let (mut told, mut truth, mut bounds, mut broken) = (0.0, 0.0, 0, 0);
        for run in 0..RUNS {
            // Some programs have one bug, others many, from likely to hopeless.
            let bugs = if run % 2 == 0 { 1 } else { 20 };
            let chances: Vec<f64> =
                (0..bugs).map(|_| 0.05 * 0.1_f64.powf(3.0 * rng.f64())).collect();
            let mut shown = vec![0; bugs];
            for _ in 0..SCHEDULES {
                let mut at = rng.f64();
                for (bug, chance) in chances.iter().enumerate() {
                    at -= chance;
                    if at < 0.0 {
                        shown[bug] += 1;
                        break;
                    }
                }
            }
            let unseen = chances.iter().zip(&shown).filter(|(_, shown)| **shown == 0);
            let risk: f64 = unseen.map(|(chance, _)| chance).sum();
            let seen: Vec<u64> = shown.into_iter().filter(|&shown| shown > 0).collect();
            truth += risk;
            match Risk::of(&report(SCHEDULES, &seen)).unwrap() {
                Risk::About(estimate) => told += estimate,
                Risk::AtMost(bound) => {
                    bounds += 1;
                    broken += u32::from(risk > bound);
                }
            }
        }
        let ratio = told / truth;
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
        assert!(bounds > 500 && broken * 20 < bounds, "{broken} of {bounds}");
    }
}
