//! Runs a program until it shows a bug, the same way every time.

use std::sync::Arc;

use dally::contract::{Bug, Program};
use dally::search::{self, Options, Report, StrategyKind};

/// What is spent on looking for a bug.
#[derive(Clone, Copy)]
pub struct Hunt {
    /// The strategy as the command line names it.
    pub strategy: &'static str,
    /// How many schedules.
    pub schedules: u64,
    /// How many steps each of them may have.
    pub max_steps: usize,
}

impl Hunt {
    /// The first bug of `program`; a panic if there is none.
    #[track_caller]
    pub fn catch(self, program: impl Program + 'static) -> Bug {
        let report = self.run(program, false);
        let found = report.findings.into_iter().next();
        found.unwrap_or_else(|| panic!("no bug in {} schedules", report.schedules)).bug
    }

    /// The bugs of `program` in all schedules, one for each cause.
    pub fn catch_all(self, program: impl Program + 'static) -> Vec<Bug> {
        self.run(program, true).findings.into_iter().map(|finding| finding.bug).collect()
    }

    /// Runs all schedules of `program`, none of which may show a bug or reach the step bound.
    #[track_caller]
    pub fn pass(self, program: impl Program + 'static) {
        let report = self.run(program, false);
        if let Some(finding) = report.findings.first() {
            panic!("schedule {}: {}", finding.found_at, finding.bug);
        }
        assert_eq!(report.schedules, self.schedules);
        assert_eq!(report.cut, 0, "some schedules did not end in {} steps", self.max_steps);
    }

    fn run(self, program: impl Program + 'static, keep_going: bool) -> Report {
        let strategy: StrategyKind = self.strategy.parse().expect("a bundled strategy");
        let options = Options {
            strategy: strategy.build(0, self.max_steps),
            schedules: self.schedules,
            max_steps: self.max_steps,
            keep_going,
            shrink: false,
            ..Options::default()
        };
        search::run(Arc::new(program), options, Arc::new(()))
    }
}
