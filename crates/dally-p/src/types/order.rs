//! A topological order of declarations that refer to each other, without recursion, because a
//! project may chain any number of them.

/// All indices below `count`, each after those it needs, and the cycles, each once.
pub(crate) fn order(count: usize, needs: impl Fn(usize) -> Vec<usize>) -> Order {
    let mut state = vec![State::New; count];
    let mut found = Order { sorted: Vec::with_capacity(count), cycles: Vec::new() };
    for root in 0..count {
        if state[root] != State::New {
            continue;
        }
        state[root] = State::Open;
        let mut path = vec![(root, needs(root).into_iter())];
        while let Some((at, rest)) = path.last_mut() {
            match rest.next() {
                Some(next) if state[next] == State::New => {
                    state[next] = State::Open;
                    path.push((next, needs(next).into_iter()));
                }
                Some(next) if state[next] == State::Open => {
                    let from = path.iter().position(|(at, _)| *at == next).unwrap_or(0);
                    found.cycles.push(path[from..].iter().map(|(at, _)| *at).collect());
                }
                Some(_) => {}
                None => {
                    state[*at] = State::Done;
                    found.sorted.push(*at);
                    path.pop();
                }
            }
        }
    }
    found
}

pub(crate) struct Order {
    /// Every index once.
    pub sorted: Vec<usize>,
    pub cycles: Vec<Vec<usize>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn what_is_needed_comes_first_and_cycles_are_found() {
        let needs = [vec![1], vec![2], vec![], vec![4], vec![3, 0]];
        let found = order(5, |at| needs[at].clone());
        assert_eq!(found.sorted, [2, 1, 0, 4, 3]);
        assert_eq!(found.cycles, [vec![3, 4]]);
    }

    #[test]
    fn a_very_long_chain_does_not_overflow_the_stack() {
        let found = order(1_000_000, |at| if at > 0 { vec![at - 1] } else { vec![] });
        assert_eq!(found.sorted.len(), 1_000_000);
        assert!(found.cycles.is_empty());
    }
}
