//! A comparison as a table for people.

use dally::contract::words::grouped;

use crate::summary::Summary;

/// Whether a table has times in it, which differ from run to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Times {
    /// It has.
    Shown,
    /// It depends on the plan alone.
    Left,
}

/// One line for each program and strategy, and a few lines that say what the columns are.
pub fn text(summaries: &[Summary], times: Times) -> String {
    let mut heads = vec![
        "program",
        "strategy",
        "found",
        "95%",
        "median schedules",
        "mean",
        "median steps",
        "mean",
        "observations",
    ];
    if times == Times::Shown {
        heads.push("us/schedule");
    }
    let mut rows = vec![heads.iter().map(|&head| head.to_owned()).collect::<Vec<_>>()];
    let mut before = None;
    for summary in summaries {
        let case = (&summary.program, &summary.bug);
        let name = match before == Some(case) {
            true => String::new(),
            false if summary.bug.is_empty() => summary.program.clone(),
            false => format!("{}:{}", summary.program, summary.bug),
        };
        before = Some(case);
        let (low, high) = summary.interval;
        let mut row = vec![
            name,
            summary.strategy.clone(),
            format!("{}/{}", summary.found, summary.runs),
            format!("{:.0}-{:.0}%", 100.0 * low, 100.0 * high),
            summary
                .median_schedules
                .map_or_else(|| format!(">{}", grouped(summary.longest)), grouped),
            rounded(summary.mean_schedules),
            summary.median_steps.map_or_else(|| "-".into(), grouped),
            rounded(summary.mean_steps),
            rounded(Some(summary.observations)),
        ];
        if times == Times::Shown {
            let each = summary.seconds.map(|all| 1e6 * all / summary.schedules.max(1) as f64);
            row.push(each.map_or_else(|| "-".into(), |each| format!("{each:.1}")));
        }
        rows.push(row);
    }
    aligned(&rows, 2)
}

/// What the columns of [`text`] are.
pub const LEGEND: &str = "\
found         runs that found a bug, each within its budget
95%           Wilson's interval for the chance that a run finds it
median        within which half of all runs find it, by the survival curve; > if it ends above
mean          of all runs together for each bug found, runs that found nothing included
observations  distinct ones of a run on average; runs that find a bug soon see less
us/schedule   microseconds for each schedule, with as many runs at a time as were asked for
";

/// Rows whose first so many columns are flush left and the others flush right.
pub fn aligned(rows: &[Vec<String>], names: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let space = " ".repeat(width - cell.chars().count());
            line += if column == 0 { "" } else { "  " };
            line +=
                &if column < names { format!("{cell}{space}") } else { format!("{space}{cell}") };
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

fn rounded(number: Option<f64>) -> String {
    number.map_or_else(|| "-".into(), |number| grouped(number.round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_names_each_program_once_and_admits_what_was_not_found() {
        let found = Summary {
            program: "paxos".into(),
            bug: "smallest-proposal".into(),
            strategy: "pct:30".into(),
            runs: 20,
            found: 19,
            interval: crate::statistics::wilson(19, 20),
            longest: 10_000,
            median_schedules: Some(1_812),
            mean_schedules: Some(2_345.6),
            median_steps: Some(150_000),
            mean_steps: Some(200_000.4),
            observations: 8_000.5,
            schedules: 44_566,
            steps: 3_800_007,
            seconds: Some(2.0),
        };
        let lost = Summary {
            strategy: "pct:3".into(),
            found: 0,
            interval: crate::statistics::wilson(0, 20),
            median_schedules: None,
            mean_schedules: None,
            median_steps: None,
            mean_steps: None,
            seconds: None,
            ..found.clone()
        };
        insta::assert_snapshot!(text(&[found.clone(), lost.clone()], Times::Shown), @r#"
        program                  strategy  found     95%  median schedules   mean  median steps     mean  observations  us/schedule
        paxos:smallest-proposal  pct:30    19/20  76-99%             1,812  2,346       150,000  200,000         8,001         44.9
                                 pct:3      0/20   0-16%           >10,000      -             -        -         8,001            -
    "#);
        insta::assert_snapshot!(text(&[lost, found], Times::Left), @r#"
        program                  strategy  found     95%  median schedules   mean  median steps     mean  observations
        paxos:smallest-proposal  pct:3      0/20   0-16%           >10,000      -             -        -         8,001
                                 pct:30    19/20  76-99%             1,812  2,346       150,000  200,000         8,001
    "#);
    }
}
