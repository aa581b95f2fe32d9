//! The monitor of what clients see, compared with all orders of calls.

use dally::linearizable::{Linearizable, Object};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Call {
    Put(u8),
    Take,
}

/// A register whose reads take the value away, so that both calls change it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
struct Cell(Option<u8>);

impl Object for Cell {
    type Call = Call;
    type Answer = Option<u8>;

    fn apply(&mut self, call: &Call) -> Option<u8> {
        match call {
            Call::Put(value) => self.0.replace(*value),
            Call::Take => self.0.take(),
        }
    }
}

/// A call with the moments of its begin and of its end, which it may not have.
#[derive(Clone, Debug)]
struct Made {
    call: Call,
    begin: usize,
    end: Option<(usize, Option<u8>)>,
}

/// Whether some order explains the answers: by trying all of them, with each choice of which calls without an
/// end have taken effect.
fn by_all_orders(cell: &Cell, left: &[Made]) -> bool {
    if left.iter().all(|made| made.end.is_none()) {
        return true;
    }
    (0..left.len()).any(|next| {
        let made = &left[next];
        // Nothing that has ended before it begins is left.
        let too_early = left.iter().any(|other| other.end.is_some_and(|(end, _)| end < made.begin));
        let mut cell = cell.clone();
        let answer = cell.apply(&made.call);
        let wrong = made.end.as_ref().is_some_and(|(_, given)| *given != answer);
        let mut rest = left.to_vec();
        rest.remove(next);
        !too_early && !wrong && by_all_orders(&cell, &rest)
    })
}

/// Random calls of three clients, whose answers are mostly those of some order.
fn random_history(rng: &mut Rng) -> Vec<Made> {
    let mut made: Vec<Made> = Vec::new();
    let mut cell = Cell::default();
    let mut busy: [Option<(usize, Option<Option<u8>>)>; 3] = [None; 3];
    for moment in 0..rng.below(16) {
        let client = rng.below(3);
        match busy[client] {
            None if made.len() < 6 => {
                let call =
                    if rng.below(2) == 0 { Call::Put(rng.below(3) as u8) } else { Call::Take };
                made.push(Made { call, begin: moment, end: None });
                busy[client] = Some((made.len() - 1, None));
            }
            None => {}
            Some((at, None)) => {
                let answer = cell.apply(&made[at].call);
                // Sometimes it lies.
                let answer = if rng.below(8) == 0 { Some(rng.below(3) as u8) } else { answer };
                busy[client] = Some((at, Some(answer)));
            }
            Some((at, Some(answer))) => {
                made[at].end = Some((moment, answer));
                busy[client] = None;
            }
        }
    }
    made
}

/// Numbers that are the same in every run.
struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = dally::contract::fingerprint::mix(self.0, 1);
        (self.0 % bound as u64) as usize
    }
}

fn by_monitor(history: &[Made]) -> bool {
    let mut monitor = Linearizable::new(Cell::default());
    let moments = history.iter().flat_map(|made| [Some(made.begin), made.end.map(|(end, _)| end)]);
    let last = moments.flatten().max().unwrap_or(0);
    for moment in 0..=last {
        for (id, made) in history.iter().enumerate() {
            if made.begin == moment {
                monitor.begin(id as u64, made.call.clone());
            }
            if let Some((end, answer)) = &made.end
                && *end == moment
                && !monitor.end(id as u64, answer)
            {
                return false;
            }
        }
    }
    true
}

#[test]
fn the_monitor_agrees_with_all_orders_on_random_histories() {
    let mut counts = [0; 2];
    for seed in 0..20_000 {
        let history = random_history(&mut Rng(seed));
        let explained = by_all_orders(&Cell::default(), &history);
        counts[usize::from(explained)] += 1;
        assert_eq!(by_monitor(&history), explained, "{seed}: {history:?}");
    }
    assert!(counts.iter().all(|&count| count > 1_000), "{counts:?}");
}
