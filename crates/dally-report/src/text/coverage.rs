//! What a run covered and why it ended, in sentences.

use dally_core::foreign::{Foreign, ForeignKind, ForeignUse};
use dally_core::report::{Classes, Ended, MAX_OBSERVATIONS, Report, Samples, States};
use dally_core::words::{count, grouped, visible};

/// What a run covered.
///
/// ```
/// use dally_core::{Ended, Report};
/// use dally_report::text::coverage;
///
/// let mut report = Report::new("ping-pong", "per-send");
/// (report.strategy, report.schedules) = ("pct(3)".into(), 12);
/// report.ended = Ended::Time;
/// assert_eq!(coverage(&report), "sampled 12 schedules by pct(3), until the time was up");
/// ```
pub fn coverage(report: &Report) -> String {
    let (schedules, cut) = (count(report.schedules, "schedule"), grouped(report.cut));
    let by = &report.strategy;
    let more = stated(report);
    if let Some(classes) = &report.classes {
        return of_classes(report, classes) + &more + until(report.ended);
    }
    match (&report.states, report.ended) {
        (Some(states), ended) => match &states.samples {
            Some(samples) => sampled(states, samples) + &more + until(ended),
            None => searched(states, ended) + &more + until(ended),
        },
        (None, Ended::Exhausted) if report.cut == 0 => format!("exhausted: {schedules}{more}"),
        (None, Ended::Exhausted) => format!(
            "exhausted up to the step bound of {}: {schedules}, {cut} of them cut by the bound\
             {more}",
            grouped(report.max_steps as u64),
        ),
        (None, ended) if report.cut == 0 => {
            format!("sampled {schedules} by {by}{more}{}", until(ended))
        }
        (None, ended) => {
            let until = until(ended);
            format!("sampled {schedules} by {by}, {cut} of them cut by a bound{more}{until}")
        }
    }
}

/// What the strategy or search states of its own coverage.
fn stated(report: &Report) -> String {
    let mut text = String::new();
    if report.redundant > 0 && report.classes.is_some() {
        text += &format!(", {} given up as redundant", count(report.redundant, "beginning"));
    } else if report.redundant > 0 {
        text += &format!(", {} of them ended as redundant", grouped(report.redundant));
    }
    if let Some(stated) = &report.stated {
        text += &format!(", {stated}");
    }
    if report.given_inputs {
        text += ", with the given inputs only";
    }
    if let Some(foreign) = &report.foreign {
        let nouns: Vec<_> = foreign.uses.iter().map(|used| used.kind.noun()).collect();
        text += &format!(", beside {}, which are not under control", listed(&nouns));
    }
    if !report.further_causes.is_empty() {
        let others = count(report.further_causes.len() as u64, "further cause");
        text += &format!(", bugs of {others} counted and not kept");
    }
    text
}

/// Words with commas between them, and `and` before the last.
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Why a run stopped.
pub fn stopped(report: &Report) -> &'static str {
    match report.ended {
        Ended::Schedules => "all schedules were run",
        Ended::Bug => "a bug was found",
        Ended::Exhausted if !report.is_exhausted() => "nothing is left to try",
        Ended::Exhausted if report.classes.is_some() => "there are no further classes",
        Ended::Exhausted if report.states.is_some() => "there are no further states",
        Ended::Exhausted => "there are no further schedules",
        Ended::Bound => "the last bound asked for was completed",
        Ended::Memory => "the memory was full",
        Ended::Unsound => "the explorer is not sound",
        Ended::Time => "the time was up",
        Ended::Interrupted => "it was interrupted",
        Ended::Stuck => "a step did not come back",
        // `Failed`, and reasons that this version does not know.
        _ => "the run itself failed",
    }
}

/// Further remarks on a run, a sentence each.
pub fn notes(report: &Report) -> Vec<String> {
    let mut notes = report.notes.clone();
    if report.observations >= MAX_OBSERVATIONS as u64 {
        let bound = grouped(MAX_OBSERVATIONS as u64);
        notes.push(format!("Observations were told apart up to {bound}."));
    }
    notes.iter().map(|note| visible(note).into_owned()).collect()
}

/// What a reader has to know of what is not under control, a sentence each; that nothing was explored comes first.
pub fn foreign(foreign: &Foreign) -> Vec<String> {
    foreign.uses.iter().map(|used| beyond(used, foreign.only)).collect()
}

fn beyond(used: &ForeignUse, only: bool) -> String {
    let what = match used.kind {
        ForeignKind::Futures if only => {
            "nothing was explored: tasks wait only for futures that Dally does not control, such as those of \
             async-channel or of another runtime; the first is"
        }
        ForeignKind::Futures => {
            "tasks wait for futures that Dally does not control, too, and nobody steps before their operations; the \
             first is"
        }
        ForeignKind::Threads => {
            "tasks start threads of the system, whose steps are not explored and not the same in every schedule; \
             the first that did is"
        }
        ForeignKind::Blocking => {
            "tasks block their threads, where nobody else can step, and for what comes from elsewhere; the first \
             that did is"
        }
        ForeignKind::Sockets => {
            "tasks use real sockets, whose other ends are not explored and not the same in every schedule; the first \
             that did is"
        }
        ForeignKind::FileLocks => {
            "tasks lock real files, which others may lock too, and nobody steps before that; the first that did is"
        }
        _ => "something is not under control; the first that did it is",
    };
    let by_call = used.call.as_ref().map_or_else(String::new, |call| format!(", by {call}"));
    visible(&format!("{what} {}{by_call}", used.by)).into_owned()
}

/// What cut the run short, as the end of a sentence; empty for a run that was not cut short.
fn until(ended: Ended) -> &'static str {
    match ended {
        Ended::Schedules | Ended::Exhausted | Ended::Bound => "",
        Ended::Bug => ", up to the first bug",
        Ended::Time => ", until the time was up",
        Ended::Memory => ", until the memory was full",
        Ended::Interrupted => ", until it was interrupted",
        Ended::Stuck => ", until a step did not come back",
        Ended::Unsound => ", until the explorer turned out not to be sound",
        _ => ", until the run itself failed",
    }
}

/// What a search with partial-order reduction covered.
fn of_classes(report: &Report, classes: &Classes) -> String {
    let all = match classes.classes {
        1 => "1 class of schedules".to_owned(),
        many => format!("{} classes of schedules", grouped(many)),
    };
    let mut text = match report.ended {
        Ended::Exhausted if report.cut == 0 && classes.are_all() => {
            format!("exhausted: all {all}")
        }
        Ended::Bound => format!("{all} within the bound"),
        Ended::Exhausted | Ended::Bug => all,
        _ => {
            let [estimate, spread] = [classes.estimate, classes.spread].map(|n| grouped(n as u64));
            format!("{all}, of an estimated {estimate} (standard deviation {spread})")
        }
    };
    if report.schedules > classes.classes {
        text += &format!(", in {} schedules", grouped(report.schedules));
    }
    if report.cut > 0 {
        let bound = grouped(report.max_steps as u64);
        let cut = count(report.cut, "execution");
        text += &format!(", {cut} cut by the step bound of {bound}, so classes may be missing");
    }
    if classes.irrelevant > 0 {
        text += &format!(", {} outside its assumptions", count(classes.irrelevant, "execution"));
    }
    if classes.abandoned > 0 {
        let some = count(classes.abandoned, "execution");
        text += &format!(" ({some} while others could step, so classes may be missing)");
    }
    if classes.astray > 0 {
        text += ", and steps that differed in another order: the front end does not tell all that \
                 steps touch, so classes may be missing";
    }
    text
}

fn searched(states: &States, ended: Ended) -> String {
    let counted = counted(states);
    let bound = states.completed().map(|bound| bound_completed(states, bound));
    let said = match (ended, bound) {
        (Ended::Exhausted, _) if states.is_exhausted() => format!("exhausted: {counted}"),
        (Ended::Exhausted, _) => format!("nothing is left to try: {counted}"),
        (Ended::Bound, Some(bound)) => format!("{bound}: {counted}"),
        (Ended::Bound, None) => counted,
        (_, Some(bound)) => format!("visited {counted}, {bound}"),
        (_, None) => format!("visited {counted}"),
    };
    said + &limits(states)
}

fn bound_completed(states: &States, bound: u32) -> String {
    format!("{} bound {} completed", states.unit, grouped(bound.into()))
}

fn counted(states: &States) -> String {
    let visits = match (states.forgets(), states.with_explorer, states.states) {
        (true, _, 1) => "1 visit of a state".to_owned(),
        (true, _, n) => format!("{} visits of states", grouped(n)),
        (false, true, 1) => "1 state with its explorer".to_owned(),
        (false, true, n) => format!("{} states with their explorers", grouped(n)),
        (false, false, n) => count(n, "state"),
    };
    format!("{visits}, {}", count(states.transitions, "transition"))
}

/// What the claim of coverage depends on, or why it is not made.
fn limits(states: &States) -> String {
    let mut text = String::new();
    if states.cut > 0 {
        text += &format!(", {} of them cut by the step bound", grouped(states.cut));
    }
    if states.sealed > 0 {
        text += &format!(", {} of them sealed and left by one way only", grouped(states.sealed));
    }
    if states.cyclic && states.forgets() {
        text += ", with a cache that forgets in a program that goes in circles";
    }
    if states.replayed {
        text += ", assuming controlled sharing";
    }
    text
}

fn sampled(states: &States, samples: &Samples) -> String {
    let mut text = String::new();
    if samples.from_frontier > 0 {
        text += &format!("visited {}, ", counted(states));
        if let Some(bound) = states.completed() {
            text += &format!("{}, ", bound_completed(states, bound));
        }
        text += "then ";
    }
    text += &format!("sampled {}", count(samples.executions, "schedule"));
    if samples.delays > 0 {
        text += &format!(" with up to {}", count(samples.delays.into(), "delay"));
    }
    text + &chance(samples)
}

/// Theorem 3 of Desai, Qadeer and Seshia, "Systematic Testing of Asynchronous Reactive Systems",
/// applied to each execution. Every sample starts in a state of the frontier, drawn uniformly. `L`
/// must bound all executions, which the observed ones cannot show.
fn chance(samples: &Samples) -> String {
    let (from, beyond) = match samples.from_frontier {
        0 => (1, ""),
        states => (states, " beyond the frontier"),
    };
    let mut factors = Vec::new();
    if from > 1 {
        factors.push(format!("1/{}", grouped(from)));
    }
    if samples.delays > 0 {
        factors.push(format!("1/{}^{}", grouped(samples.longest as u64), samples.delays));
    }
    if factors.is_empty() {
        return String::new();
    }
    let mut text =
        format!(": each such execution{beyond} had a chance of at least {}", factors.join(" · "));
    text += " in each of its samples";
    if samples.random_order && samples.delays > 0 {
        text += ", in the order that the explorer drew for the sample";
    }
    if samples.delays > 0 {
        text += &format!(", if none has more than {}", count(samples.longest as u64, "step"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_says_what_was_done_and_what_cut_it_short() {
        let said = |schedules, cut, ended| {
            let mut report = Report::new("test", "step");
            report.strategy = "pct(3)".into();
            (report.schedules, report.cut, report.ended) = (schedules, cut, ended);
            report.max_steps = 10_000;
            coverage(&report)
        };
        insta::assert_snapshot!(said(90, 0, Ended::Exhausted), @"exhausted: 90 schedules");
        insta::assert_snapshot!(said(1, 1, Ended::Exhausted), @"exhausted up to the step bound of 10,000: 1 schedule, 1 of them cut by the bound");
        insta::assert_snapshot!(said(1_000, 0, Ended::Schedules), @"sampled 1,000 schedules by pct(3)");
        insta::assert_snapshot!(said(12, 3, Ended::Time), @"sampled 12 schedules by pct(3), 3 of them cut by a bound, until the time was up");
    }

    #[test]
    fn classes_are_all_or_so_many_of_an_estimate() {
        let mut report = Report::new("senders", "per-send");
        report.ended = Ended::Exhausted;
        let mut classes = Classes::default();
        (classes.classes, classes.estimate, classes.spread) = (90, 340.4, 25.0);
        report.classes = Some(classes);
        assert_eq!(coverage(&report), "exhausted: all 90 classes of schedules");
        assert_eq!(stopped(&report), "there are no further classes");
        (report.cut, report.max_steps) = (2, 1_000);
        assert_eq!(
            coverage(&report),
            "90 classes of schedules, 2 executions cut by the step bound of 1,000, so classes may be \
             missing"
        );
        report.cut = 0;
        (report.schedules, report.ended) = (120, Ended::Bound);
        assert_eq!(coverage(&report), "90 classes of schedules within the bound, in 120 schedules");
        assert!(!report.is_exhausted());
        (report.redundant, report.schedules, report.ended) = (1, 90, Ended::Time);
        assert_eq!(
            coverage(&report),
            "90 classes of schedules, of an estimated 340 (standard deviation 25), 1 beginning given \
             up as redundant, until the time was up"
        );
    }

    #[test]
    fn coverage_says_what_was_redundant_and_what_the_strategy_states() {
        let mut report = Report::new("test", "step");
        (report.schedules, report.redundant, report.ended) = (90, 50, Ended::Exhausted);
        report.stated = Some("every order of sends".into());
        insta::assert_snapshot!(coverage(&report), @"exhausted: 90 schedules, 50 of them ended as redundant, every order of sends");
        report.given_inputs = true;
        (report.strategy, report.cut) = ("dpor".into(), 2);
        insta::assert_snapshot!(coverage(&report), @"exhausted up to the step bound of 0: 90 schedules, 2 of them cut by the bound, 50 of them ended as redundant, every order of sends, with the given inputs only");
        report.ended = Ended::Time;
        insta::assert_snapshot!(coverage(&report), @"sampled 90 schedules by dpor, 2 of them cut by a bound, 50 of them ended as redundant, every order of sends, with the given inputs only, until the time was up");
    }

    #[test]
    fn what_was_not_kept_is_said() {
        let mut report = Report::new("test", "step");
        report.notes.push("It was dark.".into());
        report.further_causes = [1, 2].map(|cause| (dally_core::Cause(cause), 1)).to_vec();
        report.observations = MAX_OBSERVATIONS as u64;
        insta::assert_snapshot!(coverage(&report), @"sampled 0 schedules by , bugs of 2 further causes counted and not kept");
        insta::assert_snapshot!(notes(&report).join("\n"), @r"
        It was dark.
        Observations were told apart up to 4,194,304.
        ");
    }

    #[test]
    fn the_chance_of_a_sample_has_a_factor_for_the_frontier_and_a_condition_on_the_longest_execution()
     {
        let said = |delays, from_frontier| {
            let mut samples = Samples::default();
            (samples.executions, samples.longest) = (500, 30);
            (samples.delays, samples.from_frontier) = (delays, from_frontier);
            sampled(&States::default(), &samples)
        };
        insta::assert_snapshot!(said(2, 0), @"sampled 500 schedules with up to 2 delays: each such execution had a chance of at least 1/30^2 in each of its samples, if none has more than 30 steps");
        insta::assert_snapshot!(said(2, 1_200), @"visited 0 states, 0 transitions, then sampled 500 schedules with up to 2 delays: each such execution beyond the frontier had a chance of at least 1/1,200 · 1/30^2 in each of its samples, if none has more than 30 steps");
        insta::assert_snapshot!(said(0, 1_200), @"visited 0 states, 0 transitions, then sampled 500 schedules: each such execution beyond the frontier had a chance of at least 1/1,200 in each of its samples");
        insta::assert_snapshot!(said(0, 0), @"sampled 500 schedules");
    }

    #[test]
    fn the_chance_of_a_sample_under_a_random_explorer_is_one_in_the_order_drawn() {
        let mut samples = Samples::default();
        (samples.executions, samples.longest, samples.delays) = (500, 30, 2);
        samples.random_order = true;
        let text = sampled(&States::default(), &samples);
        insta::assert_snapshot!(text, @"sampled 500 schedules with up to 2 delays: each such execution had a chance of at least 1/30^2 in each of its samples, in the order that the explorer drew for the sample, if none has more than 30 steps");
    }
}
