//! Inputs for schedules whose orders a strategy draws. Paths are not gone through one after the other, but
//! by what they bring: for programs with more paths than there is time.

mod agenda;
mod execution;

use std::sync::{Arc, Mutex, PoisonError};

use dally_core::report::Report;
use dally_core::{Choice, Event, Input, MessageId, Program, System, Tag, Text, WorkerId};
use dally_search::reduction::Inputs;
use dally_search::{
    EndSchedule, Learner, Lesson, Options, Outcome, Point, Properties, Sink, Strategy, StrategyKind,
};

use self::agenda::Agenda;
use self::execution::Execution;
use crate::coverage::{Coverage, Drawn};

/// After so many schedules in a row that bring no new outcome of a branch, every other one is solved for.
const STALLED: u32 = 32;

/// A strategy that has its orders from another one, and solves for inputs.
///
/// It records on the thread that runs its schedules, of which there is one. An execution that is solved for
/// begins with the choices and the inputs that led to the branch; from there on both are drawn again.
pub struct Guided {
    inputs: Inputs,
    orders: Box<dyn Strategy>,
    coverage: Arc<Mutex<Coverage>>,
    live: Option<Box<Live>>,
}

/// What belongs to a thread.
struct Live {
    execution: Execution,
    agenda: Agenda,
    /// How many schedules in a row have brought nothing.
    stalled: u32,
}

impl Guided {
    /// Comes to inputs in this way, which is not depth first, and leaves what it covered in `coverage`.
    pub fn new(
        inputs: Inputs,
        orders: Box<dyn Strategy>,
        coverage: Arc<Mutex<Coverage>>,
    ) -> Guided {
        Guided { inputs, orders, coverage, live: None }
    }

    /// What is under way; a schedule was begun.
    fn parts(&mut self) -> (&mut dyn Strategy, &mut Live) {
        let live = self.live.get_or_insert_with(|| Box::new(Live::new(&self.coverage)));
        (&mut *self.orders, live)
    }
}

impl Live {
    fn new(coverage: &Arc<Mutex<Coverage>>) -> Live {
        let execution = Execution::new(Arc::clone(coverage));
        Live { execution, agenda: Agenda::default(), stalled: 0 }
    }
}

/// A copy is for another thread, and has recorded nothing.
impl Clone for Guided {
    fn clone(&self) -> Guided {
        Guided::new(self.inputs, self.orders.clone(), Arc::clone(&self.coverage))
    }
}

impl Strategy for Guided {
    fn begin(&mut self, schedule: u64) -> bool {
        let random = self.inputs == Inputs::Random;
        let (orders, live) = self.parts();
        let Live { execution, agenda, stalled } = live;
        let solves = !random || (*stalled >= STALLED && schedule.is_multiple_of(2));
        let begins = solves.then(|| agenda.next(&mut execution.driver)).flatten();
        // With one order, and nothing left to turn round, all paths have been taken.
        if !random && schedule > 0 && begins.is_none() && !execution.chose && agenda.is_complete() {
            return false;
        }
        execution.begin(begins);
        orders.begin(schedule)
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        let (orders, live) = self.parts();
        let known = match live.execution.foreseen() {
            Some(Choice::Worker(worker)) => Some(worker).filter(|w| point.enabled.contains(w)),
            _ => None,
        };
        let worker = known.map_or_else(|| orders.worker(point), Ok)?;
        live.execution.step(worker, point.enabled.len());
        Ok(worker)
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        let random = self.inputs == Inputs::Random;
        let (orders, live) = self.parts();
        if tag == Tag::Program {
            let mut draw = || if random { orders.value(of, tag).unwrap_or(0) } else { 0 };
            if let Some(index) = live.execution.driver.value_or(of, || draw().min(of - 1)) {
                return Ok(index);
            }
        }
        let index = match live.execution.foreseen() {
            Some(Choice::Value { index, of: among, tag: known }) if (among, known) == (of, tag) => {
                index
            }
            _ => orders.value(of, tag)?,
        };
        live.execution.value(index, of, tag);
        Ok(index)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, EndSchedule> {
        let (orders, live) = self.parts();
        let known = match live.execution.foreseen() {
            Some(Choice::Delivery(message)) => candidates.iter().position(|&one| one == message),
            _ => None,
        };
        let place = known.map_or_else(|| orders.delivery(candidates), Ok)?;
        if let Some(&message) = candidates.get(place) {
            live.execution.delivery(message, candidates.len());
        }
        Ok(place)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        let random = self.inputs == Inputs::Random;
        let (orders, live) = self.parts();
        let mut drawn = || if random { orders.input(asked).ok() } else { None };
        Ok(live.execution.driver.input_or(asked, || drawn().unwrap_or(asked.given)))
    }

    fn name(&self) -> String {
        format!("concolic({}, {})", self.inputs, self.orders.name())
    }

    fn reseed(&mut self, seed: u64) {
        self.orders.reseed(seed);
    }

    fn properties(&self) -> Properties {
        Properties {
            sequential: true,
            listens: true,
            varies_inputs: true,
            draws_alike: false,
            ..self.orders.properties()
        }
    }

    fn heard(&mut self, event: &Event<Text<'_>>) {
        let (orders, live) = self.parts();
        live.execution.order.event(event);
        if orders.properties().listens {
            orders.heard(event);
        }
    }

    fn coverage(&self) -> Option<String> {
        let mut coverage = self.coverage.lock().unwrap_or_else(PoisonError::into_inner);
        let live = self.live.as_ref()?;
        coverage.drawn = Some(Drawn { dropped: live.agenda.dropped(), ..live.execution.drawn() });
        None
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

/// The end of a schedule is told to who learns.
impl Learner for Guided {
    fn lesson(&mut self, last: Option<&dyn System>) -> Option<Lesson> {
        let (orders, live) = self.parts();
        let Live { execution, agenda, stalled } = live;
        let ended = execution.end();
        *stalled = if ended.brought > 0 { 0 } else { *stalled + 1 };
        agenda.add(ended);
        orders.learner()?.lesson(last)
    }

    fn learn(&mut self, batch: &[Outcome]) {
        if let Some(learner) = self.orders.learner() {
            learner.learn(batch);
        }
    }
}

/// Runs as many schedules of a program as the options say, with orders by the strategy of the options.
pub(crate) fn guided<P: Program + 'static>(
    program: Arc<P>,
    inputs: Inputs,
    mut options: Options,
    sink: Arc<dyn Sink>,
) -> (Report, Coverage) {
    let coverage: Arc<Mutex<Coverage>> = Arc::default();
    let mut orders = options.strategy;
    let mut note = None;
    if orders.properties().sequential {
        // Its schedules depend on the one before, which begins otherwise here.
        let random = StrategyKind::default().build(options.seed, options.max_steps);
        note = Some(format!(
            "Orders were drawn by {}: {} goes on from the schedule before, which inputs change.",
            random.name(),
            orders.name(),
        ));
        orders = random;
    }
    options.strategy = Box::new(Guided::new(inputs, orders, Arc::clone(&coverage)));
    let mut report = dally_search::run(program, options, sink);
    let coverage = coverage.lock().unwrap_or_else(PoisonError::into_inner).clone();
    report.stated = Some(coverage.stated());
    report.notes.extend(note);
    report.notes.extend(coverage.holes());
    (report, coverage)
}
