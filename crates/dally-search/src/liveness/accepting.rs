//! A liveness property given directly, as a relation on states.

use std::sync::Arc;

use dally_core::{
    Acceptance, Bug, Captured, Env, Fingerprint, Footprint, Observe, Program, StateVisitor, Status,
    Stop, System, WorkerId,
};

/// A program with a liveness property of its own: a relation E on states. A cycle with a transition
/// from one state to another that are so related is a bug (Desai, Qadeer, Rajamani and Seshia,
/// "Iterative Cycle Detection via Delaying Explorers", section 4.2).
///
/// ```
/// # use dally_core::*;
/// # use std::sync::Arc;
/// use dally_search::liveness::Accepting;
/// use dally_search::strata::{Plan, RoundRobin, SearchKind, explore};
/// use dally_search::Options;
/// # #[derive(Clone)] struct Count(u8, [WorkerId; 1]);
/// # struct Clock;
/// # impl Program for Clock {
/// #     type System = Count;
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
/// // The hand of a clock passes from 11 to 0 again and again.
/// let clock = Accepting::new(Clock, "midnight", |before: &Count, after: &Count| {
///     before.0 == 11 && after.0 == 0
/// });
/// let plan = Plan { search: SearchKind::Map, ..Plan::default() };
/// let (order, options) = (RoundRobin::default(), Options::default());
/// let report = explore(Arc::new(clock), order, plan, options, Arc::new(()));
/// assert_eq!(report.findings[0].bug.kind(), BugKind::Livelock);
/// ```
pub struct Accepting<P, F> {
    program: Arc<P>,
    name: &'static str,
    relation: Arc<F>,
}

/// The place of the property among the monitors of the program: the last.
const PLACE: usize = 63;

impl<P: Program, F> Accepting<P, F>
where
    F: Fn(&P::System, &P::System) -> bool,
{
    /// This program with this relation, under a name for reports. The program has at most 63
    /// monitors of its own.
    pub fn new(program: P, name: &'static str, relation: F) -> Accepting<P, F> {
        Accepting { program: Arc::new(program), name, relation: Arc::new(relation) }
    }
}

/// A live execution that knows whether its last transition is in the relation.
pub struct Related<S, F> {
    live: S,
    /// The state before the last step; kept for its memory.
    before: S,
    related: bool,
    name: &'static str,
    relation: Arc<F>,
}

impl<P, F> Program for Accepting<P, F>
where
    P: Program<System: Captured>,
    F: Fn(&P::System, &P::System) -> bool + Send + Sync + 'static,
{
    type System = Related<P::System, F>;

    fn name(&self) -> &str {
        self.program.name()
    }

    fn start(&self) -> Result<Self::System, Bug> {
        let live = self.program.start()?;
        let (before, relation) = (live.fork(), self.relation.clone());
        Ok(Related { live, before, related: false, name: self.name, relation })
    }

    fn granularity(&self) -> &'static str {
        self.program.granularity()
    }

    fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
        self.program.clone().states(RelatedVisitor { outer: self, visitor })
    }
}

/// Passes on what a program says of its states to the visitor of the program around it.
struct RelatedVisitor<O, V> {
    outer: Arc<O>,
    visitor: V,
}

impl<P, F, V> StateVisitor<P> for RelatedVisitor<Accepting<P, F>, V>
where
    P: Program<System: Captured>,
    F: Fn(&P::System, &P::System) -> bool + Send + Sync + 'static,
    V: StateVisitor<Accepting<P, F>>,
{
    type Output = V::Output;

    fn copied(self, _: Arc<P>) -> V::Output
    where
        P::System: Captured + Send + 'static,
    {
        self.visitor.copied(self.outer)
    }

    fn replayed(self, _: Arc<P>, why: Option<String>) -> V::Output {
        self.visitor.replayed(self.outer, why)
    }
}

impl<S: Captured, F: Fn(&S, &S) -> bool> System for Related<S, F> {
    fn enabled(&self) -> &[WorkerId] {
        self.live.enabled()
    }

    fn pending(&self, worker: WorkerId, out: &mut Footprint) {
        self.live.pending(worker, out);
    }

    fn pending_lasts(&self) -> bool {
        self.live.pending_lasts()
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        self.before.restore_from(&self.live);
        self.live.step(worker, env)?;
        self.related = (self.relation)(&self.before, &self.live);
        Ok(())
    }

    fn status(&self) -> Status {
        self.live.status()
    }

    fn acceptance(&self) -> Acceptance {
        let inner = self.live.acceptance();
        Acceptance { visits: inner.visits | u64::from(self.related) << PLACE, ..inner }
    }

    fn observe(&self, how: Observe) -> Option<u64> {
        self.live.observe(how)
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        self.live.fingerprint()
    }

    fn sealed(&self) -> bool {
        self.live.sealed()
    }

    fn rare(&self) -> bool {
        self.live.rare()
    }

    fn name(&self, worker: WorkerId) -> String {
        self.live.name(worker)
    }

    fn monitor(&self, index: usize) -> (String, String) {
        match index {
            PLACE => (self.name.to_owned(), "Related".to_owned()),
            _ => self.live.monitor(index),
        }
    }

    fn end(&mut self) -> Result<(), Bug> {
        self.live.end()
    }
}

impl<S: Captured, F: Fn(&S, &S) -> bool> Captured for Related<S, F> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.live.encode(out);
    }

    fn parts(&self, part: &mut dyn FnMut(&[u8])) {
        self.live.parts(part);
    }

    fn fork(&self) -> Self {
        Related {
            live: self.live.fork(),
            before: self.before.fork(),
            related: self.related,
            name: self.name,
            relation: self.relation.clone(),
        }
    }

    fn footprint(&self) -> usize {
        2 * self.live.footprint()
    }

    fn restore_from(&mut self, saved: &Self) {
        self.live.restore_from(&saved.live);
        self.related = saved.related;
    }

    fn condense(&mut self) {
        self.live.condense();
    }
}
