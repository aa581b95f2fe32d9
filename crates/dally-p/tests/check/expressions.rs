//! Types of expressions, operators, conversions, calls and texts.

use insta::assert_snapshot;

use super::{accepted, said};

/// The statements in the entry of a machine with variables of many types.
fn inside(statements: &str) -> String {
    format!(
        "
enum Colour {{ RED, GREEN }}
enum Other {{ LEFT }}
event e: int; event pair: (int, bool); event named: (a: int, b: bool); event bare;
eventset few = {{ e }};
type Foreign;
param limit: int;
fun add(a: int, b: int): int {{ return a + b; }}
fun nothing() {{ }}
machine Peer receives e; {{ start state S {{ entry (x: int) {{ limit; }} ignore e; }} }}
machine Main {{
    var i: int; var f: float; var b: bool; var s: string; var ev: event; var m: machine;
    var an: any; var d: data; var c: Colour; var o: Other; var p: Peer; var fe: few;
    var q: seq[int]; var st: set[int]; var mp: map[int, bool]; var t: (int, bool);
    var n: (x: int, y: bool); var one: (int); var fo: Foreign; var qa: seq[any];
    start state S {{ entry {{
{statements}
    }} ignore e, pair, named, bare; }}
}}"
    )
    .replace(" limit; ", " x = limit; ")
}

#[test]
fn values_of_the_right_type_are_accepted() {
    accepted(&inside(
        r#"
        i = 1 + 2 * 3 / 4 - 5 % 6; f = 1.5 * 2.0; f = -f; i = -i; b = !b && (i < 1) || f >= 1.0;
        s = "a" + "b"; b = s < "b"; b = s == "b"; ev = e; ev = null; ev = halt; m = this; m = null; m = p;
        an = 1; an = "s"; an = q; an = null; an = m; d = 1; d = q; d = null; d = (1, true); d = e;
        c = RED; b = c == GREEN; i = c to int; c = i to Colour; c = c to Colour; f = i to float; i = f to int;
        p = m as Peer; p = m to Peer; fe = p; p = fe; b = p == fe; i = an as int; q = an as seq[int];
        q += (0, 1); q -= 0; q[0] = i; i = q[0]; st += (1); st -= 1; i = st[0]; mp += (1, true); mp[2] = false;
        mp -= 1; b = mp[1]; q = keys(mp); i = sizeof(mp) + sizeof(q) + sizeof(st); b = 1 in mp; b = 1 in q;
        b = 1 in st; t = (1, true); i = t.0; t.1 = false; n = (x = 1, y = true); n.x = n.x + 1; qa = q;
        i = choose(3); i = choose(q); i = choose(st); i = choose(mp); b = choose(); b = $; b = $$;
        s = format("{0} {1} {0} {{}}", i, q); print s; i = add(1, 2); nothing(); add(1, 2); i = limit;
        an = nothing(); fo = default(Foreign); b = an == 1; b = m == null; b = values(mp)[0];
        send m, e, 1; send m, pair, 1, true; send m, pair, (1, true); send m, named, (a = 1, b = true);
        send this, bare; send m, ev; send m, ev, 1, 2; announce e, i; p = new Peer(1); new Peer(2); raise bare;
        "#,
    ));
}

#[test]
fn an_assignment_wants_the_type_of_the_variable() {
    assert_snapshot!(said(&inside(r#"
i = 1.5; f = 1; i = RED; c = 1; c = LEFT; b = null; s = i; i = an; p = m; p = null; d = m; d = an;
t = n; n = t; n = (y = true, x = 1); n = (x = 1, z = true); n = (x = true, y = true); q = qa; fo = 1; d = fo;
m = 1; ev = m; i = nothing(); fe = m; one = 1; i = one;
"#)), @r#"
    18:5 expected `int`, found `float` (this is `float`)
        12:9 `i` is `int`
        help: convert it with `to int`
    18:14 expected `float`, found `int` (this is `int`)
        12:21 `f` is `float`
        help: convert it with `to float`, or write the point: `1.0`
    18:21 expected `int`, found `Colour` (this is `Colour`)
        12:9 `i` is `int`
        help: convert it with `to int`
    18:30 expected `Colour`, found `int` (this is `int`)
        13:35 `c` is `Colour`
        help: convert it with `to Colour`
    18:37 expected `Colour`, found `Other` (this is `Other`)
        13:35 `c` is `Colour`
    18:47 expected `bool`, found no value (`null` is not a value of `bool`)
        12:35 `b` is `bool`
    18:57 expected `string`, found `int` (this is `int`)
        12:48 `s` is `string`
        help: make a text of it with `format("{0}", ...)`
    18:64 expected `int`, found `any` (this is `any`)
        12:9 `i` is `int`
        help: `as int` checks at run time that it is one
    18:72 expected `Peer`, found `machine` (this is `machine`)
        13:64 `p` is `Peer`
        help: `as Peer` checks at run time that it is one
    18:79 expected `Peer`, found no value (`null` is not a value of `Peer`)
        13:64 `p` is `Peer`
        help: write `default(Peer)`, or give the variable the type `machine`
    18:89 expected `data`, found `machine` (this is `machine`)
        13:22 `d` is `data`
    18:96 expected `data`, found `any` (this is `any`)
        13:22 `d` is `data`
        help: `as data` checks at run time that it is one
    19:5 expected `(int, bool)`, found `(x: int, y: bool)` (this is `(x: int, y: bool)`)
        14:68 `t` is `(int, bool)`
        help: leave out the names of the fields
    19:12 expected `(x: int, y: bool)`, found `(int, bool)` (this is `(int, bool)`)
        15:9 `n` is `(x: int, y: bool)`
        help: name the fields: `(field = value, ...)`
    19:19 expected `(x: int, y: bool)`, found `(y: bool, x: int)` (this is `(y: bool, x: int)`)
        15:9 `n` is `(x: int, y: bool)`
        help: the fields must have the order of the type
    19:42 expected `(x: int, y: bool)`, found `(x: int, z: bool)` (this is `(x: int, z: bool)`)
        15:9 `n` is `(x: int, y: bool)`
        help: the fields must have the names of the type
    19:70 expected `int`, found `bool` (this is `bool`)
        15:9 `n` is `(x: int, y: bool)`
    19:91 expected `seq[int]`, found `seq[any]` (this is `seq[any]`)
        14:9 `q` is `seq[int]`
    19:100 expected `Foreign`, found `int` (this is `int`)
        15:51 `fo` is `Foreign`
    19:107 expected `data`, found `Foreign` (this is `Foreign`)
        13:22 `d` is `data`
    20:5 expected `machine`, found `int` (this is `int`)
        12:78 `m` is `machine`
    20:13 expected `event`, found `machine` (this is `machine`)
        12:63 `ev` is `event`
    20:20 expected `int`, found no value (`null` is not a value of `int`)
        12:9 `i` is `int`
    20:36 expected `few`, found `machine` (this is `machine`)
        13:77 `fe` is `few`
        help: `as few` checks at run time that it is one
    20:45 expected `(int,)`, found `int` (this is `int`)
        15:35 `one` is `(int,)`
        help: `(int,)` is a tuple of one field: write `(value,)`
    20:52 expected `int`, found `(int,)` (this is `(int,)`)
        12:9 `i` is `int`
        help: take the field of the tuple with `.0`
    "#);
}

#[test]
fn operators_want_operands_of_one_type() {
    assert_snapshot!(said(&inside(r#"
i = i + f; i = i + c; b = RED < GREEN; s = s + 1; s = s - s; b = b < b; b = i == s; b = p == null;
b = i && b; b = !i; i = -b; b = 1 in i; b = s in q; i = i % s;
"#)), @r#"
    18:5 `+` does not take `int` and `float`
        18:5 this is `int`
        18:9 this is `float`
        help: convert one side with `to float` or `to int`
    18:16 `+` does not take `int` and `Colour`
        18:16 this is `int`
        18:20 this is `Colour`
        help: convert the enum with `to int`
    18:27 `<` does not take `Colour` and `Colour`
        18:27 this is `Colour`
        18:33 this is `Colour`
        help: convert both sides with `to int`
    18:44 `+` does not take `string` and `int`
        18:44 this is `string`
        18:48 this is `int`
        help: make a text of the other side with `format("{0}", ...)`
    18:55 `-` does not take `string` and `string`
        18:55 this is `string`
        18:59 this is `string`
    18:66 `<` does not take `bool` and `bool`
        18:66 this is `bool`
        18:70 this is `bool`
    18:77 `==` does not take `int` and `string`
        18:77 this is `int`
        18:82 this is `string`
    18:89 `==` does not take `Peer` and `null`
        18:89 this is `Peer`
        18:94 this is `null`
        help: compare with `default(Peer)`
    19:5 expected `bool`, found `int` (this is `int`)
    19:18 expected `bool`, found `int` (this is `int`)
    19:26 expected a number, found `bool` (this is `bool`)
    19:38 expected a collection, found `int` (this is `int`)
    19:45 expected `int`, found `string` (this is `string`)
    19:57 `%` does not take `int` and `string`
        19:57 this is `int`
        19:61 this is `string`
    "#);
}

#[test]
fn parts_are_taken_from_what_has_them() {
    assert_snapshot!(said(&inside(r#"
i = t.2; i = t.x; i = n.z; i = n.0; i = i.x; b = i[0]; i = q[true]; b = mp["k"]; i = sizeof(s);
q = keys(q); q = values(i); i = choose(b); i = choose(f);
"#)), @r"
    18:7 the tuple has no element 2 (it has 2, counted from 0)
    18:14 expected a tuple with named fields, found `(int, bool)` (this is `(int, bool)`)
    18:25 there is no field `z` (not declared)
    18:32 expected a tuple, found `(x: int, y: bool)` (this is `(x: int, y: bool)`)
    18:41 expected a tuple with named fields, found `int` (this is `int`)
    18:50 expected a sequence, set or map, found `int` (this is `int`)
    18:62 expected `int`, found `bool` (this is `bool`)
    18:76 expected `int`, found `string` (this is `string`)
    18:93 expected a collection, found `string` (this is `string`)
    19:10 expected a map, found `seq[int]` (this is `seq[int]`)
    19:25 expected a map, found `int` (this is `int`)
    19:40 expected a number or collection to choose from, found `bool` (this is `bool`)
    19:55 expected a number or collection to choose from, found `float` (this is `float`)
    ");
}

#[test]
fn casts_and_conversions_that_cannot_succeed_are_refused() {
    assert_snapshot!(said(&inside(r#"
i = f as int; s = i as string; i = s to int; c = o to Colour; c = f to Colour; i = an to int; m = p to machine;
p = this to Peer; p = i to Peer; fe = d to few;
"#)), @r"
    18:5 `float` is never `int` (this cast can never succeed)
        help: `to int` converts numbers and enums
    18:19 `int` is never `string` (this cast can never succeed)
    18:36 `string` cannot be converted to `int` (`to` converts between numbers and enums, and machines to an interface)
    18:50 `Other` cannot be converted to `Colour` (`to` converts between numbers and enums, and machines to an interface)
    18:67 `float` cannot be converted to `Colour` (`to` converts between numbers and enums, and machines to an interface)
    18:84 `any` cannot be converted to `int` (`to` converts between numbers and enums, and machines to an interface)
        help: `as int` checks at run time that it is one
    18:99 `Peer` cannot be converted to `machine` (`to` converts between numbers and enums, and machines to an interface)
        help: no conversion is needed: `Peer` is `machine`
    19:23 `int` cannot be converted to `Peer` (`to` converts between numbers and enums, and machines to an interface)
    19:39 `data` cannot be converted to `few` (`to` converts between numbers and enums, and machines to an interface)
    ");
}

#[test]
fn calls_and_payloads_have_the_right_arguments() {
    assert_snapshot!(said(&inside(r#"
i = add(1); i = add(1, true); nothing(1); p = new Peer(); p = new Peer(true); p = new Peer(1, 2);
send m, e; send m, e, true; send m, e, 1, 2; send m, bare, 1; send m, pair, 1; send m, pair, 1, 2;
send m, named, 1, true; send i, e, 1; send m, i; send m, null; raise null; announce null; send an, e, 1;
"#)), @r"
    18:5 `add` takes 2 arguments, but 1 is given
        8:5 declared here
    18:24 expected `int`, found `bool` (this is `bool`)
        8:17 `b` is `int`
    18:31 `nothing` takes 0 arguments, but 1 is given
        9:5 declared here
    18:47 `Peer` is created with `int` (but nothing is given here)
        10:9 declared here
    18:72 expected `int`, found `bool` (this is `bool`)
        10:9 `Peer` is created with `int`
    18:83 `Peer` is created with `int`, but 2 are given
        10:9 declared here
    19:1 `e` carries `int` (but nothing is given here)
        4:7 declared here
    19:23 expected `int`, found `bool` (this is `bool`)
        4:7 `e` carries `int`
    19:29 `e` carries `int`, but 2 are given
        4:7 declared here
    19:60 expected nothing, found `int` (no value belongs here)
        4:78 `bare` carries nothing
    19:77 expected `(int, bool)`, found `int` (this is `int`)
        4:21 `pair` carries `(int, bool)`
    19:97 expected `bool`, found `int` (this is `int`)
    20:1 `named` carries `(a: int, b: bool)`, but 2 are given
        4:46 declared here
        help: name the fields: `(field = value, ...)`
    20:30 expected `machine`, found `int` (this is `int`)
    20:47 expected `event`, found `int` (this is `int`)
    20:58 `null` is not an event that can be sent (always null)
    20:70 `null` is not an event that can be sent (always null)
    20:85 `null` is not an event that can be sent (always null)
    20:96 expected `machine`, found `any` (this is `any`)
        help: `as machine` checks at run time that it is one
    ");
}

#[test]
fn texts_have_as_many_holes_as_values() {
    assert_snapshot!(said(&inside(r#"
s = format("{0} {1}", i); s = format("{0}", i, i); s = format("{"); s = format("{x}", i); s = "{0}"; s = "}";
print i;
"#)), @r#"
    18:5 this text takes 2 values, but 1 is given (holes are counted from `{0}`)
    18:31 this text takes 1 value, but 2 are given (holes are counted from `{0}`)
    18:63 a hole without an end (in this text)
        help: a hole is a number in braces, such as `{0}`; write `{{` for a brace
    18:80 a hole without a number (in this text)
        help: a hole is a number in braces, such as `{0}`; write `{{` for a brace
    18:95 nothing fills `{0}` (a text with a hole)
        help: write `format("...", value)`, or double the braces
    18:106 a closing brace without a hole (in this text)
        help: a hole is a number in braces, such as `{0}`; write `{{` for a brace
    19:7 expected `string`, found `int` (this is `int`)
        help: make a text of it with `format("{0}", ...)`
    "#);
}

#[test]
fn only_variables_and_their_parts_are_assigned_to() {
    assert_snapshot!(said(&inside(r#"
limit = 2; e = null; RED = GREEN; st[0] = 1; q = 1; nope = 1; i[0] = 1; t.5 = 1; n.z = 1;
"#)), @r"
    18:1 `limit` cannot be changed (a parameter of the project is set by the test)
        7:7 declared here
    18:12 `e` is not a variable (cannot be assigned to)
        4:7 declared here
    18:22 `RED` is not a variable (cannot be assigned to)
        2:15 declared here
    18:35 an element of a set cannot be replaced (this is a set)
        help: remove it with `-=` and add another with `+=`
    18:50 expected `seq[int]`, found `int` (this is `int`)
        14:9 `q` is `seq[int]`
    18:53 there is no variable `nope` (not declared)
    18:63 expected a sequence or map, found `int` (this is `int`)
    18:75 the tuple has no element 5 (it has 2, counted from 0)
    18:84 there is no field `z` (not declared)
    ");
}

#[test]
fn this_belongs_to_machines() {
    assert_snapshot!(said("fun f(): machine { return this; } machine Main { start state S { } }"), @r"
    1:27 `this` outside of a machine (no machine here)
        help: give the function a parameter of type `machine` and pass `this` to it
    ");
}

#[test]
fn an_error_is_not_repeated_by_what_uses_it() {
    assert_snapshot!(said(&inside(r#"
i = nope + 1; b = nope == nope2 && f(nope3); send nope4, e, 1; foreach (i in nope5) { i = nope6[0].x; }
"#)), @r"
    18:5 there is no variable, event or enum element `nope` (not declared)
    18:19 there is no variable, event or enum element `nope` (not declared)
    18:27 there is no variable, event or enum element `nope2` (not declared)
    18:36 there is no function `f` (not declared)
    18:38 there is no variable, event or enum element `nope3` (not declared)
    18:51 there is no variable, event or enum element `nope4` (not declared)
    18:78 there is no variable, event or enum element `nope5` (not declared)
    18:91 there is no variable, event or enum element `nope6` (not declared)
    ");
}
