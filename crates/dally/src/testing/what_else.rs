//! Suggestions after a run without a bug.

use dally_search::{Ended, Report, StrategyKind};

/// What may show a bug that this run has not shown; `None` if nothing can. It goes by what was run, by a bundled
/// strategy if one is given, and not by the test's settings, which the environment may have overridden.
pub fn what_else(report: &Report, strategy: Option<StrategyKind>) -> Option<String> {
    let more = report.schedules.saturating_mul(10);
    if report.is_exhausted() {
        return None;
    }
    if report.states.is_some() {
        return Some("a higher bound, more memory or less that is sealed may show it".to_owned());
    }
    if report.ended == Ended::Exhausted {
        return Some("longer schedules may show it: DALLY_MAX_STEPS".to_owned());
    }
    Some(if strategy.is_some_and(|strategy| strategy.is_portfolio()) {
        format!(
            "more schedules with another seed may show it, or a strategy that the portfolio does \
             not have: DALLY_SCHEDULES={more} DALLY_SEED={}, DALLY_STRATEGY=pct:10; a search of \
             states tells whether there is anything to be found: DALLY_SEARCH=ses",
            report.seed.wrapping_add(1),
        )
    } else {
        format!(
            "more schedules or the portfolio of strategies may show it: DALLY_SCHEDULES={more} \
             DALLY_STRATEGY=portfolio"
        )
    })
}

#[cfg(test)]
mod tests {
    use dally_search::strata::States;

    use super::*;

    #[test]
    fn a_run_without_the_expected_failure_is_told_what_else_may_show_it() {
        let by = |kind: &str| {
            let mut report = Report::new("test", "await points");
            report.schedules = 1_000;
            (report, kind.parse::<StrategyKind>().ok())
        };
        let said = |exhausted, (mut report, strategy): (Report, Option<StrategyKind>)| {
            report.ended = if exhausted { Ended::Exhausted } else { Ended::Schedules };
            what_else(&report, strategy).unwrap_or_else(|| "nothing".into())
        };
        insta::assert_snapshot!(said(false, by("portfolio")), @"more schedules with another seed may show it, or a strategy that the portfolio does not have: DALLY_SCHEDULES=10000 DALLY_SEED=1, DALLY_STRATEGY=pct:10; a search of states tells whether there is anything to be found: DALLY_SEARCH=ses");
        insta::assert_snapshot!(said(false, by("random")), @"more schedules or the portfolio of strategies may show it: DALLY_SCHEDULES=10000 DALLY_STRATEGY=portfolio");
        assert_eq!(said(false, by("a strategy of one's own")), said(false, by("random")));
        let mut searched = by("portfolio");
        searched.0.states = Some(States::default());
        insta::assert_snapshot!(said(false, searched), @"a higher bound, more memory or less that is sealed may show it");
        assert_eq!(said(true, by("dfs")), "nothing");
        let mut cut = by("dfs");
        cut.0.cut = 1;
        insta::assert_snapshot!(said(true, cut), @"longer schedules may show it: DALLY_MAX_STEPS");
    }
}
