//! The check that a handler is a function: run it twice, compare.

use dally_core::{Bug, BugKind, Cut, Env, Event, MessageId, Tag, Text};

use crate::body::{Input, Ran, Trouble};
use crate::cell::{Cell, MachineCell};
use crate::cx::Turn;
use crate::effect::Effect;
use crate::machine::Machine;
use crate::message::Message;
use crate::pool::Pool;

/// Runs a handler on `cell`, and again on `copy` with the same values chosen. Results that
/// differ are uncontrolled nondeterminism: the wall clock, the iteration order of a hash map,
/// state outside the machine.
pub(crate) fn run<M: Machine>(
    cell: &mut MachineCell<M>,
    mut copy: MachineCell<M>,
    input: Input,
    message: &mut Message,
    turn: &mut Turn<'_>,
) -> Ran {
    let mut children = *turn.children;
    // With two references the first run takes the event by a copy and leaves the original.
    let mut again = message.clone();
    let mut recorder = Recorder { env: &mut *turn.env, values: Vec::new() };
    let (me, seals) = (turn.me, turn.seals);
    let effects = &mut *turn.effects;
    let mut first_turn = Turn {
        me,
        children: &mut *turn.children,
        seals,
        effects: &mut *effects,
        pool: &mut *turn.pool,
        env: &mut recorder,
        excess: None,
        idles: &mut *turn.idles,
        twice: false,
    };
    let ran = cell.once(input, message, &mut first_turn);
    if matches!(&ran, Err(trouble) if matches!(**trouble, Trouble::Stopped(_))) {
        return ran;
    }
    let mut repeater = Repeater { values: recorder.values.into_iter(), strayed: false };
    let mut repeated = Vec::new();
    let ran_again = copy.once(
        input,
        &mut again,
        &mut Turn {
            me,
            children: &mut children,
            seals,
            effects: &mut repeated,
            pool: &mut Pool::default(),
            env: &mut repeater,
            excess: None,
            idles: &mut false,
            twice: false,
        },
    );
    let strayed = repeater.strayed || repeater.values.next().is_some();
    match difference(cell, &copy, [effects, &repeated], [&ran, &ran_again], strayed) {
        None => ran,
        Some(difference) => {
            let message = format!(
                "a handler of `{}` ran twice from the same state with the same choices, and the \
                 results differ: {difference}",
                M::NAME
            );
            let bug = Bug::new(BugKind::Uncontrolled, message).by(M::NAME);
            Err(Box::new(Trouble::Stopped(bug.into())))
        }
    }
}

fn difference<M: Machine>(
    first: &MachineCell<M>,
    second: &MachineCell<M>,
    effects: [&Vec<Effect>; 2],
    ran: [&Ran; 2],
    strayed: bool,
) -> Option<String> {
    if strayed {
        return Some("it asked for other values".to_owned());
    }
    let outcomes = ran.map(|ran| format!("{ran:?}"));
    if outcomes[0] != outcomes[1] {
        return Some(format!("first {}, then {}", outcomes[0], outcomes[1]));
    }
    let bytes = |cell: &MachineCell<M>| {
        let mut bytes = Vec::new();
        cell.encode(&mut bytes);
        bytes
    };
    if bytes(first) != bytes(second) {
        return Some(format!(
            "the machine became {:?} in state `{}`, then {:?} in state `{}`",
            first.body.machine,
            first.state_name(),
            second.body.machine,
            second.state_name()
        ));
    }
    let bytes = |effect: &Effect| {
        let mut bytes = Vec::new();
        effect.encode(&mut bytes);
        bytes
    };
    if effects[0].len() != effects[1].len() {
        let lengths = effects.map(Vec::len);
        return Some(format!("it had {} effects, then {}", lengths[0], lengths[1]));
    }
    let mut pairs = effects[0].iter().zip(effects[1]);
    let (first, second) = pairs.find(|(first, second)| bytes(first) != bytes(second))?;
    Some(format!("it {}, then {}", first.words(), second.words()))
}

/// Passes everything on and keeps the values chosen.
struct Recorder<'a> {
    env: &'a mut dyn Env,
    values: Vec<(u32, u32)>,
}

impl Env for Recorder<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        let value = self.env.value(of, tag)?;
        self.values.push((of, value));
        Ok(value)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.env.delivery(candidates)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.env.event(event)
    }

    fn leeway(&self) -> u32 {
        self.env.leeway()
    }

    fn unheard(&mut self, events: u32) -> Result<(), Cut> {
        self.env.unheard(events)
    }
}

/// Answers with the values of the first run and tells nobody.
struct Repeater {
    values: std::vec::IntoIter<(u32, u32)>,
    strayed: bool,
}

impl Env for Repeater {
    fn value(&mut self, of: u32, _: Tag) -> Result<u32, Cut> {
        match self.values.next() {
            Some((then, value)) if then == of => Ok(value),
            _ => {
                self.strayed = true;
                Err(Cut)
            }
        }
    }

    fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> {
        self.strayed = true;
        Err(Cut)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }

    fn leeway(&self) -> u32 {
        u32::MAX
    }
}
