use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dally::contract::words::{grouped, visible};
use dally::report::tell;
use dally_compare::{
    Case, Compared, Plan, TIMES, TRIALS, charts, curves, summarise, table,
};

use crate::args::CompareArgs;
use crate::error::CliError;
use crate::interrupt::stop_on_interrupt;
use crate::list::look_up;
use crate::{CLEAN, INTERRUPTED, print, progress, save};

/// Stands for the correct version after the name of a protocol.
const CORRECT: &str = "correct";

/// Compares strategies and prints the result; answers the exit code.
pub fn compare(arguments: &CompareArgs) -> Result<u8, CliError> {
    let plan = plan(arguments)?;
    let stop = stop_on_interrupt()?;
    let template = "{bar:30} {human_pos}/{human_len} runs, {msg} {elapsed}";
    let bar = progress::styled(Some(plan.size() as u64), template);
    bar.enable_steady_tick(Duration::from_millis(200));
    let watch = |progress: &dally_compare::Progress<'_>| {
        bar.set_position(progress.done as u64);
        let message = format!("{} found a bug; {}", progress.found, progress.last);
        bar.set_message(visible(&message).into_owned());
    };
    let out = arguments.out.as_path();
    let compared = dally_compare::compare(&plan, Some(out), &watch, &stop);
    bar.finish_and_clear();
    let compared = compared?;
    let mut files = charts::survivals(&plan, &compared.trials);
    let mut figures = Vec::new();
    if arguments.coverage > 0 && compared.complete {
        let curves = curves(&plan, arguments.coverage, &stop);
        if !stop.load(Ordering::Relaxed) {
            files.extend(charts::coverages(&plan, &curves));
            files.extend(charts::actions(&plan, &curves));
            figures.push(("coverage.csv", charts::coverage_csv(&plan, &curves)));
            figures.push(("actions.csv", charts::actions_csv(&plan, &curves)));
        }
    }
    let summaries = summarise(&plan, &compared.trials);
    figures.push(("table.txt", table::text(&summaries, table::Times::Left)));
    let drawn = files.len();
    let files = files.iter().map(|(name, chart)| (name.as_str(), chart.to_svg()));
    for (name, text) in figures.into_iter().chain(files) {
        save(out, name, &text)?;
    }
    print(&(table::text(&summaries, table::Times::Shown) + "\n" + &told(&plan, &compared)));
    print(&format!("  written    {}\n", written(out, drawn)));
    if compared.complete {
        return Ok(CLEAN);
    }
    tell::err(&format!(
        "interrupted after {} of {} runs; the same command goes on from there\n",
        compared.trials.len(),
        plan.size(),
    ));
    Ok(INTERRUPTED)
}

fn plan(arguments: &CompareArgs) -> Result<Plan, CliError> {
    let mut cases: Vec<Case> = Vec::new();
    for name in &arguments.names {
        cases.extend(named(name)?);
    }
    let contestants = arguments.strategies.clone();
    once("program", cases.iter().map(Case::to_string))?;
    once("strategy", contestants.iter().map(|contestant| contestant.name.clone()))?;
    let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    Ok(Plan {
        cases,
        contestants,
        runs: arguments.runs,
        schedules: arguments.schedules,
        time: arguments.time,
        seed: arguments.seed,
        threads: arguments.threads.unwrap_or_else(cores) as usize,
        ..Plan::default()
    })
}

/// The programs that a name stands for.
fn named(name: &str) -> Result<Vec<Case>, CliError> {
    let (protocol, bug) = match name.split_once(':') {
        None => (look_up(name, None)?.0, None),
        Some((protocol, CORRECT)) => {
            return Ok(vec![Case::bundled(look_up(protocol, None)?.0, None)]);
        }
        Some((protocol, bug)) => look_up(protocol, Some(bug))?,
    };
    let bugs: Vec<_> = match bug {
        Some(bug) => vec![Some(bug)],
        None if protocol.bugs.is_empty() => vec![None],
        None => protocol.bugs.iter().map(|planted| Some(planted.name)).collect(),
    };
    Ok(bugs.into_iter().map(|bug| Case::bundled(protocol, bug)).collect())
}

/// Checks that each name is given once: two runs with the same seed are not independent.
fn once(what: &'static str, names: impl Iterator<Item = String>) -> Result<(), CliError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name.clone()) {
            return Err(CliError::Twice { what, name });
        }
    }
    Ok(())
}

fn told(plan: &Plan, compared: &Compared) -> String {
    let mut steps: Vec<(&str, Vec<&str>)> = Vec::new();
    for case in &plan.cases {
        match steps.iter_mut().find(|(granularity, _)| *granularity == case.granularity) {
            Some((_, programs)) if programs.contains(&case.program.as_str()) => {}
            Some((_, programs)) => programs.push(&case.program),
            None => steps.push((case.granularity, vec![&case.program])),
        }
    }
    let steps: Vec<String> = steps
        .iter()
        .map(|(granularity, programs)| format!("{granularity} ({})", programs.join(", ")))
        .collect();
    let known = match compared.resumed {
        0 => String::new(),
        known => format!(", {known} of them from before"),
    };
    let time = plan.time.map_or_else(String::new, |time| format!(" and {time:?}"));
    let mut out = String::new();
    for line in table::LEGEND.lines() {
        out += &format!("  {line}\n");
    }
    out += &format!(
        "\n  runs       {}{known}, each up to its first bug, {} schedules{time}; seed {}\n  \
         steps      {}\n",
        grouped(compared.trials.len() as u64),
        grouped(plan.schedules),
        plan.seed,
        steps.join("; "),
    );
    out
}

fn written(out: &Path, charts: usize) -> String {
    let out = out.display();
    let charts = if charts == 1 { "1 chart".to_owned() } else { format!("{charts} charts") };
    format!("{TRIALS}, {TIMES}, table.txt and {charts} in {out}")
}
