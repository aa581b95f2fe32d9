//! Searches for cycles that pass over steps of which it is foreseen where they lead.

use std::sync::Arc;

use dally_core::{
    Acceptance, Bug, Captured, Cut, Env, Fingerprint, Program, StateVisitor, Status, Stop, System,
    WorkerId,
};
use dally_search::liveness::Fairness;
use dally_search::strata::{Plan, RandomOrder, SearchKind, explore};
use dally_search::{Ended, Options};

use crate::labelled::{Labelled, Live, Place, Step, Target, random};
use crate::oracle::{Explored, check_lasso};
use crate::theorem::found;

/// A graph whose monitors judge states alone.
struct Foreseeing(Labelled);

struct Foreseen(Live);

impl Program for Foreseeing {
    type System = Foreseen;

    fn start(&self) -> Result<Foreseen, Bug> {
        self.0.start().map(Foreseen)
    }

    fn granularity(&self) -> &'static str {
        self.0.granularity()
    }

    fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
        visitor.copied(self)
    }
}

impl System for Foreseen {
    fn enabled(&self) -> &[WorkerId] {
        self.0.enabled()
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        self.0.step(worker, env)
    }

    fn status(&self) -> Status {
        self.0.status()
    }

    fn acceptance(&self) -> Acceptance {
        self.0.acceptance()
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        self.0.fingerprint()
    }

    fn name(&self, worker: WorkerId) -> String {
        self.0.name(worker)
    }

    fn monitor(&self, index: usize) -> (String, String) {
        self.0.monitor(index)
    }
}

impl Captured for Foreseen {
    const FORESEES: bool = true;
    const JUDGES_STATES_ALONE: bool = true;

    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }

    fn fork(&self) -> Foreseen {
        Foreseen(self.0.fork())
    }

    fn foresee(&mut self, worker: WorkerId, _: &mut dyn Env) -> Result<Option<Fingerprint>, Cut> {
        Ok(self.0.plain_target(worker))
    }
}

/// The same step, which no monitor minds and which does not fail.
fn calm(step: &Step) -> Step {
    match step {
        Step::To(target) => Step::To(Target::plain(target.to)),
        Step::Fail(_) => Step::To(Target::plain(0)),
        Step::Value(tag, place, steps) => {
            Step::Value(*tag, *place, steps.iter().map(calm).collect())
        }
        Step::Delivery(steps) => {
            Step::Delivery(steps.iter().map(|(from, step)| (*from, calm(step))).collect())
        }
    }
}

#[test]
fn a_cycle_is_reported_exactly_if_there_is_one_where_steps_are_foreseen() {
    let searches = [
        (SearchKind::Ndfs, 1),
        (SearchKind::IterativeNdfs, 1),
        (SearchKind::Map, 1),
        (SearchKind::Map, 2),
        (SearchKind::Components, 2),
    ];
    for seed in 0..5_000 {
        let fairness = [Fairness::None, Fairness::Weak, Fairness::Strong][seed as usize % 3];
        let calm = |place: Place| Place {
            steps: place.steps.iter().map(calm).collect(),
            sealed: false,
            ..place
        };
        let graph: Arc<Vec<Place>> = Arc::new(random(seed, 6).into_iter().map(calm).collect());
        let whole = Explored::all(&graph);
        for (search, threads) in searches {
            let program = Arc::new(Foreseeing(Labelled::new(&graph)));
            let plan = Plan { search, ..Plan::default() };
            let options = Options { fairness, threads, keep_going: true, ..Options::default() };
            let report = explore(program, RandomOrder::new(seed), plan, options, Arc::new(()));
            let what = || format!("seed {seed}, {search} on {threads}, {fairness}: {graph:#?}");
            assert_eq!(report.ended, Ended::Exhausted, "{}", what());
            let found = found(&report);
            let monitors = found.iter().fold(0_u64, |all, (monitor, _)| all | 1 << monitor);
            assert_eq!(monitors, whole.violated(fairness), "{}", what());
            for (monitor, finding) in found {
                let Some(lasso) = &finding.lasso else { panic!("no lasso: {}", what()) };
                let choices = &finding.schedule.choices;
                let checked = check_lasso(&graph, choices, lasso.stem, monitor, fairness);
                assert_eq!(checked, Ok(()), "{}", what());
            }
            let states = report.states.as_ref().expect("a search of states");
            if search != SearchKind::IterativeNdfs {
                let counts = (states.states, states.transitions);
                assert_eq!(counts, whole.counts(), "{}", what());
            }
        }
    }
}
