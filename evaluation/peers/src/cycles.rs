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
use crate::states::Visited;

/// Prints all rows; whether ours take less time than SPIN, where it is installed.
pub fn compare(rounds: u64) -> bool {
    let spin = in_spin::ticking(7);
    let rows: [(&str, Box<Row>); 4] = [
        ("SPIN", Box::new(move || spin.as_ref().map_err(String::clone)?.find_cycles())),
        ("ndfs", Box::new(|| Ok(timed(|| search(SearchKind::Ndfs, 1))))),
        ("map", Box::new(|| Ok(timed(|| search(SearchKind::Map, 1))))),
        ("map, 2 threads", Box::new(|| Ok(timed(|| search(SearchKind::Map, 2))))),
    ];
    println!("ring of 7 with a clock: somebody is elected, under weak fairness");
    println!(
        "  {:16} {:>9} {:>12} {:>9} {:>9} {:>8} {:>13}",
        "", "states", "transitions", "CPU s", "clock s", "ratio", "bytes a state"
    );
    let (mut first, mut kept) = (None, true);
    for (name, row) in rows {
        let mut took = Vec::new();
        let mut ran = Err(String::new());
        for _ in 0..rounds {
            ran = row();
            took.extend(ran.as_ref().ok().map(|ran| ran.1));
        }
        let Visited { states, transitions, bytes } = match ran {
            Ok((visited, _)) => visited,
            Err(why) => {
                println!("  {name:16} skipped: {why}");
                continue;
            }
        };
        let Took { cpu, clock } = median_of(&took);
        if name == "SPIN" {
            first = Some(cpu);
        }
        let ratio = first.map_or(1.0, |first| first / cpu);
        kept &= ratio >= 1.0;
        let bytes = bytes.map_or_else(String::new, |all| format!("{}", all / states));
        println!(
            "  {name:16} {states:>9} {transitions:>12} {cpu:>9.2} {clock:>9.2} {ratio:>7.1}x \
             {bytes:>13}"
        );
    }
    kept
}

type Row = dyn Fn() -> Result<(Visited, Took), String>;

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
