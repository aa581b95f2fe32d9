//! Search for cycles, against SPIN where it is installed.
//!
//! The election in a ring of seven with a clock beside it that ticks for ever, and the claim that
//! somebody is elected. Without fairness the clock alone violates it, in every state; under weak
//! fairness it holds. SPIN copies the states for each process to tell, we judge components.

use std::sync::Arc;

use dally::search::strata::{Plan, RoundRobin, SearchKind, explore};
use dally::search::{Ended, Options};

use crate::by_hand::{ByHand, Ring, Ticking};
use crate::in_spin;
use crate::measure::{Took, median_of, timed};
use crate::states::{Promise, Visited};

/// Prints the rows with this text; whether ours keep what is promised, where SPIN is installed.
pub fn compare(rounds: u64, text: &str) -> bool {
    let spin = in_spin::ticking(7);
    let mut rows: Vec<(&str, Promise, Box<Row>)> = vec![
        (
            "SPIN",
            Promise::Nothing,
            Box::new(move || spin.as_ref().map_err(String::clone)?.find_cycles()),
        ),
        ("ndfs", Promise::Faster(10.0), Box::new(|| Ok(timed(|| search(SearchKind::Ndfs, 1))))),
        ("map", Promise::Faster(6.0), Box::new(|| Ok(timed(|| search(SearchKind::Map, 1))))),
        (
            "map, 2 threads",
            Promise::Sooner(1.6),
            Box::new(|| Ok(timed(|| search(SearchKind::Map, 2)))),
        ),
    ];
    rows.retain(|row| row.0.contains(text));
    println!("ring of 7 with a clock: somebody is elected, under weak fairness");
    println!(
        "  {:16} {:>9} {:>12} {:>9} {:>9} {:>8} {:>13}",
        "", "states", "transitions", "CPU s", "clock s", "to SPIN", "bytes a state"
    );
    let mut ran: Vec<_> = rows.iter().map(|_| (Vec::new(), Err(String::new()))).collect();
    // In turn, so that noise of the machine hits all of them.
    for _ in 0..rounds {
        for ((_, _, row), (took, last)) in rows.iter().zip(&mut ran) {
            *last = row();
            took.extend(last.as_ref().ok().map(|ran| ran.1));
        }
    }
    let (mut spin, mut before, mut kept) = (None, None, true);
    for ((name, promised, _), (took, last)) in rows.iter().zip(ran) {
        let Visited { states, transitions, bytes } = match last {
            Ok((visited, _)) => visited,
            Err(why) => {
                println!("  {name:16} skipped: {why}");
                continue;
            }
        };
        let Took { cpu, clock } = median_of(&took);
        spin = spin.or((*name == "SPIN").then_some(cpu));
        let ratio = spin.map(|spin| spin / cpu);
        let (achieved, least, what) = match *promised {
            Promise::Nothing => (None, 0.0, ""),
            Promise::Faster(least) => (ratio, least, "SPIN"),
            Promise::Sooner(least) => {
                (before.map(|before: f64| before / clock), least, "on the clock")
            }
        };
        let is_kept = achieved.is_none_or(|achieved| achieved >= least);
        let verdict = achieved.map_or_else(String::new, |achieved| {
            format!("  {achieved:.1}x {what} {} {least}", if is_kept { ">=" } else { "BELOW" })
        });
        let each = bytes.map(|all| all as f64 / states as f64);
        let is_small = each.is_none_or(|each| each <= MOST_BYTES);
        kept &= is_kept && is_small;
        before = Some(clock);
        let ratio = ratio.map_or_else(String::new, |ratio| format!("{ratio:.1}x"));
        let bytes = each.map_or_else(String::new, |each| format!("{each:.1}"));
        let large = if is_small { String::new() } else { format!("  ABOVE {MOST_BYTES} bytes") };
        println!(
            "  {name:16} {states:>9} {transitions:>12} {cpu:>9.2} {clock:>9.2} {ratio:>8} \
             {bytes:>13}{verdict}{large}"
        );
    }
    kept
}

type Row = dyn Fn() -> Result<(Visited, Took), String>;

/// The most bytes that a state is to take.
const MOST_BYTES: f64 = 60.0;

fn search(search: SearchKind, threads: usize) -> Visited {
    let plan = Plan { search, memory: 8 << 30, ..Plan::default() };
    let options = Options { threads, ..Options::default() };
    let program = Arc::new(ByHand(Ticking(Ring(7))));
    let report = explore(program, RoundRobin::default(), plan, options, Arc::new(()));
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(report.ended, Ended::Exhausted, "{:?}", report.notes);
    let Some(found) = report.states else { panic!("a search of states reports no states") };
    let bytes = Some(found.cache_bytes);
    Visited { states: found.states, transitions: found.transitions, bytes }
}
