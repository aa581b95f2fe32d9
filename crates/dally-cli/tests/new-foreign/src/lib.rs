//! The foreign functions of the model. Each depends on its arguments alone and keeps nothing between calls,
//! or schedules cannot be replayed.

use dally::p::vm::{Answer, Foreign, Value};

/// All foreign functions of the model.
pub fn foreign() -> Foreign {
    Foreign::default()
        .fun("NewDice", new_dice)
        .fun("Roll", roll)
        .fun("Player.Luck", player_luck)
}

/// `fun NewDice(sides: int): Dice;`
fn new_dice(values: &[Value]) -> Answer {
    match values {
        [Value::Int(sides)] => {
            let _ = sides;
            // Such as: Ok(Value::foreign(Dice {}))
            Err("write it in src/lib.rs".into())
        }
        _ => Err("it was given other arguments than it takes".into()),
    }
}

/// `fun Roll(dice: Dice, at: int): int;`
fn roll(values: &[Value]) -> Answer {
    match values {
        [dice, Value::Int(at)] => {
            let _ = dice;
            let _ = at;
            // Such as: Ok(Value::Int(0))
            Err("write it in src/lib.rs".into())
        }
        _ => Err("it was given other arguments than it takes".into()),
    }
}

/// `fun Player.Luck(n: int): bool;`
fn player_luck(values: &[Value]) -> Answer {
    match values {
        [Value::Int(n)] => {
            let _ = n;
            // Such as: Ok(Value::Bool(false))
            Err("write it in src/lib.rs".into())
        }
        _ => Err("it was given other arguments than it takes".into()),
    }
}

/// `type Dice;`: make a value with `Value::foreign(Dice {})`, read it with `value.as_foreign::<Dice>()`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Dice {}
