//! The entry points of searches of states, and their reports.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use dally_core::report::{Ended, Report};
use dally_core::{Captured, Choice, Program, Schedule, StateVisitor};

use super::cycles::{self, cycle_search};
use super::explorer::Explorer;
use super::in_delays::{retell, with_fewest};
use super::plan::{Plan, SearchKind};
use super::replaying::Replaying;
use super::sampler::sample;
use super::search_pool::{Make, SearchPool};
use super::ses::{has_cycle, strata};
use super::shared_state::SharedState;
use super::state_space::{Forking, StateSpace};
use super::states::none_yet;
use super::transition_order::{Delayed, Fixed, TransitionOrder};
use super::visited::{Visited, expected_omissions};
use crate::choice_log::Activity;
use crate::confirm::RawFinding;
use crate::options::{Options, Reached, Sink};
use crate::reduction::{ReductionRule, reduced};
use crate::runner::{Run, count_bug};
use crate::supervisor::watched;

/// Searches the states of a program as the plan says, by this explorer. [`Program::states`] says
/// whether states are copied or reconstructed.
///
/// States that are reconstructed, by running their prefixes again, are told apart by what happened
/// before what. That is sound as long as workers share only through Dally; the report says so.
/// Where two prefixes count as the same state, the enabled workers and their next operations are
/// compared, which shows some of what is shared otherwise.
///
/// The strategy and the number of schedules of the options are not used. With one thread the report
/// is the same every time, but for times; with more it is the same if nothing cut the search short,
/// except that another cycle may be shown for the same monitor.
///
/// ```
/// # use dally_core::*;
/// use dally_search::strata::{Plan, RoundRobin, explore};
/// use dally_search::{Ended, Options};
/// use std::sync::Arc;
/// # #[derive(Clone)] struct Count(u8, [WorkerId; 1]);
/// # struct Clock;
/// # impl Program for Clock {
/// #     type System = Count;
/// #     fn name(&self) -> &str { "clock" }
/// #     fn start(&self) -> Result<Count, Bug> { Ok(Count(0, [WorkerId::root(0)])) }
/// #     fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
/// #         visitor.copied(self)
/// #     }
/// # }
/// # impl System for Count {
/// #     fn enabled(&self) -> &[WorkerId] { &self.1 }
/// #     fn step(&mut self, _: WorkerId, _: &mut dyn Env) -> Result<(), Stop> {
/// #         self.0 = (self.0 + 1) % 12;
/// #         Ok(())
/// #     }
/// #     fn status(&self) -> Status { Status::Running }
/// #     fn fingerprint(&self) -> Option<Fingerprint> { Some(Fingerprint(self.0.into())) }
/// # }
/// # impl Captured for Count {
/// #     fn encode(&self, out: &mut Vec<u8>) { out.push(self.0) }
/// #     fn fork(&self) -> Count { self.clone() }
/// # }
///
/// // `Clock` is a program with one worker, its hand, which goes through 12 hours.
/// let plan = Plan { memory: 64 << 20, ..Plan::default() };
/// let options = Options { max_steps: 1_000, ..Options::default() };
/// let report = explore(Arc::new(Clock), RoundRobin::default(), plan, options, Arc::new(()));
/// assert_eq!(report.program, "clock");
/// assert!(report.findings.is_empty());
/// assert_eq!(dally_report::text::coverage(&report), "exhausted: 12 states, 12 transitions");
/// // Nothing was left to try, and nothing was left out: no state was sealed, none cut.
/// assert!(report.ended == Ended::Exhausted && report.is_exhausted());
/// ```
pub fn explore<P, E>(
    program: Arc<P>,
    explorer: E,
    plan: Plan,
    options: Options,
    sink: Arc<dyn Sink>,
) -> Report
where
    P: Program + 'static,
    E: Explorer,
{
    let options = options.naming(&*program);
    let asked = program.clone();
    // A program that starts in order to answer may hang, so it is asked under supervision first. If
    // it gives no answer, the search itself reports what is wrong with its start.
    let answered = watched(&options.program, options.step_time, move |mut writer| {
        writer.now(Activity::Starting);
        asked.states(Ask);
    });
    let search = Search { explorer, plan, options, sink };
    match answered {
        Ok(()) => program.states(search),
        Err(_) => search.replayed(program, None),
    }
}

/// Only has a program say how its states are reached.
struct Ask;

impl<P: Program> StateVisitor<P> for Ask {
    type Output = ();

    fn copied(self, _: Arc<P>)
    where
        P::System: Captured + Send + 'static,
    {
    }

    fn replayed(self, _: Arc<P>, _: Option<String>) {}
}

/// A search of a program that has not said yet how its states are reached.
struct Search<E> {
    explorer: E,
    plan: Plan,
    options: Options,
    sink: Arc<dyn Sink>,
}

impl<P: Program + 'static, E: Explorer> StateVisitor<P> for Search<E> {
    type Output = Report;

    fn copied(self, program: Arc<P>) -> Report
    where
        P::System: Captured + Send + 'static,
    {
        let Search { explorer, plan, options, sink } = self;
        let (make, replayed, note) = (Forking::new, false, None);
        SearchSetup { program, plan, options, sink, make, replayed, note }.by_kind(explorer)
    }

    fn replayed(self, program: Arc<P>, why: Option<String>) -> Report {
        let Search { explorer, plan, options, sink } = self;
        let note = why
            .map(|why| format!("States are reconstructed by running their prefixes again: {why}."));
        let make: Make<P, Replaying<P>> = match plan.search {
            SearchKind::Dpor => |program| Ok(Replaying::unidentified(program)),
            _ => |program| Ok(Replaying::new(program)),
        };
        let replayed = true;
        SearchSetup { program, plan, options, sink, make, replayed, note }.by_kind(explorer)
    }
}

/// All that a search needs but the order of transitions.
struct SearchSetup<P, S> {
    program: Arc<P>,
    plan: Plan,
    options: Options,
    sink: Arc<dyn Sink>,
    make: Make<P, S>,
    replayed: bool,
    note: Option<String>,
}

/// A search inside another one: its findings do not reach the sink.
pub(super) fn searched<P, E, S>(
    program: Arc<P>,
    explorer: E,
    plan: Plan,
    options: Options,
    make: Make<P, S>,
) -> Report
where
    P: Program + 'static,
    E: Explorer,
    S: StateSpace,
{
    let (sink, replayed, note) = (Arc::new(()), false, None);
    let setup = SearchSetup { program, plan, options, sink, make, replayed, note };
    setup.search(Delayed::new(explorer))
}

impl<P: Program + 'static, S: StateSpace> SearchSetup<P, S> {
    fn by_kind<E: Explorer>(self, explorer: E) -> Report {
        if let Some(why) = cycles::obstacle(&self.plan, self.replayed) {
            return self.refuse(why);
        }
        match self.plan.search {
            SearchKind::Ses | SearchKind::Ss | SearchKind::Hybrid => self.by_explorer(explorer),
            SearchKind::Ndfs
            | SearchKind::IterativeNdfs
            | SearchKind::Map
            | SearchKind::Components => self.search(Delayed::new(explorer)),
            SearchKind::Preemptions => {
                let value_price = u32::from(!self.plan.free_values);
                self.search(Fixed::Preempting { last: None, value_price })
            }
            SearchKind::Depth => self.search(Fixed::Depth { path: 0, shuffled: Vec::new() }),
            SearchKind::Bfs => self.search(Fixed::Breadth),
            SearchKind::Dfs => self.search(Fixed::Free),
            SearchKind::Dpor => {
                let by = ReductionRule { rule: self.plan.reduction, bound: self.plan.delays };
                reduced(self.program, by, self.options, self.sink, self.make, self.note)
            }
            SearchKind::Concolic => self.refuse(
                "The search concolic needs the feature `concolic` of the crate `dally`.".to_owned(),
            ),
        }
    }

    /// The report of a search that was not done.
    fn refuse(self, why: String) -> Report {
        let name = self.plan.search.to_string();
        let mut run = Run::new(self.program, self.options, name, self.sink);
        run.report.notes.extend(self.note);
        run.report.notes.push(why);
        run.end(Ended::Failed);
        run.finish()
    }

    /// Searches by an explorer, and counts the delays of its findings.
    fn by_explorer<E: Explorer>(self, explorer: E) -> Report {
        let (program, options, make) = (self.program.clone(), self.options.clone(), self.make);
        let sink = self.sink.clone();
        let mut report = self.search(Delayed::new(explorer.clone()));
        retell(&mut report, &options, &*sink, |finding, options| {
            with_fewest(&program, &explorer, finding, options, make)
        });
        report
    }

    fn search<O: TransitionOrder>(self, order: O) -> Report {
        let SearchSetup { program, plan, options, sink, make, replayed, note } = self;
        let threads = plan.search.threads(options.threads);
        let seed = options.seed;
        let name = format!("{}({})", plan.search, order.name());
        let mut run = Run::new(program, options, name, sink);
        run.report.threads = threads;
        run.report.notes.extend(note);
        run.reached = Some(Reached::default());
        let mut shared_state = SharedState::new(&plan, seed, threads, run.shared.clone());
        let cycle_search = cycle_search(&plan, run.options.fairness, threads, run.shared.clone());
        shared_state.log.clone_from(&cycle_search);
        let shared_state = Arc::new(shared_state);
        let mut states = none_yet(&plan, order.name(), replayed);
        let mut pool = SearchPool::start_threads(&mut run, shared_state, make, threads);
        let mut bugs = Vec::new();
        match pool.begin(&mut run, order.clone()) {
            None => {}
            Some(Err(bug)) => {
                let cause = bug.cause();
                let raw = RawFinding::new(bug, 0);
                run.shared.sink.found(&raw.finding(&run.shared.description));
                bugs.push((cause, Some(Box::new(raw))));
            }
            Some(Ok(_)) if plan.search == SearchKind::Ss => {
                sample(&mut run, &mut pool, &plan, Vec::new(), &order, &mut states);
            }
            Some(Ok((first, begun))) if let Some(cycle_search) = &cycle_search => {
                cycles::search(
                    &mut run,
                    &mut pool,
                    &plan,
                    cycle_search,
                    (first, begun),
                    &order,
                    &mut states,
                );
            }
            Some(Ok(begun)) => {
                let left = strata(&mut run, &mut pool, &plan, begun, &order, &mut states);
                if plan.search == SearchKind::Hybrid && !left.is_empty() {
                    sample(&mut run, &mut pool, &plan, left, &order, &mut states);
                }
            }
        }
        let shared_state = pool.shared_state.clone();
        drop(pool);
        bugs.extend(shared_state.take_bugs());
        if let Some(fault) = shared_state.take_fault() {
            let token = token(&run, fault.choices().to_vec());
            run.report.notes.push(fault.message(&token));
            run.ended = Some(fault.ended());
        } else if !bugs.is_empty() && !run.options.keep_going {
            run.ended = Some(Ended::Bug);
        }
        if run.ended == Some(Ended::Memory) {
            run.report.notes.push(shared_state.fullness());
        }
        states.cache_bytes = shared_state.state_bytes();
        states.forgotten = shared_state.visited.dropped();
        states.expected_omissions = if plan.search.finds_cycles() && !plan.exact {
            expected_omissions(states.states, 0)
        } else {
            shared_state.visited.expected_omissions()
        };
        if run.ended == Some(Ended::Exhausted) && states.forgets() && !states.cyclic {
            states.cyclic = has_cycle(&mut run, make, &plan);
        }
        let mut threads = run.supervisor();
        for (cause, raw) in bugs {
            if let Some(raw) = count_bug(&mut run.groups, cause, raw) {
                run.confirm(&mut threads, raw);
            }
        }
        run.report.schedules = states.executions;
        run.report.steps = states.transitions;
        run.report.longest = states.deepest;
        run.report.cut = states.cut;
        run.report.given_inputs = shared_state.inputs.load(Ordering::Relaxed);
        run.report.states = Some(states);
        run.finish()
    }
}

fn token<P: Program>(run: &Run<P>, choices: Vec<Choice>) -> String {
    let description = &run.shared.description;
    let (program, settings) = (description.program.clone(), description.settings.clone());
    Schedule { program, settings, choices, ..Schedule::default() }.to_token()
}
