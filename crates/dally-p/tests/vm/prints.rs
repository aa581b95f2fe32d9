//! Texts that are only printed are written out when somebody hears them, and make no difference else.

use dally_core::{LONGEST_FIELDS, Program, System};

use crate::driver::{Script, all_of, prints, program, story_of};

#[test]
fn a_text_that_is_handed_on_to_be_printed_is_the_one_of_the_moment_it_was_made() {
    insta::assert_snapshot!(prints(
        "machine Main {
             var n: int; var log: seq[int]; var kept: string;
             fun Say(what: string) { Loud(format(\"{0}: {1}\", n, what)); n = n + 1; }
             fun Loud(what: string) { print format(\"[{0}|{0}]\", what); }
             fun Keep(what: string) { kept = what; print what; }
             fun Nothing(what: string) { }
             start state S {
                 entry {
                     var i: int;
                     Say(\"plain\");
                     while (i < 2) {
                         log += (i, i);
                         Say(format(\"has {0} of {1}\", log, this));
                         i = i + 1;
                     }
                     Nothing(format(\"{0}\", log[1]));
                     Keep(format(\"kept {0}\", log));
                     log += (2, 2);
                     print kept;
                     Say(kept);
                     print format(\"{0} and {1}\", format(\"{0}\", log), kept == format(\"kept {0}\", 1));
                     Nothing(format(\"{0}\", log[3]));
                 }
             }
         }
         test t [main=Main]: {Main};"
    ), @"
    [0: plain|0: plain]
    [1: has (0) of Main(0)|1: has (0) of Main(0)]
    [2: has (0, 1) of Main(0)|2: has (0, 1) of Main(0)]
    kept (0, 1)
    kept (0, 1)
    [3: kept (0, 1)|3: kept (0, 1)]
    (0, 1, 2) and False
    assertion: index 3 is out of range: there are 3 elements, from 0 on
    ");
}

fn states(functions: &str, body: &str) -> usize {
    let source = format!(
        "event e: int;
         machine Main {{
             var m: map[int, int];
             {functions}
             start state S {{ entry {{ {body} }} ignore e; }}
         }}
         test t [main=Main]: {{Main}};"
    );
    all_of(&program(&source)).states
}

#[test]
fn a_text_that_is_held_while_the_machine_waits_counts_by_what_it_says() {
    let slow = "fun Slow(what: string) { send this, e, 1; print what; }";
    let made = states(
        slow,
        "var a: string; var b: string;
         if ($) { a = \"z\"; } else { b = \"z\"; }
         Slow(format(\"{0}{1}\", a, b));",
    );
    let given = states(
        slow,
        "var a: string; var b: string;
         if ($) { a = \"z\"; } else { a = \"z\"; }
         Slow(a);",
    );
    assert_eq!(made, given);
}

#[test]
fn a_loop_over_the_keys_of_a_map_does_not_tell_states_apart_by_its_values() {
    let start = "var k: int; var ks: seq[int]; m[1] = choose(5); m[2] = choose(3);";
    let once = states(
        "",
        &format!("{start} foreach (k in keys(m)) {{ m[1] = 0; m[2] = 0; send this, e, k; }}"),
    );
    let copied = states(
        "",
        &format!(
            "{start} ks = keys(m); foreach (k in ks) {{ m[1] = 0; m[2] = 0; send this, e, k; }}"
        ),
    );
    assert_eq!(once, copied);
}

#[test]
fn keys_are_asked_for_in_place() {
    insta::assert_snapshot!(prints(
        "machine Main {
             start state S {
                 entry {
                     var m: map[int, string]; var k: int; var sum: int;
                     m[3] = \"a\"; m[5] = \"b\";
                     print format(\"{0} {1} {2}\", 3 in keys(m), 4 in keys(m), sizeof(keys(m)));
                     foreach (k in keys(m)) { m -= (k); m[k + 10] = \"c\"; sum = sum + k; }
                     if (!(13 in keys(m))) { sum = 0; }
                     print format(\"{0} {1} {2}\", sum, m, choose(keys(m)));
                 }
             }
         }
         test t [main=Main]: {Main};"
    ), @"
    True False 2
    8 (<13->c>, <15->c>) 13
    done
    ");
}

#[test]
fn a_text_that_grows_without_end_is_cut_where_it_is_printed() {
    let levels = 24;
    let funs: String = (0..levels)
        .map(|at| format!("fun f{at}(t: string) {{ f{}(format(\"{{0}}{{0}}\", t)); }}\n", at + 1))
        .collect();
    let source = format!(
        "{funs} fun f{levels}(t: string) {{ print t; }}
         machine Main {{ start state S {{ entry {{ f0(\"{}\"); }} }} }}
         test t [main=Main]: {{Main}};",
        "x".repeat(1_000)
    );
    let program = program(&source);
    let story = story_of(&program);
    assert_eq!((story.notes.len(), story.end.as_str()), (1, "done"));
    assert!(story.notes[0].ends_with("x...") && story.notes[0].len() < 17 << 20);
    let mut system = program.start().unwrap();
    let mut unheard = Script { quiet: true, ..Script::default() };
    while let Some(&worker) = system.enabled().first() {
        system.step(worker, &mut unheard).unwrap();
    }
}

#[test]
fn the_variables_of_a_machine_are_shown_by_name_with_texts_in_quotes_and_lists_in_brackets() {
    let program = program(
        "enum Colour { RED, GREEN }
         machine Main {
             var n: int; var who: machine; var said: string; var pair: (int, bool);
             var named: (left: int, right: seq[int]); var some: set[int]; var by: map[string, int];
             var colour: Colour; var thing: any;
             start state S {
                 entry {
                     n = 7; who = this; said = \"a, {{b\"; pair = (1, true);
                     named.right += (0, 4); named.right += (1, 5);
                     some += (3); by[\"k\"] = 2; colour = GREEN;
                 }
             }
         }
         test t [main=Main]: {Main};",
    );
    let mut system = program.start().unwrap();
    let main = system.enabled()[0];
    let before = system.fields(main).unwrap();
    assert!(
        before.starts_with("Main { n: 0, who: null, said: \"\", pair: (0, False), "),
        "{before}"
    );
    while let Some(&worker) = system.enabled().first() {
        system.step(worker, &mut Script::default()).unwrap();
    }
    insta::assert_snapshot!(system.fields(main).unwrap(), @r#"Main { n: 7, who: Main(0), said: "a, {b", pair: (1, True), named: {left: 0, right: [4, 5]}, some: {3}, by: {"k": 2}, colour: 1, thing: null }"#);
    assert_eq!(system.fields(main.child(9)), None);
}

/// It is asked for after every step of a machine whose execution is recorded.
#[test]
fn of_long_variables_the_beginning_is_shown() {
    let program = program(
        "machine Main {
             var all: seq[int];
             start state S { entry { while (sizeof(all) < 2000) { all += (0, 12345); } } }
         }
         test t [main=Main]: {Main};",
    );
    let mut system = program.start().unwrap();
    let main = system.enabled()[0];
    system.step(main, &mut Script { quiet: true, ..Script::default() }).unwrap();
    let shown = system.fields(main).unwrap();
    assert!(shown.starts_with("Main { all: [12345, 12345, ") && shown.ends_with('…'), "{shown}");
    assert_eq!(shown.chars().count(), LONGEST_FIELDS + 1);
}
