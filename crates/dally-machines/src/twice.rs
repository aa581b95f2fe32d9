//! The check that a handler is a function: it runs twice, and the results are compared.

use dally_core::bug::Uncontrolled;
use dally_core::{Bug, PlayedStep, Player, Problem, RecordedStep};

use crate::body::{Input, Ran, Trouble};
use crate::cell::{Cell, MachineCell};
use crate::cx::Turn;
use crate::effect::Effect;
use crate::machine::Machine;
use crate::message::Message;
use crate::pool::Pool;

/// Runs a handler on `cell`, and again on `copy` with the same values chosen. Different results mean
/// uncontrolled nondeterminism: the wall clock, the order of a hash map, state outside the machine.
pub(crate) fn run<M: Machine>(
    cell: &mut MachineCell<M>,
    mut copy: MachineCell<M>,
    input: Input,
    message: &mut Message,
    turn: &mut Turn<'_>,
) -> Ran {
    let mut children = *turn.children;
    // While `again` refers to the event, the first run takes a copy and leaves the original.
    let mut again = message.clone();
    let mut answers = Vec::new();
    let mut recorded = RecordedStep::new(&mut *turn.env, &mut answers);
    let (me, seals) = (turn.me, turn.seals);
    let effects = &mut *turn.effects;
    let mut first_turn = Turn {
        me,
        children: &mut *turn.children,
        seals,
        effects: &mut *effects,
        pool: &mut *turn.pool,
        env: &mut recorded,
        excess: None,
        idles: &mut *turn.idles,
        twice: false,
    };
    let ran = cell.once(input, message, &mut first_turn);
    if matches!(&ran, Err(trouble) if matches!(**trouble, Trouble::Stopped(_))) {
        return ran;
    }
    let mut player = Player::new(answers);
    let mut played = PlayedStep::new(&mut player);
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
            env: &mut played,
            excess: None,
            idles: &mut false,
            twice: false,
        },
    );
    let strayed = played.misfit().is_some() || player.peek().is_some();
    match difference(cell, &copy, [effects, &repeated], [&ran, &ran_again], strayed) {
        None => ran,
        Some(difference) => {
            let problem = Problem::Uncontrolled(Uncontrolled::Handler { difference });
            let bug = Bug::new(problem).by(M::NAME);
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
