//! Which rule decides for which state and event.

use std::collections::BTreeMap;

use quote::ToTokens;
use syn::Type;

use crate::block::{Block, Placed};
use crate::problems::Problems;
use crate::rules::Verb;
use crate::signature::Handler;

/// The rules of a block by states and events; `None` stands for `_`.
#[derive(Default)]
pub struct Table {
    events: BTreeMap<(Option<usize>, Option<usize>), usize>,
    actions: BTreeMap<(Verb, Option<usize>), usize>,
    states: usize,
    known: usize,
}

impl Table {
    pub fn new(block: &Block, handlers: &[Handler], problems: &mut Problems) -> Table {
        let (states, known) = (block.arguments.states.len(), block.events.len());
        let mut table = Table { states, known, ..Table::default() };
        for (number, placed) in block.rules.iter().enumerate() {
            if let Some((other, what)) = table.enter(block, number) {
                let other = describe(&block.rules[other], handlers);
                let message = format!("{what}: the other is {other}");
                problems.add(&placed.rule.attribute, message);
            }
        }
        table
    }

    /// The rule for an event in a state. A state's own rules come before those of any state (`_`); among each, a rule that names the
    /// event comes before one for any event. So a state's rule for all other events is not overruled.
    pub fn rule(&self, state: usize, event: usize) -> Option<usize> {
        let (state, event) = (Some(state), Some(event));
        [(state, event), (state, None), (None, event), (None, None)]
            .iter()
            .find_map(|key| self.events.get(key).copied())
    }

    /// The rule for entry, exit or default of a state: its own before that of any state.
    pub fn action(&self, verb: Verb, state: usize) -> Option<usize> {
        self.actions.get(&(verb, Some(state))).or(self.actions.get(&(verb, None))).copied()
    }

    /// The states and events that a rule decides, as products of a set of states and a set of events.
    pub fn decided_by(&self, rule: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
        let mut groups: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for state in 0..self.states {
            let events: Vec<usize> =
                (0..self.known).filter(|event| self.rule(state, *event) == Some(rule)).collect();
            if events.is_empty() {
                continue;
            }
            match groups.iter_mut().find(|(_, same)| *same == events) {
                Some((states, _)) => states.push(state),
                None => groups.push((vec![state], events)),
            }
        }
        groups
    }

    /// Enters a rule; gives the rule that was there already, with a description of what both are for.
    fn enter(&mut self, block: &Block, number: usize) -> Option<(usize, String)> {
        let rule = &block.rules[number].rule;
        let states = keys(&rule.states, |name| block.state(name));
        let mut conflict = None;
        if rule.verb.has_events() {
            for state in states {
                for event in keys(&rule.events, |ty| block.event(ty)) {
                    let before = self.events.insert((state, event), number);
                    conflict = conflict.or(before.map(|before| {
                        let event = event.map_or("any other event".to_owned(), |event| {
                            format!("`{}`", event_name(block, event))
                        });
                        (before, format!("{} has two rules for {event}", subject(block, state)))
                    }));
                }
            }
        } else {
            for state in states {
                let before = self.actions.insert((rule.verb, state), number);
                conflict = conflict.or(before.map(|before| {
                    let (subject, verb) = (subject(block, state), rule.verb.name());
                    (before, format!("{subject} has two `#[{verb}]` actions"))
                }));
            }
        }
        conflict
    }
}

/// The numbers of the known names; the wildcard if there are no names.
fn keys<T>(names: &[T], number: impl Fn(&T) -> Option<usize>) -> Vec<Option<usize>> {
    if names.is_empty() {
        return vec![None];
    }
    names.iter().map(number).filter(Option::is_some).collect()
}

fn subject(block: &Block, state: Option<usize>) -> String {
    match state {
        Some(state) => format!("state `{}`", block.arguments.states[state].name),
        None => "`_` (any other state)".to_owned(),
    }
}

fn describe(placed: &Placed, handlers: &[Handler]) -> String {
    let verb = placed.rule.verb.name();
    match placed.handler.and_then(|handler| handlers.get(handler)) {
        Some(handler) => format!("`#[{verb}]` on `fn {}`", handler.name),
        None => format!("`#[{verb}]`"),
    }
}

/// The name of an event in messages: its type without the path.
pub fn event_name(block: &Block, event: usize) -> String {
    let ty = &block.events[event];
    let tokens = match ty {
        Type::Path(path) => path.path.segments.last().to_token_stream(),
        _ => ty.to_token_stream(),
    };
    // The compiler prints `Reply < u32 >`; people write it without spaces.
    let text = tokens.to_string();
    text.replace(" <", "<")
        .replace("< ", "<")
        .replace(" >", ">")
        .replace(" ,", ",")
        .replace(" :: ", "::")
}
