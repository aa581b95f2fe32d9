//! Dally and its peers side by side: the same programs in one process, in alternating rounds, as
//! ratios. Rates depend on the machine and its load; ratios hardly do.
//!
//! - `cargo run --release [-- ROUNDS [MILLISECONDS [TEXT]]]`: schedules per second, against
//!   shuttle;
//! - `cargo run --release -- states [ROUNDS [TEXT]]`: exhaustive search of states, against
//!   stateright, and against SPIN where it is installed;
//! - `cargo run --release -- cycles [ROUNDS [TEXT]]`: search for cycles under weak fairness,
//!   against SPIN where it is installed;
//! - `cargo run --release -- classes [ROUNDS [MILLISECONDS [TEXT]]]`: one execution for each class of
//!   schedules, against TraceForge.
//!
//! With a text, only the rows with it. The exit code is 1 if a ratio is below what is promised.

mod as_machines;
mod by_hand;
mod classes;
mod cycles;
mod in_dally;
mod in_shuttle;
mod in_spin;
mod in_stateright;
mod in_traceforge;
mod measure;
mod schedules;
mod states;

use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let kept = match arguments[..] {
        ["states", ref rest @ ..] => by_states(rest),
        ["cycles", ref rest @ ..] => by_cycles(rest),
        ["classes", ref rest @ ..] => by_classes(rest),
        ref rest => by_schedules(rest),
    };
    match kept {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!(
                "{why}\nusage: dally-peers [ROUNDS [MILLISECONDS [TEXT]]]\n       \
                 dally-peers states [ROUNDS [TEXT]]\n       dally-peers cycles [ROUNDS [TEXT]]\n       \
                 dally-peers classes [ROUNDS [MILLISECONDS [TEXT]]]"
            );
            ExitCode::from(2)
        }
    }
}

fn by_schedules(arguments: &[&str]) -> Result<bool, String> {
    let rounds = number(arguments, 0, 7)?;
    let budget = Duration::from_millis(number(arguments, 1, 500)?);
    Ok(schedules::compare(rounds, budget, text(arguments, 2)?))
}

fn by_states(arguments: &[&str]) -> Result<bool, String> {
    let rounds = number(arguments, 0, 3)?;
    Ok(states::compare(rounds, text(arguments, 1)?))
}

fn by_cycles(arguments: &[&str]) -> Result<bool, String> {
    let rounds = number(arguments, 0, 1)?;
    Ok(cycles::compare(rounds, text(arguments, 1)?))
}

fn by_classes(arguments: &[&str]) -> Result<bool, String> {
    let rounds = number(arguments, 0, 5)?;
    let budget = Duration::from_millis(number(arguments, 1, 300)?);
    Ok(classes::compare(rounds, budget, text(arguments, 2)?))
}

/// The positive number at a place, or else this one.
fn number(arguments: &[&str], at: usize, default: u64) -> Result<u64, String> {
    let Some(text) = arguments.get(at) else { return Ok(default) };
    let number = text.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| format!("`{text}` is no positive number"))
}

/// The text at the last place.
fn text<'a>(arguments: &[&'a str], at: usize) -> Result<&'a str, String> {
    match arguments.get(at + 1) {
        Some(extra) => Err(format!("`{extra}` is one argument too many")),
        None => Ok(arguments.get(at).copied().unwrap_or_default()),
    }
}
