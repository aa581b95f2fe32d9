//! Going on from the present state by a strategy or a search, and the states around it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dally_core::words::count;
use dally_core::{Bug, Choice, Report, Trace, WorkerId};
use dally_report::text;
use dally_search::by_hand::{Position, Walk};
use dally_search::strata::{Plan, SearchKind};
use dally_search::{Options, StrategyKind};

use super::{Session, is_step, picture};
use crate::condition::Condition;
use crate::program::Search;
use crate::request::{Map, MapState, MapStep};
use crate::until::Goal;

/// The most states of a map.
const MOST_STATES: usize = 300;
/// The most steps from the middle of a map.
const DEEPEST: u32 = 12;

/// The most memory of a search of states.
const MEMORY: u64 = 1 << 30;

impl Session {
    /// The choices of whole steps: a search cannot begin inside of one.
    fn whole_steps(&self) -> Vec<Choice> {
        let mut choices = self.made().to_vec();
        if let Position::Inside(..) = self.walk(&choices).here {
            let last = choices.iter().rposition(is_step).unwrap_or(0);
            choices.truncate(last);
        }
        choices
    }

    /// Whole steps that the program can take and that do not end the execution.
    fn start_of_search(&self) -> Result<(Vec<Choice>, Walk), String> {
        let choices = self.whole_steps();
        let walk = self.walk(&choices);
        match (&walk.here, &walk.left_at) {
            (_, Some(left)) => Err(format!("the program does not fit this path: {left}")),
            (Position::Between(_), None) => Ok((choices, walk)),
            _ => Err("the execution is over here: go back to look for something else".into()),
        }
    }

    fn options(&self, strategy: &str, seed: u64, max_steps: usize) -> Result<Options, String> {
        let kind: StrategyKind = strategy.parse().map_err(|why| format!("{why}"))?;
        Ok(Options {
            program: self.heading.program.clone(),
            strategy: kind.build(seed, max_steps),
            seed,
            max_steps,
            step_time: self.step_time,
            ..Options::default()
        })
    }

    pub(super) fn run(
        &mut self,
        strategy: &str,
        seed: u64,
        steps: usize,
    ) -> Result<Vec<String>, String> {
        let (choices, _) = self.start_of_search()?;
        let options = self.options(strategy, seed, steps.max(1))?;
        let ran = self.program.clone().run_from(&choices, options);
        let taken = ran.schedule.steps() as u64;
        let mut said = vec![format!("{strategy} took {}", count(taken, "step"))];
        said.extend(ran.bug.as_ref().map(|bug| format!("and there is a bug: {}", text::line(bug))));
        self.take([choices, ran.schedule.choices].concat());
        Ok(said)
    }

    pub(super) fn search(
        &mut self,
        by: &str,
        seed: u64,
        schedules: u64,
        time: Duration,
        until: Option<&str>,
    ) -> Result<Vec<String>, String> {
        let condition: Option<Condition> = until
            .map(str::parse)
            .transpose()
            .map_err(|why: crate::ConditionError| format!("the condition cannot be read: {why}"))?;
        let (choices, walk) = self.start_of_search()?;
        let searching: Option<SearchKind> = by.parse().ok();
        if searching == Some(SearchKind::Concolic) {
            return Err(
                "a concolic search begins at the start: `dally check --search concolic`".into()
            );
        }
        let plan = searching.map(|search| Plan { search, memory: MEMORY, ..Plan::default() });
        let strategy = if plan.is_some() { "random" } else { by };
        let options = self.options(strategy, seed, Options::default().max_steps)?;
        let options = Options { schedules, time: Some(time), ..options };
        let picture = picture(&walk);
        let goal = condition.map(|condition| Goal { condition: Arc::new(condition), picture });
        if let (Some(goal), Position::Between(workers)) = (&goal, &walk.here) {
            let enabled: Vec<WorkerId> = workers.iter().map(|(worker, _)| *worker).collect();
            if goal.condition.holds(&goal.picture, &enabled) {
                return Ok(vec!["it holds here already".into()]);
            }
        }
        let reached = goal.as_ref().map(Goal::reached);
        let report = self.program.clone().search_from(&choices, Search { plan, goal }, options);
        let Some(finding) = report.findings.first() else { return Ok(not_found(&report)) };
        let steps = count(finding.schedule.steps() as u64, "step");
        let said = match reached.as_ref().map(Bug::cause) == Some(finding.bug.cause()) {
            true => format!("found a state in which it holds, {steps} from there"),
            false => format!("found a bug, {steps} from there: {}", text::line(&finding.bug)),
        };
        self.take([choices, finding.schedule.choices.clone()].concat());
        Ok(vec![said])
    }

    pub(super) fn map(&self, depth: u32) -> Result<Map, String> {
        let (choices, walk) = self.start_of_search()?;
        let depth = depth.clamp(1, DEEPEST);
        let around = self.program.clone().around(&choices, depth, MOST_STATES, self.step_time);
        let around = around.map_err(|why| why.to_string())?;
        let known = picture(&walk).workers.into_iter().map(|(id, worker)| (id, worker.name));
        let names: BTreeMap<WorkerId, String> = known.chain(around.names.clone()).collect();
        let states = around.states.iter().map(|state| MapState {
            depth: state.depth,
            choices: state.choices.clone(),
            enabled: state.enabled,
            bug: state.bug.as_ref().map(text::line),
        });
        let steps = around.transitions.iter().map(|step| {
            let trace = Trace { names: names.clone(), steps: vec![step.step.clone()] };
            let (worker, does) = text::last_step(&trace);
            MapStep { from: step.from, to: step.to, worker, does }
        });
        let steps = steps.collect();
        Ok(Map { states: states.collect(), steps, depth, cut: around.cut })
    }
}

fn not_found(report: &Report) -> Vec<String> {
    let mut said = vec!["nothing was found".to_owned(), text::coverage(report)];
    said.extend(text::notes(report));
    said
}
