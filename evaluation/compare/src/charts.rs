//! A comparison as charts: survival, coverage and actions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use dally::report::charts::{Chart, Scale, Series, Shape};

use crate::curves::Curve;
use crate::plan::{Case, Plan};
use crate::record::{Trial, field};
use crate::statistics::{Effort, survival};

/// For each program a chart of the share of runs that had not found the bug after so many
/// schedules, with a line for each strategy: the lower the better.
pub fn survivals(plan: &Plan, trials: &[Trial]) -> Vec<(String, Chart)> {
    let chart = |(at_case, case): (usize, &Case)| {
        let series = plan.contestants.iter().enumerate().map(|(at, contestant)| {
            let own = |trial: &&Trial| trial.case == at_case && trial.contestant == at;
            let efforts: Vec<Effort> = trials.iter().filter(own).map(Trial::in_schedules).collect();
            let end = efforts.iter().map(|effort| effort.spent).max().unwrap_or(1);
            let mut points = vec![(1.0, 1.0)];
            let falls = survival(&efforts);
            points.extend(falls.iter().map(|fall| (fall.spent as f64, fall.share)));
            let last = points.last().map_or(1.0, |last| last.1);
            points.push((end as f64, last));
            Series { name: contestant.name.clone(), points, ..Series::default() }
        });
        let chart = Chart {
            title: format!("{case}: runs without a bug"),
            x: "schedules".into(),
            y: "share of runs".into(),
            x_scale: Scale::Logarithmic,
            shape: Shape::Steps,
            series: series.collect(),
        };
        (format!("survival-{}.svg", file_name(case)), chart)
    };
    plan.cases.iter().enumerate().map(chart).collect()
}

/// For each program a chart of the distinct observations after so many schedules, with a line for
/// each strategy (Mukherjee et al., "Learning-Based Controlled Concurrency Testing", Figs. 4 and
/// 11).
pub fn coverages(plan: &Plan, curves: &[Curve]) -> Vec<(String, Chart)> {
    let chart = |(at_case, case): (usize, &Case)| {
        let own = curves.iter().filter(|curve| curve.case == at_case);
        let series = own.map(|curve| Series {
            name: plan.contestants[curve.contestant].name.clone(),
            points: numbers(&curve.coverage),
            ..Series::default()
        });
        let chart = Chart {
            title: format!("{case}: distinct observations"),
            x: "schedules".into(),
            y: "observations".into(),
            x_scale: Scale::Linear,
            shape: Shape::Lines,
            series: series.collect(),
        };
        (format!("coverage-{}.svg", file_name(case)), chart)
    };
    plan.cases.iter().enumerate().map(chart).collect()
}

/// For each program and strategy a chart of how often each action was taken in the schedules of an
/// interval (Mukherjee et al., "Learning-Based Controlled Concurrency Testing", Fig. 5).
pub fn actions(plan: &Plan, curves: &[Curve]) -> Vec<(String, Chart)> {
    let chart = |curve: &Curve| {
        let (case, strategy) = (&plan.cases[curve.case], &plan.contestants[curve.contestant].name);
        let names: BTreeSet<&String> =
            curve.actions.iter().flat_map(|(_, counts)| counts.keys()).collect();
        let series = names.into_iter().map(|name| {
            let count = |counts: &BTreeMap<String, u64>| counts.get(name).copied().unwrap_or(0);
            let points =
                curve.actions.iter().map(|(at, counts)| (*at as f64, count(counts) as f64));
            Series { name: name.clone(), points: points.collect(), ..Series::default() }
        });
        let chart = Chart {
            title: format!("{case} by {strategy}: actions"),
            x: "schedules".into(),
            y: "actions in an interval".into(),
            x_scale: Scale::Linear,
            shape: Shape::Lines,
            series: series.collect(),
        };
        (format!("actions-{}-{}.svg", file_name(case), plain(strategy)), chart)
    };
    curves.iter().map(chart).collect()
}

/// The figures of coverage charts, as a file.
pub fn coverage_csv(plan: &Plan, curves: &[Curve]) -> String {
    let mut out = "program,bug,strategy,schedules,observations\n".to_owned();
    for curve in curves {
        let names = names(plan, curve);
        for (schedules, observations) in &curve.coverage {
            let _ = writeln!(out, "{names},{schedules},{observations}");
        }
    }
    out
}

/// The figures of action charts, as a file.
pub fn actions_csv(plan: &Plan, curves: &[Curve]) -> String {
    let mut out = "program,bug,strategy,schedules,action,count\n".to_owned();
    for curve in curves {
        let names = names(plan, curve);
        for (schedules, counts) in &curve.actions {
            for (action, count) in counts {
                let _ = writeln!(out, "{names},{schedules},{},{count}", field(action));
            }
        }
    }
    out
}

fn names(plan: &Plan, curve: &Curve) -> String {
    let (case, contestant) = (&plan.cases[curve.case], &plan.contestants[curve.contestant]);
    [&case.program, &case.bug, &contestant.name].map(|name| field(name)).join(",")
}

fn numbers(points: &[(u64, u64)]) -> Vec<(f64, f64)> {
    points.iter().map(|&(x, y)| (x as f64, y as f64)).collect()
}

fn file_name(case: &Case) -> String {
    plain(&case.to_string())
}

/// A name that every file system takes.
fn plain(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    text.chars().map(plain).collect()
}
