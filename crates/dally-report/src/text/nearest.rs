//! The nearest schedule that does not fail, in a sentence.

use dally_core::words::count;
use dally_core::{
    Access, BugKind, Choice, Edit, Event, Finding, Item, MessageId, Nearest, Tag, TraceStep,
    WorkerId,
};

use super::causality::{Fate, Messages, Names};
use super::story::Story;
use super::words::clip;

/// What would have had to be otherwise, such as: Had Server 0.1 received Vote from Server 0.2 (sent in step 7)
/// before Timeout from Timer 0.3 (sent in step 5), nothing would have happened.
pub(crate) fn sentence(finding: &Finding, nearest: &Nearest) -> String {
    let had = match &nearest.edit {
        Edit::Order { steps, before } => steps.last().and_then(|&late| {
            let [late, early] = [late, *before].map(|number| Side::of(finding, number));
            order(finding, nearest, &late?, &early?)
        }),
        Edit::Value { step, was, instead, .. } => value(finding, *step, *was, *instead),
    };
    let had = had.unwrap_or_else(|| "Had its schedule been the one below".to_owned());
    match (nearest.ends, finding.bug.kind()) {
        (true, BugKind::Livelock) => format!("{had}, the program would have come to its end."),
        (true, _) => format!("{had}, nothing would have happened."),
        (false, _) => {
            let steps = nearest.trace.steps.len().saturating_sub(nearest.edit.step() - 1);
            let steps = count(steps as u64, "step");
            format!("{had}, no bug would have shown in the {steps} that follow.")
        }
    }
}

/// A step of the failing schedule.
struct Side<'a> {
    number: usize,
    step: &'a TraceStep,
}

impl<'a> Side<'a> {
    fn of(finding: &'a Finding, number: usize) -> Option<Side<'a>> {
        let step = finding.trace.steps.get(number.checked_sub(1)?)?;
        Some(Side { number, step })
    }

    fn sends(&self) -> impl Iterator<Item = (MessageId, WorkerId, &'a str)> {
        self.step.items.iter().filter_map(|item| match item {
            Item::Event(Event::Sent { message, to, payload }) => {
                Some((*message, *to, payload.as_str()))
            }
            _ => None,
        })
    }

    fn accesses(&self) -> impl Iterator<Item = (Access, &'a str)> {
        self.step.items.iter().filter_map(|item| match item {
            Item::Event(Event::Accessed { access, what }) if !what.is_empty() => {
                Some((*access, what.as_str()))
            }
            _ => None,
        })
    }

    /// The worker and what it does, for a sentence.
    fn told(&self, finding: &Finding, what: Option<&str>) -> String {
        let name = Names(&finding.trace.names).of(self.step.worker);
        let story = Story::of(&finding.trace);
        let line = || story.steps.get(self.number - 1)?.1.first().map(|line| line.text.clone());
        match what.map(str::to_owned).or_else(line) {
            Some(what) => format!("{name}: {}", clip(&what)),
            None => name,
        }
    }
}

fn order(
    finding: &Finding,
    nearest: &Nearest,
    late: &Side<'_>,
    early: &Side<'_>,
) -> Option<String> {
    let names = Names(&finding.trace.names);
    // Two messages for one worker: what it receives first is what a reader knows.
    let passing = Messages::of(&nearest.trace);
    for (message, to, payload) in late.sends() {
        let same = early.sends().find(|(_, other, _)| *other == to);
        if let (Some((_, _, before)), Some(Fate::Received(_))) = (same, passing.fate.get(&message))
        {
            let from = |side: &Side<'_>| {
                format!("from {} (sent in step {})", names.of(side.step.worker), side.number)
            };
            return Some(format!(
                "Had {} received {} {} before {} {}",
                names.of(to),
                clip(payload),
                from(late),
                clip(before),
                from(early),
            ));
        }
    }
    let shared = late.accesses().find_map(|(access, what)| {
        let other = early.accesses().find(|(other, _)| other.resource == access.resource)?;
        Some((what, other.1))
    });
    let (late_does, early_does) = shared.unzip();
    Some(format!(
        "Had step {} ({}) come before step {} ({})",
        late.number,
        late.told(finding, late_does),
        early.number,
        early.told(finding, early_does),
    ))
}

fn value(finding: &Finding, step: usize, was: Choice, instead: Choice) -> Option<String> {
    let side = Side::of(finding, step)?;
    let (Choice::Value { index, tag, .. }, Choice::Value { index: other, .. }) = (was, instead)
    else {
        return None;
    };
    let name = Names(&finding.trace.names).of(side.step.worker);
    Some(match tag {
        Tag::Fault => format!("Had the fault of step {step} not been there"),
        Tag::Program => format!("Had {name} chosen {other} instead of {index} in step {step}"),
    })
}
