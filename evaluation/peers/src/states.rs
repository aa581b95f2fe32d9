//! Exhaustive search of states, against stateright and SPIN.
//!
//! Two models: the election of Le Lann, Chang and Roberts in a ring of seven, and two-phase
//! commit with messages and six participants. A handler is one transition, channels are queues
//! per pair of processes. All rows must visit as many states and take as many transitions.

use std::sync::Arc;

use dally::contract::{Captured, Program};
use dally::search::strata::{Plan, RoundRobin, SearchKind, explore};
use dally::search::{Ended, Options};

use crate::measure::{Took, median_of, timed};
use crate::{as_machines, by_hand, in_spin, in_stateright};

/// What a search went through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Visited {
    /// Distinct states.
    pub states: u64,
    /// Transitions taken from them.
    pub transitions: u64,
    /// The bytes that remember the states, where that is known.
    pub bytes: Option<u64>,
}

/// A model in all its forms.
struct Model {
    name: &'static str,
    states: u64,
    transitions: u64,
    rows: Vec<Row>,
}

struct Row {
    name: &'static str,
    run: Box<dyn Fn() -> Result<(Visited, Took), String>>,
    promised: Promise,
}

/// What we promise of a row.
#[derive(Clone, Copy)]
pub enum Promise {
    /// Nothing.
    Nothing,
    /// To be so many times as fast as the first row, in CPU time.
    Faster(f64),
    /// To be so many times as fast as the row before it, on the clock.
    Sooner(f64),
}

/// The rows that the others are compared with, always run: actors are what users of stateright
/// write, and machines are to us; a model by hand is what somebody writes who needs it fast.
const BASES: usize = 2;

/// The most bytes that we spend on remembering a state.
const BYTES: f64 = 16.0;

/// Prints the rows with this text; whether all promises are kept.
pub fn compare(rounds: u64, wanted: &str) -> bool {
    let (ring, commit) = (by_hand::Ring(7), by_hand::Commit(6));
    let models = [
        Model {
            name: "ring of 7",
            states: 1_587_280,
            transitions: 5_729_129,
            rows: rows(
                || in_stateright::explore(in_stateright::actors::ring(7)),
                || in_stateright::explore(in_stateright::Ring(7)),
                move || in_stateright::explore(in_stateright::Flat(ring)),
                in_spin::ring(7),
                as_machines::ring(7),
                by_hand::ByHand(ring),
            ),
        },
        Model {
            name: "commit of 6",
            states: 1_255_653,
            transitions: 8_691_162,
            rows: rows(
                || in_stateright::explore(in_stateright::actors::commit(6)),
                || in_stateright::explore(in_stateright::Commit(6)),
                move || in_stateright::explore(in_stateright::Flat(commit)),
                in_spin::commit(6),
                as_machines::commit(6),
                by_hand::ByHand(commit),
            ),
        },
    ];
    models.into_iter().map(|model| model.compare(rounds, wanted)).fold(true, |all, one| all & one)
}

fn rows<M, H>(
    actors: fn() -> Visited,
    model: fn() -> Visited,
    flat: impl Fn() -> Visited + 'static,
    spin: Result<in_spin::Verifier, String>,
    machines: M,
    by_hand: H,
) -> Vec<Row>
where
    M: Program<System: Captured + Send> + 'static,
    H: Program<System: Captured + Send> + 'static,
{
    let (machines, by_hand) = (Arc::new(machines), Arc::new(by_hand));
    let (machines2, by_hand2) = (machines.clone(), by_hand.clone());
    vec![
        row("stateright, actors", Promise::Nothing, actors),
        row("stateright, model by hand", Promise::Nothing, model),
        row("stateright, our flat states", Promise::Nothing, flat),
        Row {
            name: "SPIN",
            run: Box::new(move || spin.as_ref().map_err(String::clone)?.explore()),
            promised: Promise::Nothing,
        },
        row("machines", Promise::Faster(3.0), move || search(&machines, 1)),
        row("machines, 2 threads", Promise::Sooner(1.6), move || search(&machines2, 2)),
        row("by hand", Promise::Faster(6.0), move || search(&by_hand, 1)),
        row("by hand, 2 threads", Promise::Sooner(1.6), move || search(&by_hand2, 2)),
    ]
}

fn row(name: &'static str, promised: Promise, run: impl Fn() -> Visited + 'static) -> Row {
    Row { name, promised, run: Box::new(move || Ok(timed(&run))) }
}

/// Our own search: depth first, as stateright's.
fn search<P>(program: &Arc<P>, threads: usize) -> Visited
where
    P: Program<System: Captured + Send> + 'static,
{
    let plan = Plan { search: SearchKind::Dfs, ..Plan::default() };
    let options = Options { threads, ..Options::default() };
    let report = explore(program.clone(), RoundRobin::default(), plan, options, Arc::new(()));
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(report.ended, Ended::Exhausted, "{:?}", report.notes);
    let Some(found) = report.states else { panic!("a search of states reports no states") };
    let bytes = Some(found.cache_bytes);
    Visited { states: found.states, transitions: found.transitions, bytes }
}

impl Model {
    fn compare(self, rounds: u64, wanted: &str) -> bool {
        let Model { name, states, transitions, rows } = self;
        let chosen = |row: &Row| format!("{name}: {}", row.name).contains(wanted);
        if !rows.iter().any(chosen) {
            return true;
        }
        println!("{name}: {states} states, {transitions} transitions");
        println!(
            "  {:28} {:>9} {:>9} {:>13} {:>9} {:>9} {:>13}",
            "", "CPU s", "clock s", "M trans/CPU s", "to actors", "to model", "bytes a state"
        );
        let mut runs: Vec<Run> = Vec::new();
        for (place, row) in rows.into_iter().enumerate() {
            if place < BASES || chosen(&row) {
                runs.push(Run { row, took: Vec::new(), bytes: None, failed: None });
            }
        }
        for _ in 0..rounds {
            runs.iter_mut().for_each(|run| run.round(states, transitions));
        }
        let mut kept = true;
        for place in 0..runs.len() {
            let before = place.checked_sub(1).map(|before| &runs[before]);
            kept &= runs[place].print(&runs[..BASES], before, transitions);
        }
        println!();
        kept
    }
}

/// A row and what came of it.
struct Run {
    row: Row,
    took: Vec<Took>,
    /// Bytes a state.
    bytes: Option<f64>,
    failed: Option<String>,
}

impl Run {
    fn round(&mut self, states: u64, transitions: u64) {
        if self.failed.is_some() {
            return;
        }
        match (self.row.run)() {
            Ok((visited, took)) => {
                let name = self.row.name;
                let counts = (visited.states, visited.transitions);
                assert_eq!(counts, (states, transitions), "{name} is another model");
                self.took.push(took);
                self.bytes = visited.bytes.map(|bytes| bytes as f64 / states as f64);
            }
            Err(why) => self.failed = Some(why),
        }
    }

    /// Prints it; whether its promise is kept.
    fn print(&self, bases: &[Run], before: Option<&Run>, transitions: u64) -> bool {
        let name = self.row.name;
        if let Some(why) = &self.failed {
            println!("  {name:28} skipped: {why}");
            return true;
        }
        let took = median_of(&self.took);
        let ratios: Vec<f64> =
            bases.iter().map(|base| median_of(&base.took).cpu / took.cpu).collect();
        let (achieved, promised, words) = match (self.row.promised, before) {
            (Promise::Faster(promised), _) => (ratios[0], promised, " actors"),
            (Promise::Sooner(promised), Some(before)) if name.starts_with(before.row.name) => {
                (median_of(&before.took).clock / took.clock, promised, " on the clock")
            }
            _ => (0.0, 0.0, ""),
        };
        let mut verdict = match promised {
            0.0 => String::new(),
            _ if achieved < promised => format!("  {achieved:.1}x{words} BELOW {promised}"),
            _ => format!("  {achieved:.1}x{words} >= {promised}"),
        };
        let heavy = self.bytes.is_some_and(|bytes| bytes > BYTES);
        if heavy {
            verdict += &format!("  ABOVE {BYTES} bytes");
        }
        let bytes = self.bytes.map_or_else(String::new, |bytes| format!("{bytes:.1}"));
        println!(
            "  {name:28} {:>9.2} {:>9.2} {:>13.2} {:>8.1}x {:>8.1}x {bytes:>13}{verdict}",
            took.cpu,
            took.clock,
            transitions as f64 / took.cpu / 1e6,
            ratios[0],
            ratios[1],
        );
        achieved >= promised && !heavy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(visited: Visited) -> (u64, u64) {
        (visited.states, visited.transitions)
    }

    #[test]
    fn all_forms_of_the_ring_are_one_model() {
        for (n, expected) in [(4, (1_028, 2_429)), (5, (10_072, 28_235))] {
            let (flat, machines) = (by_hand::Ring(n), as_machines::ring(n));
            let actors = in_stateright::explore(in_stateright::actors::ring(n as usize));
            assert_eq!(counts(actors), expected);
            let model = in_stateright::explore(in_stateright::Ring(n as usize));
            assert_eq!(counts(model), expected);
            assert_eq!(counts(in_stateright::explore(in_stateright::Flat(flat))), expected);
            assert_eq!(counts(search(&Arc::new(by_hand::ByHand(flat)), 1)), expected);
            assert_eq!(counts(search(&Arc::new(machines), 1)), expected);
        }
    }

    #[test]
    fn all_forms_of_the_commit_are_one_model() {
        for (n, expected) in [(3, (1_339, 4_603)), (4, (13_017, 59_500))] {
            let (flat, machines) = (by_hand::Commit(n), as_machines::commit(n));
            let actors = in_stateright::explore(in_stateright::actors::commit(n as usize));
            assert_eq!(counts(actors), expected);
            let model = in_stateright::explore(in_stateright::Commit(n as usize));
            assert_eq!(counts(model), expected);
            assert_eq!(counts(in_stateright::explore(in_stateright::Flat(flat))), expected);
            assert_eq!(counts(search(&Arc::new(by_hand::ByHand(flat)), 1)), expected);
            assert_eq!(counts(search(&Arc::new(machines), 1)), expected);
        }
    }
}
