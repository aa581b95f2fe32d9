//! Programs that nobody would write: names exchanged, words and signs left out or doubled.

use dally_p::compile;
use dally_p::source::Sources;

use super::programs::CLIENT_SERVER;

/// The words and signs of a program, with what stands between them.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for letter in text.chars() {
        let word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let last = pieces.last_mut().filter(|last| word(letter) && last.ends_with(word));
        match last {
            Some(last) => last.push(letter),
            None => pieces.push(letter.to_string()),
        }
    }
    pieces
}

#[test]
fn programs_as_deep_as_the_parser_allows_do_not_overflow_the_stack() {
    let nested = |begin: &str, middle: &str, end: &str, depth: usize| {
        [begin.repeat(depth), middle.into(), end.repeat(depth)].concat()
    };
    for statement in [
        format!("x = {};", nested("f(", "x", ")", 240)),
        format!("b = {};", nested("!", "b", "", 240)),
        format!("a = {};", nested("(", "x", ",)", 240)),
        format!("x = {};", nested("(x + ", "x", ")", 120)),
        format!("b = {};", nested("b && (x == x || ", "b", ")", 80)),
        nested("while (b) ", ";", "", 240),
        nested("if (b) { ", "", "}", 120),
        nested("receive { case e: { ", "", "} }", 80),
    ] {
        super::accepted(&format!(
            "event e; fun f(x: int): int {{ return x; }}
            machine Main {{ var x: int; var b: bool; var a: any; start state S {{ entry {{ {statement} }} }} }}"
        ));
    }
}

#[test]
fn chains_of_operators_and_ladders_of_else_if_may_be_as_long_as_one_likes() {
    let many = 10_000;
    let ladder: String = (0..many).map(|at| format!("if (x == {at}) x = {at}; else ")).collect();
    for statement in [
        format!("x = {};", vec!["x"; many].join(" + ")),
        format!("x = {};", vec!["2 * x - 1"; many].join(" + ")),
        format!("s = {};", vec!["s"; many].join(" + \"...\" + ")),
        format!("b = {};", vec!["b"; many].join(" == ")),
        format!("b = {};", vec!["x < 1 && b"; many].join(" || ")),
        format!("assert {};", vec!["x < 1 || b"; many].join(" && ")),
        format!("{ladder} x = 1;"),
        format!("{ladder} ;"),
    ] {
        super::accepted(&format!(
            "machine Main {{ var x: int; var b: bool; var s: string; start state S {{ entry {{ {statement} }} }} }}"
        ));
    }
}

#[test]
fn an_error_in_a_long_chain_is_found_once() {
    let ones = "1 + ".repeat(10_000);
    let found = super::said(&format!(
        "machine Main {{ var x: int; start state S {{ entry {{ x =\n{ones} true + {ones} 1; }} }} }}"
    ));
    insta::assert_snapshot!(found, @"
    2:1 `+` does not take `int` and `bool`
        2:1 this is `int`
        2:40002 this is `bool`
    ");
}

#[test]
fn no_exchange_of_words_makes_the_checker_panic_and_two_runs_say_the_same() {
    let whole = pieces(CLIENT_SERVER);
    let words: Vec<&String> =
        whole.iter().filter(|piece| piece.starts_with(char::is_alphabetic)).collect();
    let mut random = fastrand::Rng::with_seed(5);
    let (mut accepted, mut checked) = (0, 0);
    for _ in 0..400 {
        let mut program = whole.clone();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..program.len());
            match random.u8(..8) {
                0 => {
                    program.remove(at);
                }
                1 => program.insert(at, program[at].clone()),
                _ => {
                    let is_word = |at: &usize| program[*at].starts_with(char::is_alphabetic);
                    if let Some(at) = (at..program.len()).find(is_word) {
                        program[at] = words[random.usize(..words.len())].clone();
                    }
                }
            }
        }
        let run = || {
            let mut sources = Sources::default();
            sources.add("main.p", program.concat());
            compile(sources)
        };
        let (once, again) = (run(), run());
        assert_eq!(once.diagnostics, again.diagnostics);
        accepted += usize::from(once.program.is_some());
        checked += usize::from(!once.diagnostics.is_empty());
    }
    // Some exchanges are harmless, most are not.
    assert!(accepted > 10 && checked > 300, "{accepted} accepted, {checked} with findings");
}
