//! Errors are told with their places, several at once, and no text makes the compiler panic.

use dally_mpil::MpilProgram;
use fastrand::Rng;

fn errors(text: &str) -> String {
    match MpilProgram::compile("wrong.mpil", text, &[]) {
        Ok(_) => "no errors".to_owned(),
        Err(wrong) => wrong.to_string(),
    }
}

#[test]
fn names_that_do_not_exist_are_told_with_those_that_do() {
    insta::assert_snapshot!(errors(
        "\
process ping {
    var x
    receive x
    if x == limit goto dnoe
    send pnog, x + 1
  done:
}
process pong {
    var x
    receive x
    x[2] = 3
}
"
    ));
}

#[test]
fn what_is_misplaced_is_told() {
    insta::assert_snapshot!(errors(
        "\
param n = 2
setup {
    var id[n], go
    receive go
}
process node[i in 0..4] {
    var x
    i = 3
    go = 1
    send node, 1
    x = node[0].x
}
"
    ));
}

#[test]
fn broken_syntax_is_told_line_by_line() {
    insta::assert_snapshot!(errors(
        "\
mailboxes lifo
process p {
    var x = , y
    receive
    if x goto l
    send p
    x = (1 + 2
    x = 99999999999999999999
    error \"no end
    € = 1
}
"
    ));
}

#[test]
fn an_empty_program_and_an_unknown_parameter_are_refused() {
    insta::assert_snapshot!(errors(""));
    let text = "param n = 1\nprocess p { var x receive x }";
    let wrong = MpilProgram::compile("p.mpil", text, &[("m".to_owned(), 2)]).unwrap_err();
    assert_eq!(wrong.all[0].message, "there is no parameter `m`");
    assert_eq!(wrong.all[0].hint.as_deref(), Some("the program has n"));
}

#[test]
fn deep_nests_and_long_chains_are_refused_and_not_followed() {
    for part in ["(", "-", "1 + ", "x["] {
        let text = format!("process p {{ var x x = {} 1 }}", part.repeat(100_000));
        assert!(errors(&text).contains("error"));
    }
}

/// Parts of programs in random order, and programs with random bytes changed.
#[test]
fn no_text_makes_it_panic() {
    let mut rng = Rng::with_seed(5);
    for _ in 0..3_000 {
        let text = dally_mpil_fuzz::text(&mut rng);
        if let Err(wrong) = MpilProgram::compile("fuzz.mpil", &text, &[]) {
            assert!(!wrong.all.is_empty());
            wrong.render(false);
        }
    }
}

#[path = "../examples/fuzz/text.rs"]
mod dally_mpil_fuzz;
