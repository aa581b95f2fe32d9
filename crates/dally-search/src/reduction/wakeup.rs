//! Wakeup trees: how executions that must still be explored from a node begin (Abdulla, Aronis,
//! Jonsson and Sagonas, "Optimal Dynamic Partial Order Reduction").

use std::sync::Arc;

use dally_core::WorkerId;

use super::step::Step;

/// A step to be taken, and what is to be taken after it; any steps if there is nothing.
#[derive(Debug)]
pub(crate) struct Branch<A> {
    pub(crate) next: Next,
    pub(crate) then: Vec<Branch<A>>,
    /// The inputs of the execution that showed that it must be explored.
    pub(crate) inputs: Option<A>,
    /// Other sequences that need not be explored if this is. It may turn out that it is not: that
    /// its worker cannot step there, or that something sleeps after it.
    pub(crate) covers: Covered<A>,
}

/// Sequences with the inputs that they need.
pub(crate) type Covered<A> = Vec<(Sequence, Option<A>)>;

/// The next step of an execution.
#[derive(Clone, Debug)]
pub(crate) enum Next {
    /// This very step.
    Exactly(Arc<Step>),
    /// Whatever the worker does there, with all that it can pick. In another order the worker took
    /// this step, if it is known.
    Any(WorkerId, Option<Arc<Step>>),
}

/// The beginning of an execution that must be explored: steps of an execution and, at the end, one
/// that is to come before another.
#[derive(Clone, Debug)]
pub(crate) struct Sequence(pub(crate) Vec<Next>);

impl<A> Branch<A> {
    /// Whatever the worker does, and then any steps.
    pub(crate) fn any(worker: WorkerId) -> Branch<A> {
        Branch { next: Next::Any(worker, None), then: Vec::new(), inputs: None, covers: Vec::new() }
    }
}

impl Next {
    pub(crate) fn worker(&self) -> WorkerId {
        match self {
            Next::Exactly(step) => step.worker,
            Next::Any(worker, _) => *worker,
        }
    }

    fn view(&self) -> View<'_> {
        match self {
            Next::Exactly(step) => View::exactly(step),
            Next::Any(worker, like) => View::any(*worker, like.as_deref()),
        }
    }
}

/// A [`Next`] that is only looked at.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    worker: WorkerId,
    /// The step itself, or what it was in another order.
    like: Option<&'a Step>,
    is_exact: bool,
}

impl<'a> View<'a> {
    pub(crate) fn exactly(step: &'a Step) -> View<'a> {
        View { worker: step.worker, like: Some(step), is_exact: true }
    }

    pub(crate) fn any(worker: WorkerId, like: Option<&'a Step>) -> View<'a> {
        View { worker, like, is_exact: false }
    }

    fn is_independent_of(self, other: View<'_>) -> bool {
        match (self.like, other.like) {
            (Some(one), Some(other)) => !one.depends(other),
            // If a step of what is still explored is dependent after all, that shows then.
            _ => !self.is_exact,
        }
    }
}

/// How a step can begin a sequence.
enum Initial {
    /// It is this element, and nothing before it in the sequence happens before it.
    Element(usize),
    /// It is not in the sequence, and independent of all of it.
    Besides,
}

/// Whether an execution that begins with this step can go on with the sequence of the others: the step is one
/// of its weak initials.
fn begins_with<'a>(
    sequence: impl Iterator<Item = View<'a>> + Clone,
    first: View<'_>,
) -> Option<Initial> {
    let Some(at) = sequence.clone().position(|element| element.worker == first.worker) else {
        // A step that picks something is no beginning of what goes on with another pick.
        if first.like.is_some_and(|step| step.had_options) {
            return None;
        }
        let mut sequence = sequence;
        let independent = sequence.all(|element| first.is_independent_of(element));
        return independent.then_some(Initial::Besides);
    };
    let mut before = sequence.clone().take(at);
    let element = sequence.clone().nth(at)?;
    let fits = match (element.like, first.like) {
        _ if !first.is_exact => true,
        (Some(one), Some(other)) if element.is_exact => one.is(other),
        // Other picks than those of the step are wanted too, if there may be others.
        (_, Some(step)) => {
            let arrives = |element: View<'_>| {
                let sent = element.like.filter(|_| element.is_exact);
                sent.is_some_and(|sent| sent.receivers().any(|to| to == step.worker))
            };
            !step.had_options && !before.clone().any(arrives)
        }
        (_, None) => false,
    };
    let alone = fits && before.all(|before| first.is_independent_of(before));
    alone.then_some(Initial::Element(at))
}

/// Whether everything that begins with a sequence was explored when these steps were. What its last step
/// touches in this order may not be known.
pub(crate) fn is_covered<'a>(
    sequence: impl Iterator<Item = View<'a>> + Clone,
    asleep: &[Arc<Step>],
) -> bool {
    asleep.iter().any(|step| match begins_with(sequence.clone(), View::exactly(step)) {
        None => false,
        Some(Initial::Element(_)) => true,
        Some(Initial::Besides) => sequence.clone().last().is_none_or(|last| last.is_exact),
    })
}

impl Sequence {
    fn views(&self) -> impl Iterator<Item = View<'_>> + Clone {
        self.0.iter().map(Next::view)
    }

    /// Whether everything that begins with the sequence was explored when these steps were.
    pub(crate) fn is_covered_by(&self, asleep: &[Arc<Step>]) -> bool {
        is_covered(self.views(), asleep)
    }

    /// Whether the worker of this step picks something else in the sequence.
    pub(crate) fn picks_other_than(&self, step: &Step) -> bool {
        let first = self.0.iter().find(|element| element.worker() == step.worker);
        matches!(first, Some(Next::Exactly(wanted)) if !wanted.is(step))
    }

    /// Puts the sequence into a tree, unless a branch covers it.
    pub(crate) fn insert<A: Clone>(mut self, mut tree: &mut Vec<Branch<A>>, inputs: Option<&A>) {
        loop {
            let found = tree.iter().enumerate().find_map(|(place, branch)| {
                Some((place, begins_with(self.views(), branch.next.view())?))
            });
            let Some((place, initial)) = found else { break };
            let branch = &mut tree[place];
            let element = matches!(initial, Initial::Element(_));
            if branch.then.is_empty() || element && self.0.len() == 1 {
                // It is the same as the branch, or covered by it.
                let same = branch.then.is_empty() && element && self.0.len() == 1;
                if !same && !branch.covers.iter().any(|(known, _)| known.is(&self)) {
                    branch.covers.push((self, inputs.cloned()));
                }
                return;
            }
            if let Initial::Element(at) = initial {
                self.0.remove(at);
            }
            tree = &mut branch.then;
        }
        let mut then = Vec::new();
        for next in self.0.into_iter().rev() {
            then = vec![Branch { next, then, inputs: inputs.cloned(), covers: Vec::new() }];
        }
        tree.append(&mut then);
    }

    fn is(&self, other: &Sequence) -> bool {
        let same = |(one, other): (&Next, &Next)| match (one, other) {
            (Next::Exactly(one), Next::Exactly(other)) => one.is(other),
            (Next::Any(one, _), Next::Any(other, _)) => one == other,
            _ => false,
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(same)
    }
}
