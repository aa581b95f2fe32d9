use insta::assert_snapshot;

use crate::driver::{ends, prints, prints_body, program_with, story_of};
use dally_p::vm::{Foreign, Value};

#[test]
fn values_are_printed_as_p_prints_them() {
    assert_snapshot!(prints(
        "enum E { A = 5, B = 3 }
         event e;
         machine Main {
             start state S {
                 entry {
                     var s: seq[int]; var t: set[int]; var m: map[string, bool]; var n: machine;
                     var x: any; var f: float; var g: (a: int, b: string); var d: E; var v: event;
                     s += (0, 0); s += (1, 1);
                     t += (0); t += (1); t += (0);
                     m[\"k\"] = true;
                     f = 1.5;
                     print format(\"{0} {1} {2}\", s, t, m);
                     print format(\"[{0}] [{1}] [{2}]\", n, x, v);
                     print format(\"{0} {1} {2}\", f, 2.0, true);
                     g = (a = 1, b = \"hi\");
                     print format(\"{0} {1} {2}\", (1, true), g, (2,));
                     print format(\"{0} {1} {2}\", A, d, e);
                 }
             }
         }
         test t [main=Main]: {Main};"
    ), @"
    (0, 1) (<0>, <1>) (<k->True>)
    [] [] []
    1.5 2 True
    <1,True,> <a:1, b:hi, > <2,>
    5 3 e
    done
    ");
}

#[test]
fn whole_numbers_wrap_at_64_bits() {
    assert_snapshot!(prints_body(
        "var n: int; var i: int;
         n = 1;
         while (i < 63) { n = n * 2; i = i + 1; }
         print format(\"{0} {1} {2}\", n - 1, n, -n);
         print format(\"{0}\", (n - 1) % 10);
         print format(\"{0} {1}\", -7 / 2, -7 % 2);"
    ), @"
    9223372036854775807 -9223372036854775808 -9223372036854775808
    7
    -3 -1
    done
    ");
}

#[test]
fn division_by_zero_is_a_bug_for_whole_numbers_only() {
    assert_snapshot!(prints_body("var z: int; print format(\"{0}\", 1 / z);"), @"assertion: 1 is divided by zero");
    assert_snapshot!(prints_body("var z: int; print format(\"{0}\", 1 % z);"), @"assertion: the remainder of 1 by zero is asked for");
    assert_snapshot!(prints_body("var z: float; if (1.0 / z > 5.0) { print \"large\"; }"), @"
    large
    done
    ");
}

#[test]
fn conversions_truncate() {
    assert_snapshot!(prints_body(
        "var f: float; f = -2.7;
         print format(\"{0} {1} {2}\", f to int, 3 to float, (3 to float) / 2.0);"
    ), @"
    -2 3 1.5
    done
    ");
}

#[test]
fn both_operands_are_evaluated_only_if_needed() {
    assert_snapshot!(prints(
        "machine Main {
             var n: int;
             start state S {
                 entry {
                     var b: bool;
                     b = false && say(1);
                     b = true || say(2);
                     b = b || say(3);
                     b = true && say(4);
                     b = (false || say(5)) && !say(6) || b;
                     if (!(say(7) && false) && n == 4) { print format(\"{0}\", b); }
                 }
             }
             fun say(k: int): bool { n = n + 1; print format(\"{0}\", k); return true; }
         }
         test t [main=Main]: {Main};"
    ), @"
    4
    5
    6
    7
    True
    done
    ");
}

#[test]
fn maps_report_what_is_missing_or_there_already() {
    let map = |work: &str| {
        prints_body(&format!("var m: map[int, seq[int]]; var s: seq[int]; m[1] = s; {work}"))
    };
    assert_snapshot!(map("m += (1, s);"), @"assertion: key `1` is in the map already: `m[k] = v` would replace its value");
    assert_snapshot!(map("print format(\"{0}\", m[2]);"), @"assertion: key `2` is not in the map");
    assert_snapshot!(map("m[2] += (0, 1);"), @"assertion: key `2` is not in the map");
    assert_snapshot!(map("m -= (2); m -= (1); print format(\"{0}\", sizeof(m));"), @"
    0
    done
    ");
    assert_snapshot!(map("m[1] += (0, 7); m[3] = m[1]; m[3] += (1, 8); print format(\"{0} {1}\", m, s);"), @"
    (<1->(7)>, <3->(7, 8)>) ()
    done
    ");
}

#[test]
fn indices_are_checked() {
    let seq = |work: &str| prints_body(&format!("var s: seq[int]; var t: set[int]; {work}"));
    assert_snapshot!(seq("print format(\"{0}\", s[0]);"), @"assertion: index 0 is out of range: the collection is empty");
    assert_snapshot!(seq("s += (0, 5); print format(\"{0}\", s[-1]);"), @"assertion: index -1 is out of range: there are 1 elements, from 0 on");
    assert_snapshot!(seq("s += (1, 5);"), @"assertion: index 1 is out of range: the collection is empty");
    assert_snapshot!(seq("s += (0, 5); s -= (1);"), @"assertion: index 1 is out of range: there are 1 elements, from 0 on");
    assert_snapshot!(seq("s += (0, 5); s[1] = 2;"), @"assertion: index 1 is out of range: there are 1 elements, from 0 on");
    assert_snapshot!(seq("t += (4); t += (6); print format(\"{0}\", t[1]); t -= (9); print format(\"{0}\", t[2]);"), @"
    6
    assertion: index 2 is out of range: there are 2 elements, from 0 on
    ");
}

#[test]
fn foreach_goes_over_a_copy() {
    assert_snapshot!(prints_body(
        "var s: seq[int]; var i: int; var t: set[string]; var x: string;
         s += (0, 1); s += (1, 2);
         foreach (i in s) { s += (0, i * 10); if (i == 2) { print \"two\"; } }
         print format(\"{0} {1}\", s, i);
         t += (\"b\"); t += (\"a\");
         foreach (x in t) { if (x == \"a\") { break; } print x; }
         foreach (x in t) { t -= (x); if (x == \"b\") { continue; } print x; }
         print format(\"{0}\", t);"
    ), @"
    two
    (20, 10, 1, 2) 2
    b
    a
    ()
    done
    ");
}

#[test]
fn sets_and_maps_keep_the_order_of_insertion() {
    assert_snapshot!(prints_body(
        "var t: set[int]; var m: map[int, int]; var i: int;
         while (i < 20) { t += ((i * 7) % 20); i = i + 1; }
         t -= (7); t += (7); t += (0);
         print format(\"{0}\", t);
         m[3] = 1; m[1] = 2; m[2] = 3; m -= (1); m[1] = 4; m[3] = 5;
         print format(\"{0} {1} {2}\", m, keys(m), values(m));
         print format(\"{0} {1}\", 13 in t, 20 in t);"
    ), @"
    (<0>, <14>, <1>, <8>, <15>, <2>, <9>, <16>, <3>, <10>, <17>, <4>, <11>, <18>, <5>, <12>, <19>, <6>, <13>, <7>)
    (<3->5>, <2->3>, <1->4>) (3, 2, 1) (5, 3, 4)
    True False
    done
    ");
}

#[test]
fn values_are_copied_when_they_are_assigned() {
    assert_snapshot!(prints_body(
        "var a: (x: int, s: seq[int]); var b: (x: int, s: seq[int]); var all: seq[(x: int, s: seq[int])];
         a.x = 1; a.s += (0, 5);
         b = a; all += (0, a);
         b.x = 2; b.s[0] = 6; all[0].s += (1, 7); all[0].x = all[0].x + 10;
         print format(\"{0} {1} {2}\", a, b, all);"
    ), @"
    <x:1, s:(5), > <x:2, s:(6), > (<x:11, s:(5, 7), >)
    done
    ");
}

#[test]
fn equality_is_deep_and_of_sets_without_order() {
    assert_snapshot!(prints_body(
        "var s: set[int]; var t: set[int]; var a: seq[int]; var b: seq[int]; var x: any; var y: any;
         s += (1); s += (2); t += (2); t += (1);
         a += (0, 1); a += (1, 2); b += (0, 2); b += (1, 1);
         x = (1, \"k\"); y = (1, \"k\");
         print format(\"{0} {1} {2} {3} {4}\", s == t, a == b, x == y, x == null, this == this);"
    ), @"
    True False True False True
    done
    ");
}

#[test]
fn choices_are_made_in_order_and_checked() {
    let choose = |what: &str| {
        ends(&format!(
            "machine Main {{
                 start state S {{ entry {{
                     var s: seq[int]; var t: set[int]; var m: map[string, int]; var z: seq[int]; var n: int;
                     n = 65536 * 65536;
                     s += (0, 7); s += (1, 8); t += (5); m[\"k\"] = 1;
                     assert false, format(\"chose {{0}}\", {what});
                 }} }}
             }}
             test t [main=Main]: {{Main}};"
        ))
        .into_iter()
        .map(|end| end.replace("assertion: chose", "chose"))
        .collect::<Vec<_>>()
        .join("\n")
    };
    assert_snapshot!(choose("choose(3)"), @"
    chose 0
    chose 1
    chose 2
    ");
    assert_snapshot!(choose("($, $$)"), @"
    chose <False,False,>
    chose <False,True,>
    chose <True,False,>
    chose <True,True,>
    ");
    assert_snapshot!(choose("(choose(s), choose(t), choose(m))"), @"
    chose <7,5,k,>
    chose <8,5,k,>
    ");
    assert_snapshot!(choose("choose(0)"), @"chose 0");
    assert_snapshot!(choose("choose(-1)"), @"assertion: choose(-1): there is no number from 0 to below -1");
    assert_snapshot!(choose("choose(z)"), @"assertion: choose from an empty collection");
    assert_snapshot!(choose("choose(n)"), @"assertion: choose among 4294967296 values: there may be 4294967295");
}

#[test]
fn casts_are_checked() {
    assert_snapshot!(prints_body(
        "var a: any; var s: seq[any];
         a = (x = 1, y = \"k\");
         print format(\"{0}\", (a as (x: int, y: string)).y);
         s += (0, 1);
         print format(\"{0}\", (s as any) as int);"
    ), @"
    k
    assertion: `(1)` is cast to `int`, which it is not
    ");
}

#[test]
fn an_assertion_is_called_one_and_has_its_message() {
    assert_snapshot!(prints_body("var n: int;\n  assert n == 0;\n  assert n > 0, format(\"n is {0}\", n);"), @"assertion: n is 0");
    assert_snapshot!(prints_body("assert 1 > 2;"), @"assertion: Assertion Failed");
}

#[test]
fn texts_are_joined_and_compared() {
    assert_snapshot!(prints_body(
        "var s: string; s = \"ab\" + \"c\";
         print s; print format(\"{0} {1} {{0}}\", s < \"b\", s == \"abc\");"
    ), @"
    abc
    True True {0}
    done
    ");
}

#[test]
fn what_is_foreign_is_given_by_the_host() {
    let source = "type Tree;
        fun Empty(): Tree; fun Add(t: Tree, n: int): Tree; fun Sum(t: Tree): int;
        machine Main {
            start state S {
                entry {
                    var t: Tree; var u: Tree;
                    t = Add(Add(Empty(), 3), 4);
                    u = Add(t, 5);
                    print format(\"{0} {1} {2} {3}\", Sum(t), Sum(u), t == Add(Add(Empty(), 3), 4), t);
                    t = Add(t, -1);
                }
            }
        }
        test t [main=Main]: {Main};";
    let tree = |value: &Value| value.as_foreign::<Vec<i64>>().cloned().ok_or("no tree");
    let foreign = Foreign::default()
        .fun("Empty", |_| Ok(Value::foreign(Vec::<i64>::new())))
        .fun("Add", move |values| match values {
            [_, Value::Int(n)] if *n < 0 => Err(format!("{n} cannot be added")),
            [t, Value::Int(n)] => {
                let mut t = tree(t)?;
                t.push(*n);
                Ok(Value::foreign(t))
            }
            _ => Err("wrong values".into()),
        })
        .fun("Sum", move |values| Ok(Value::Int(tree(&values[0])?.iter().sum())));
    let story = story_of(&program_with(source, foreign));
    assert_snapshot!([story.notes.join("\n"), story.end].join("\n"), @"
    7 12 True [3, 4]
    assertion: foreign function `Add`: -1 cannot be added
    ");
}

#[test]
fn what_is_foreign_and_missing_is_named() {
    let mut sources = dally_p::source::Sources::default();
    sources.add(
        "test.p",
        "fun A(): int; fun B(); fun Unused();
         machine Main { fun C(): int; start state S { entry { var n: int; n = A() + C(); B(); } } }
         test t [main=Main]: {Main};",
    );
    let program = std::sync::Arc::new(dally_p::compile(sources).program.unwrap());
    let missing = dally_p::vm::PProgram::new(&program, 0, Foreign::default()).err().unwrap();
    assert_snapshot!(missing.message, @"test `t` calls foreign functions that nobody has given: `A`, `Main.C`, `B`");
}

#[test]
fn long_chains_of_operators_are_evaluated_from_left_to_right() {
    let chain = |operand: &str, sign: &str| vec![operand; 10_000].join(sign);
    assert_snapshot!(prints_body(&format!(
        "var x: int; var t: bool; var f: bool; var s: string; var n: int;
         x = 3; t = true; s = \"ab\";
         print format(\"{{0}}\", {});
         print format(\"{{0}}\", 100000 - {});
         print format(\"{{0}}\", x * 2 - {} * 2);
         print format(\"{{0}}\", s + {} == s + {});
         print format(\"{{0}} {{1}}\", {}, {});
         print format(\"{{0}} {{1}}\", {} || t, f || {});
         if ({} && f) {{ n = 1; }} else {{ n = 2; }}
         if ({} || x > 2) {{ n = n * 10; }}
         while (n < 30 && {}) {{ n = n + 7; }}
         print format(\"{{0}}\", n);",
        chain("x", " + "),
        chain("x", " - "),
        chain("x", " - "),
        chain("\"..\"", " + "),
        chain("\"..\"", " + "),
        chain("t", " && "),
        chain("f", " || "),
        chain("t && f", " || "),
        chain("t", " && "),
        chain("t", " && "),
        chain("x < 3 && t", " || "),
        chain("t != f", " && "),
    )), @"
    30000
    70000
    -29997
    True
    True False
    True True
    34
    done
    ");
}

#[test]
fn what_a_function_changes_between_operands_is_seen_by_those_after_it() {
    assert_snapshot!(prints(
        "machine Main {
             var n: int;
             fun next(): int { n = n + 1; return n; }
             fun yes(): bool { n = n + 1; return true; }
             start state S {
                 entry {
                     print format(\"{0}\", n + next() * 10 + n * 100 + next() * 1000 + n * 10000);
                     print format(\"{0} {1}\", n == 2 && yes() && n == 3 || yes(), n);
                     print format(\"{0} {1}\", yes() && n == 9 && yes() || n == 4 && yes(), n);
                     if (n - 1 - next() - next() == n) { n = 0; } else { n = n + 100; }
                     print format(\"{0}\", n);
                 }
             }
         }
         test t [main=Main]: {Main};"
    ), @"
    22110
    True 3
    True 5
    107
    done
    ");
}

#[test]
fn the_first_arm_of_a_long_ladder_whose_condition_holds_is_taken() {
    let ladder: String =
        (0..10_000).map(|at| format!("if (x == {at} || x == -{at}) y = {at} + 1; else ")).collect();
    assert_snapshot!(prints_body(&format!(
        "var x: int; var y: int; var i: int; var tries: seq[int];
         tries += (0, 0); tries += (1, 4711); tries += (2, -9999); tries += (3, 10000);
         foreach (x in tries) {{
             {ladder} y = -1;
             print format(\"{{0}}\", y);
         }}"
    )), @"
    1
    4712
    10000
    -1
    done
    ");
}

#[test]
fn branches_may_go_as_far_as_one_likes() {
    let long = "x = x + 1; ".repeat(70_000);
    assert_snapshot!(prints_body(&format!(
        "var x: int; var i: int;
         while (i < 2 && x >= 0) {{
             if (x == 70000) {{ {long} print \"twice\"; }} else {{ {long} print \"once\"; }}
             i = i + 1;
         }}
         assert x < 0 || x == 140000;
         print format(\"{{0}} {{1}}\", x, i);"
    )), @"
    once
    twice
    140000 2
    done
    ");
}
