//! A program to search: three players toss coins, and a judge does not believe in three heads.

use dally::machine;
use dally::machines::{Addr, Cx, MachineProgram};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Toss {
    heads: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Player {
    judge: Addr<Judge>,
}

#[machine(states(Playing))]
impl Player {
    #[entry(Playing)]
    fn toss(&mut self, cx: &mut Cx<Self>) {
        let heads = cx.flip();
        cx.send(self.judge, Toss { heads });
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Judge {
    heads: u32,
}

#[machine(states(Judging))]
impl Judge {
    #[on(Judging, Toss)]
    fn judge(&mut self, _: &mut Cx<Self>, toss: Toss) {
        self.heads += u32::from(toss.heads);
        assert!(self.heads < 3, "three heads");
    }
}

/// The players and the judge.
pub(crate) fn program() -> MachineProgram {
    MachineProgram::new("coins", |setup| {
        let judge = setup.create(Judge { heads: 0 });
        for _ in 0..3 {
            setup.create(Player { judge });
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dally::search::Options;
    use dally::search::strata::{Plan, RoundRobin, SearchKind, explore};

    use crate::{breadth_first, coins};

    #[test]
    fn the_search_of_the_guide_visits_what_the_bundled_search_visits() {
        let outcome = breadth_first(&coins::program()).unwrap();
        let plan = Plan { search: SearchKind::Bfs, ..Plan::default() };
        let options = Options { keep_going: true, ..Options::default() };
        let report =
            explore(Arc::new(coins::program()), RoundRobin::default(), plan, options, Arc::new(()));
        let states = report.states.as_ref().unwrap();
        assert_eq!((outcome.states, outcome.transitions), (states.states, states.transitions));
        assert_eq!(report.findings.len(), 1);
        assert!(!outcome.bugs.is_empty());
        assert!(outcome.bugs.iter().all(|(bug, _)| *bug == report.findings[0].bug.to_string()));
    }
}
