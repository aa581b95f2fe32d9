//! Patterns of properties over time that need no monitor written by hand: what holds always, again
//! and again, from some moment on, or after something else.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc as StdArc;

use crate::bug::{Bug, Problem, Violation};
use crate::monitor::{Announcement, Heat, IntoMonitor, Monitor, SharedMonitor};

/// A named statement that holds or not at every moment, as the program's announcements make it.
///
/// ```
/// use dally_core::Proposition;
///
/// # #[derive(Debug)] struct Opened;
/// # #[derive(Debug)] struct Shut { floor: u8 }
/// // False at the start. An event may also leave it as it is.
/// let open = Proposition::new("open")
///     .on(|_: &Opened| true)
///     .on(|shut: &Shut| (shut.floor == 1).then_some(false));
/// ```
#[derive(Clone)]
pub struct Proposition {
    name: &'static str,
    holds: bool,
    rules: StdArc<[Rule]>,
}

/// A statement that is true at the moment of an announcement, and false before and after.
#[derive(Clone)]
pub struct Moment(Proposition);

/// A side of [`Property::leads_to`]: a [`Proposition`] or a [`Moment`].
#[derive(Clone, Debug)]
pub struct Cue {
    proposition: Proposition,
    passes: bool,
}

/// What an event does to a proposition.
#[derive(Clone)]
struct Rule {
    event: TypeId,
    apply: StdArc<Apply>,
}

/// The new truth of a proposition after an event; `None` if it stays as it is.
type Apply = dyn Fn(&dyn Any) -> Option<bool> + Send + Sync;

impl Rule {
    fn of<T: Announcement, R: Into<Option<bool>>>(
        rule: impl Fn(&T) -> R + Send + Sync + 'static,
    ) -> Rule {
        let apply = move |event: &dyn Any| rule(event.downcast_ref::<T>()?).into();
        Rule { event: TypeId::of::<T>(), apply: StdArc::new(apply) }
    }
}

impl Proposition {
    /// A proposition that does not hold at the start.
    pub fn new(name: &'static str) -> Proposition {
        Proposition { name, holds: false, rules: StdArc::new([]) }
    }

    /// The same proposition, which holds at the start.
    #[must_use]
    pub fn at_first(mut self) -> Proposition {
        self.holds = true;
        self
    }

    /// With every announcement of this type it becomes what the rule says; `None` leaves it.
    #[must_use]
    pub fn on<T: Announcement, R: Into<Option<bool>>>(
        mut self,
        rule: impl Fn(&T) -> R + Send + Sync + 'static,
    ) -> Proposition {
        self.rules = self.rules.iter().cloned().chain([Rule::of(rule)]).collect();
        self
    }

    fn observes(&self, event: TypeId) -> bool {
        self.rules.iter().any(|rule| rule.event == event)
    }

    fn hear(&mut self, event: &dyn Any) {
        for rule in self.rules.iter().filter(|rule| rule.event == event.type_id()) {
            self.holds = (rule.apply)(event).unwrap_or(self.holds);
        }
    }
}

impl Moment {
    /// The moments at which an event of this type is announced for which the rule holds.
    pub fn of<T: Announcement>(
        name: &'static str,
        rule: impl Fn(&T) -> bool + Send + Sync + 'static,
    ) -> Moment {
        Moment(Proposition::new(name).on(rule))
    }
}

impl From<Proposition> for Cue {
    fn from(proposition: Proposition) -> Cue {
        Cue { proposition, passes: false }
    }
}

impl From<Moment> for Cue {
    fn from(Moment(proposition): Moment) -> Cue {
        Cue { proposition, passes: true }
    }
}

impl fmt::Debug for Proposition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.holds)
    }
}

impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// A property of executions, put to work like any monitor.
///
/// What the patterns mean, on executions without end and on those that end:
///
/// | pattern | an execution without end | an execution that ends |
/// |---|---|---|
/// | [`always`](Property::always) `p` | `p` holds at every moment | the same |
/// | [`always_eventually`](Property::always_eventually) `p` | `p` holds again and again | `p` holds at the end |
/// | [`eventually_always`](Property::eventually_always) `p` | from some moment on `p` holds | `p` holds at the end |
/// | [`leads_to`](Property::leads_to) `p`, `q` | after every moment of `p`, or then, `q` holds some time | the same, before the end |
///
/// In a cycle a proposition holds again if it held at some moment of a step, even between two
/// announcements of the step. An execution that ends is judged as if it stayed in its last state
/// for ever. One that a bound has cut has not ended: only the monitor's temperature judges it.
///
/// ```
/// use dally_core::{Moment, Property};
///
/// # #[derive(Debug)] struct Asked(u32);
/// # #[derive(Debug)] struct Granted(u32);
/// let asked = Moment::of("7 asks", |asked: &Asked| asked.0 == 7);
/// let granted = Moment::of("7 is granted", |granted: &Granted| granted.0 == 7);
/// let answered = Property::leads_to("7 gets what it asks for", asked, granted);
/// ```
#[derive(Clone, Debug)]
pub struct Property {
    name: &'static str,
    pattern: Pattern,
}

#[derive(Clone, Debug)]
enum Pattern {
    Always(Proposition),
    AlwaysEventually(Proposition),
    EventuallyAlways(Proposition),
    LeadsTo { from: Cue, to: Cue, owed: bool },
}

impl Property {
    /// At every moment `p` holds: the first at which it does not is the bug.
    pub fn always(name: &'static str, p: Proposition) -> Property {
        Property { name, pattern: Pattern::Always(p) }
    }

    /// Again and again `p` holds: a bug is a fair cycle in which it never does.
    pub fn always_eventually(name: &'static str, p: Proposition) -> Property {
        Property { name, pattern: Pattern::AlwaysEventually(p) }
    }

    /// From some moment on `p` holds for ever: a bug is a fair cycle in which it does not hold at
    /// some moment. Hot and cold states cannot say that, since such a cycle need not stay where
    /// `p` does not hold.
    pub fn eventually_always(name: &'static str, p: Proposition) -> Property {
        Property { name, pattern: Pattern::EventuallyAlways(p) }
    }

    /// Whenever `p` holds, `q` holds then or later.
    ///
    /// A moment `q` answers every `p` up to it; a `p` that still holds is owed another `q` only
    /// once it is announced again.
    pub fn leads_to(name: &'static str, p: impl Into<Cue>, q: impl Into<Cue>) -> Property {
        let (from, to) = (p.into(), q.into());
        let owed = from.proposition.holds && !to.proposition.holds;
        Property { name, pattern: Pattern::LeadsTo { from, to, owed } }
    }

    /// An `always` that does not hold is a bug.
    fn check(&self) -> Result<(), Bug> {
        match &self.pattern {
            Pattern::Always(p) if !p.holds => {
                let violation = Violation::Always { proposition: p.name.to_owned() };
                Err(Bug::new(Problem::Monitor(violation)).by(self.name))
            }
            _ => Ok(()),
        }
    }
}

impl IntoMonitor for Property {
    fn into_monitor(self) -> Result<SharedMonitor, Bug> {
        self.check()?;
        Ok(SharedMonitor::new(self))
    }
}

impl Monitor for Property {
    fn name(&self) -> &'static str {
        self.name
    }

    fn observes(&self, event: TypeId) -> bool {
        match &self.pattern {
            Pattern::Always(p) | Pattern::AlwaysEventually(p) | Pattern::EventuallyAlways(p) => {
                p.observes(event)
            }
            Pattern::LeadsTo { from, to, .. } => {
                from.proposition.observes(event) || to.proposition.observes(event)
            }
        }
    }

    fn observe(&mut self, event: &dyn Any) -> Result<(), Bug> {
        match &mut self.pattern {
            Pattern::Always(p) | Pattern::AlwaysEventually(p) | Pattern::EventuallyAlways(p) => {
                p.hear(event);
            }
            Pattern::LeadsTo { from, to, owed } => {
                let held = to.proposition.holds;
                from.proposition.hear(event);
                to.proposition.hear(event);
                // `p` needs a `q` if it is announced now, or if a `q` that held ends now.
                let anew = from.proposition.observes(event.type_id()) || held;
                *owed = (*owed || from.proposition.holds && anew) && !to.proposition.holds;
                for cue in [from, to] {
                    cue.proposition.holds &= !cue.passes;
                }
            }
        }
        self.check()
    }

    fn state(&self) -> &'static str {
        match &self.pattern {
            Pattern::Always(_) => "Holds",
            Pattern::AlwaysEventually(p) | Pattern::EventuallyAlways(p) if p.holds => "Holds",
            Pattern::AlwaysEventually(_) | Pattern::EventuallyAlways(_) => "DoesNotHold",
            Pattern::LeadsTo { owed: true, .. } => "Owed",
            Pattern::LeadsTo { owed: false, .. } => "NothingOwed",
        }
    }

    fn heat(&self) -> Heat {
        match &self.pattern {
            Pattern::Always(_) => Heat::Neutral,
            Pattern::AlwaysEventually(p) | Pattern::EventuallyAlways(p) if p.holds => Heat::Cold,
            Pattern::LeadsTo { owed: false, .. } => Heat::Cold,
            _ => Heat::Hot,
        }
    }

    fn is_transient(&self) -> bool {
        matches!(&self.pattern, Pattern::EventuallyAlways(p) if !p.holds)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.push(match &self.pattern {
            Pattern::Always(p) | Pattern::AlwaysEventually(p) | Pattern::EventuallyAlways(p) => {
                p.holds.into()
            }
            Pattern::LeadsTo { from, to, owed } => {
                u8::from(*owed)
                    | u8::from(from.proposition.holds) << 1
                    | u8::from(to.proposition.holds) << 2
            }
        });
    }

    fn duplicate(&self) -> SharedMonitor {
        SharedMonitor::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Set(bool);
    #[derive(Debug)]
    struct Asked;
    #[derive(Debug)]
    struct Number(u8);
    #[derive(Debug)]
    struct Granted;

    fn light() -> Proposition {
        Proposition::new("light").on(|set: &Set| set.0)
    }

    /// The heat after each event, and whether the state may come back only finitely often.
    fn course(mut property: Property, events: &[&dyn Any]) -> Vec<(Heat, bool)> {
        let mut course = vec![(property.heat(), property.is_transient())];
        for &event in events {
            property.observe(event).unwrap();
            course.push((property.heat(), property.is_transient()));
        }
        course
    }

    #[test]
    fn always_is_broken_by_the_first_moment_at_which_it_does_not_hold() {
        let mut property = Property::always("lit", light().at_first());
        assert_eq!(property.observe(&Set(true)), Ok(()));
        let bug = property.observe(&Set(false)).unwrap_err();
        assert_eq!(bug.to_string(), "monitor: `light` does not hold (lit)");
        let at_the_start = Property::always("lit", light()).into_monitor();
        assert!(at_the_start.is_err());
    }

    #[test]
    fn what_must_hold_in_the_end_is_hot_while_it_does_not_and_may_fail_finitely_often() {
        let patterns = [Property::always_eventually, Property::eventually_always];
        for (pattern, transient) in patterns.into_iter().zip([false, true]) {
            let course = course(pattern("lit", light()), &[&Set(true), &Set(false)]);
            assert_eq!(
                course,
                [(Heat::Hot, transient), (Heat::Cold, false), (Heat::Hot, transient)]
            );
        }
    }

    #[test]
    fn a_promise_is_owed_from_its_cue_until_it_is_kept() {
        let asked = Moment::of("asked", |_: &Asked| true);
        let granted = Moment::of("granted", |_: &Granted| true);
        let property = Property::leads_to("answered", asked, granted);
        let events: [&dyn Any; 5] = [&Granted, &Asked, &Asked, &Granted, &Asked];
        let owed = [false, false, true, true, false, true];
        let heat = owed.map(|owed| (if owed { Heat::Hot } else { Heat::Cold }, false));
        assert_eq!(course(property, &events), heat);
    }

    #[test]
    fn a_promise_about_a_state_is_owed_again_when_the_state_outlasts_its_keeping() {
        let owed = |until: Moment, events: &[&dyn Any]| {
            let promise = Property::leads_to("answered", light(), until);
            course(promise, events)
                .into_iter()
                .map(|(heat, _)| heat == Heat::Hot)
                .collect::<Vec<_>>()
        };
        let asked = Moment::of("asked", |_: &Asked| true);
        let events: [&dyn Any; 4] = [&Set(true), &Asked, &Set(true), &Set(false)];
        assert_eq!(owed(asked, &events), [false, true, false, true, true]);
        let seven = Moment::of("7 is asked", |asked: &Number| asked.0 == 7);
        let events: [&dyn Any; 3] = [&Set(true), &Number(7), &Number(8)];
        assert_eq!(owed(seven, &events), [false, true, false, false], "8 is another's");
    }
}
