//! The text about the loop of a livelock.

use std::collections::BTreeMap;

use dally_core::words::count;
use dally_core::{Lasso, Schedule, Trace, WorkerId};

use super::causality::Names;
use super::style::Style;
use super::table::listing;

/// The first step of the loop, and the text before it. The table begins after `from` steps, maybe later.
pub(super) fn divider(lasso: &Lasso, from: usize) -> (usize, String) {
    let (start, state) = (lasso.stem + 1, lasso.states.first().map_or("", String::as_str));
    let from =
        if from > lasso.stem { format!("from step {start} on") } else { "from here on".to_owned() };
    (start, format!("{from} again and again, with monitor {} in {state}:", lasso.monitor))
}

/// Which workers could step along the loop and which did, what the monitor did, and that it repeats.
pub(super) fn closing(lasso: &Lasso, trace: &Trace, schedule: &Schedule, style: Style) -> String {
    let taken = trace.steps.get(lasso.stem..).unwrap_or(&[]);
    // By worker: how many steps it takes, and before how many steps it was enabled.
    let mut workers: BTreeMap<WorkerId, (u64, usize)> = BTreeMap::new();
    for (place, step) in (lasso.stem..).zip(taken) {
        workers.entry(step.worker).or_default().0 += 1;
        for &worker in schedule.enabled_at(place) {
            workers.entry(worker).or_default().1 += 1;
        }
    }
    let names = Names(&trace.names);
    let mut rows: Vec<(String, String)> = workers
        .into_iter()
        .map(|(worker, (steps, could))| {
            let does = match steps {
                0 => "takes no step".to_owned(),
                steps => format!("takes {}", count(steps, "step")),
            };
            let could = match could {
                0 => String::new(),
                could if could == taken.len() => ", and could step all the time".to_owned(),
                could => format!(", and could step at {could} of {} points", taken.len()),
            };
            (names.of(worker), does + &could)
        })
        .collect();
    let mut states: Vec<&str> = lasso.states.iter().skip(1).map(String::as_str).collect();
    states.dedup();
    let states = match states.as_slice() {
        [one] => format!("stays in {one}"),
        more => format!("goes through {}", more.join(", ")),
    };
    rows.push((format!("monitor {}", lasso.monitor), states));
    let [is, was] = if lasso.whole { ["is", "was"] } else { ["looks", "looked"] };
    let rounds = count(lasso.rounds.into(), "more round");
    let (start, end) = (lasso.stem, lasso.stem + taken.len());
    let start = if start == 0 { "at the start".to_owned() } else { format!("after step {start}") };
    rows.push((
        "the state".to_owned(),
        format!("after step {end} {is} the same as {start}, and {was} so again in {rounds}"),
    ));
    listing("In each round:", &rows, style)
}
