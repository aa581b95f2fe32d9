//! Runs programs under random schedules.
#![allow(dead_code, reason = "each test uses a part")]

use std::sync::Arc;

use dally_core::report::Report;
use dally_core::{Event, Item};
use dally_search::{Options, StrategyKind};
use dally_tasks::TaskProgram;

/// Runs so many schedules.
pub fn random(program: TaskProgram, schedules: u64) -> Report {
    let strategy = "random".parse::<StrategyKind>().unwrap().build(0, 10_000);
    let options = Options { strategy, schedules, ..Options::default() };
    dally_search::run(Arc::new(program), options, Arc::new(()))
}

/// The first bug and the faults that led to it.
pub fn first_finding(report: &Report) -> String {
    let Some(finding) = report.findings.first() else { return "nothing was found".to_owned() };
    let items = finding.trace.steps.iter().flat_map(|step| &step.items);
    let faults = items.filter_map(|item| match item {
        Item::Event(Event::Faulted { fault }) => Some(format!("\n  {fault}")),
        _ => None,
    });
    format!("{}{}", dally_report::text::bug(&finding.bug), faults.collect::<String>())
}
