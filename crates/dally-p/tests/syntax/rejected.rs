//! What is said of texts that are wrong.

use super::{complaints, complaints_of};

#[test]
fn a_forgotten_semicolon_is_asked_for_where_it_belongs() {
    insta::assert_snapshot!(complaints("event a\nevent b;\ntype T = int\nmodule m = { M }\nevent c"), @r#"
        1:8 expected `;` after the declaration of an event (here)
        3:13 expected `;` after the declaration of a type (here)
        4:17 expected `;` after the declaration of a module (here)
        5:8 expected `;` after the declaration of an event (here)
    "#);
    insta::assert_snapshot!(complaints_of("x = 1\ny = f(2)\nsend m, e\nraise e }"), @r#"
        2:6 expected `;` after an assignment (here)
        3:9 expected `;` after an assignment (here)
        4:10 expected `;` after `send` (here)
        5:8 expected `;` after `raise` (here)
        6:5 this `}` closes nothing -> leave it out, or find the missing `{`
    "#);
}

#[test]
fn assignment_and_comparison_are_told_apart() {
    insta::assert_snapshot!(complaints_of("x := 1;\nx == 1;\nif (x = 1) { }\nwhile (x.y = 2) { }\nassert x = 1;\nx = y === z;"), @r#"
        2:3 `:=` does not assign -> write `=` to assign
        3:3 `==` does not assign -> write `=` to assign
        4:7 `=` does not compare -> write `==` to compare
        5:12 `=` does not compare -> write `==` to compare
        6:10 `=` does not compare -> write `==` to compare
        7:9 one `=` too many -> write `==`
    "#);
}

#[test]
fn variables_are_declared_at_the_top_and_without_values() {
    insta::assert_snapshot!(complaints_of("var a: int = 1;\nvar b int;\nx = 1;\nvar c: int;\nif (x) { var d: int; }\nint e;\nFoo g;\nlet h = 1;\ni: int;\nforeach (var j in s) { }\nforeach (k: int in s) { }"), @r#"
        2:12 a variable has no initial value in its declaration -> declare it first, `var a: ...;`, and give it its value in a statement, `a = ...;`
        3:7 expected `:` and a type, found the keyword `int`
        5:1 a variable is declared after statements -> variables are declared at the top of the function's body, before its statements
        6:10 a variable is declared in an inner block -> variables are declared at the top of the function's body, before its statements
        7:1 a variable is not declared by its type -> write `var x: int;` at the top of the function's body
        8:5 this is no declaration of a variable -> write `var g: Foo;` at the top of the function's body
        9:1 variables are declared with `var` -> write `var x: T;` at the top of the function's body
        10:2 this is no declaration of a variable -> write `var i: T;` at the top of the function's body
        11:10 a loop declares no variable -> declare it at the top of the function's body: `var x: T;`
        12:11 a loop declares no variable -> declare it at the top of the function's body: `var k: T;`
    "#);
    insta::assert_snapshot!(complaints("var x: int;\nmachine M { start state S { var y: int; } }"), @r#"
        1:1 there are no global variables -> variables belong to machines and functions; a value that a test sets is a `param`
        2:29 a `var` stands in a state -> variables belong to the machine, or to the top of a function's body
    "#);
}

#[test]
fn what_other_languages_have_is_translated() {
    insta::assert_snapshot!(complaints_of("for (i = 0; i < 3; i = i + 1) { x = 1; }\ni++;\ni--;\ni += 1;\ni *= 2;\nif x { }\nif (a & b | c) { }\nelif (x) { }\nx = 'text';\nx = [1, 2];\nhalt;\nx = s.y = 1;"), @r#"
        2:1 there is no `for` -> write `foreach (x in xs) { ... }`, or `i = 0; while (i < n) { ... i = i + 1; }`
        3:2 there is no `++` -> write `i = i + 1;`
        4:2 there is no `--` -> write `i = i - 1;`
        5:6 expected `(`, found `1` -> write `s += (x);` for a set and `s += (k, x);` for a sequence or map; to add numbers or texts, `n = n + x;`
        6:3 there is no `*=` -> write `i = i * ...;`
        7:4 expected `(`, found `x` -> the condition stands in parentheses: `if (x > 0) ...`
        8:7 there is no `&` in P -> "and" is written `&&`
        8:11 there is no `|` in P -> "or" is written `||`
        9:1 there is no such word -> write `else if (...)`
        10:5 texts stand in double quotes -> write `"..."`; there are no single characters in P
        11:5 expected an expression, found `[` -> there are no literals of collections: begin with `default(seq[T])` and add with `+=`
        12:1 `halt` is an event -> write `raise halt;`
        13:9 expected `;` after an assignment, found `=`
    "#);
    insta::assert_snapshot!(complaints("fun f() -> int { return 1; }\nfun g(x int) { }\nvar t: seq<int>;\nevent e, f;\nenum E { };\nmachine M { var s: seq<int>; };"), @r#"
        1:9 expected `:` or `{`, found `->` -> what a function returns is written `: T`
        2:9 expected `:` and a type, found the keyword `int`
        3:1 there are no global variables -> variables belong to machines and functions; a value that a test sets is a `param`
        4:8 expected `;` after the declaration of an event, found `,` -> each event has a declaration of its own
        5:10 an enum has at least one element
        5:11 no `;` stands after `}` here -> leave it out
        6:23 expected `[`, found `<` -> write `seq[int]`, `set[int]` and `map[int, string]`
        6:31 no `;` stands after `}` here -> leave it out
    "#);
}

#[test]
fn tuples_with_one_field_need_a_comma() {
    insta::assert_snapshot!(complaints_of("x = (a = 1);\nx += (a = 1, b = 2);\nx += (1, 2, 3);\nx = ();\nsend (m, e, 1);\nraise (e, 1);\ngoto S(1);"), @r#"
        2:11 a tuple with one field needs a comma (expected `,` here) -> write `(a = ...,)` for a tuple, `a == ...` to compare
        3:7 expected an expression, found `a` -> a tuple has parentheses of its own: `s += ((x = 1, y = 2));`
        4:11 expected `)`, found `,` -> a tuple has parentheses of its own: `s += (k, (x, y));`
        5:6 expected an expression, found `)` -> a tuple has at least one field
        6:15 expected `,` and an event, found `;` -> there are no parentheses around it: `send m, e, payload;`
        7:7 `raise` takes an event, not a tuple -> there are no parentheses around it: `raise e, payload;`
        8:7 expected `;` or `,`, found `(` -> what the state is entered with is written `goto S, x;`
    "#);
}

#[test]
fn what_older_versions_had_is_replaced() {
    insta::assert_snapshot!(complaints("event a assert 1;\nevent b assume 2: int;\nmachine A assert 3 { start state S { } }\nmain machine B { }\nghost machine C { }\nmodel D { }\nmodel fun f() { }\nmonitor E { start state S { } }\nspec monitor F observes a { }\ninclude \"x.p\"\nevent last;"), @r#"
        1:9 queues have no declared bounds any more -> leave it out; to bound them, count in a spec
        2:9 queues have no declared bounds any more -> leave it out; to bound them, count in a spec
        3:11 queues have no declared bounds any more -> leave it out; to bound them, count in a spec
        4:1 no machine is marked as main any more -> a test names the machine it starts with: `test t [main=M]: { M };`
        5:1 there are no ghost declarations any more -> models are ordinary machines and functions, which a test's module binds; what only observes is a `spec`
        6:1 there are no models any more -> write `machine`, or `type T;`
        7:1 there are no model declarations any more -> models are ordinary machines and functions, which a test's module binds; what only observes is a `spec`
        8:1 monitors are now specs -> write `spec M observes a, b { ... }`, and `assert M in ...` in the test
        9:6 a spec is not called a monitor any more -> write `spec M observes`
        10:1 there is no `include` any more -> all files of a project see each other: name a folder or a .pproj file
    "#);
    insta::assert_snapshot!(complaints("machine M {\n  group G { start state S { } }\n  state T { on e push U; on default goto T; entry { }; }\n  state U { on e goto G.S; }\n  ghost var x: int;\n}"), @r#"
        2:3 there are no groups of states any more -> states stand in the machine itself, side by side
        3:18 there is no `push` any more -> use `goto`, and keep the state to come back to in a variable
        3:29 expected the name of an event, found the keyword `default` -> what happens when nothing can be dequeued is `on null`
        3:54 no `;` stands after `}` here -> leave it out
        4:24 there are no groups of states any more -> states stand in the machine itself and are called by their names
        5:3 there is no `ghost` any more -> leave it out: what only observes is a `spec`
    "#);
    insta::assert_snapshot!(complaints_of("push S;\npop;\nmonitor e, 1;\nf(x swap, y move);\nx = y swap;\nprint \"{0}\", x;\nassert x, \"{0}\", y;\ndelete;\ngoto G.S;"), @r#"
        2:1 there is no `push` any more -> use `goto`, and keep the state to come back to in a variable
        3:1 there is no `pop` any more -> use `goto`, and keep the state to come back to in a variable
        4:1 specs are told with `announce` -> write `announce e, payload;`
        5:5 there is no `swap` and no `move` any more -> leave it out: values are copied, and copying is cheap
        5:13 there is no `swap` and no `move` any more -> leave it out: values are copied, and copying is cheap
        6:7 there is no `swap` and no `move` any more -> leave it out: values are copied, and copying is cheap
        7:12 `print` takes one text -> write `print ... format("x is {0}", x);`
        8:16 `assert` takes one text -> write `assert ... format("x is {0}", x);`
        9:1 there is no such statement any more -> `raise halt;` ends a machine, `return;` a function
        10:7 there are no groups of states any more -> states stand in the machine itself and are called by their names
    "#);
}

#[test]
fn code_for_the_verifier_is_said_to_be_and_declarations_are_skipped() {
    insta::assert_snapshot!(complaints("pure f(x: int): int = x;\ninvariant i: forall (x: int) :: x == x;\naxiom a;\ninit-condition b;\nLemma l { invariant j: a; }\nTheorem t { invariant k: b; }\nProof { prove l using t except j; }\nfun g(); return (r: int); requires x; ensures y;\nfun h() requires x; { while (a) invariant b; { } }\nprove x;"), @"10:1 `prove` is for the P verifier");
    insta::assert_snapshot!(complaints_of("assume x;\nx = a ==> b;\nx = a <==> b;\nx = forall (y: int) :: y;\nx = inflight e;\nx = e targets m && sent e;\nx = e is f;\nsent = 1;"), @r#"
        2:1 `assume` is for the P verifier -> write an `if` around what follows, or `assert`
        3:7 `==>` is for the P verifier -> write `!a || b`
        4:7 `<==>` is for the P verifier -> write `a == b`
        5:5 `forall` is for the P verifier
        6:5 `inflight` is for the P verifier
        7:7 `targets` is for the P verifier
        7:20 `sent` is for the P verifier
        8:7 `is` is for the P verifier
        9:1 `sent` is for the P verifier
    "#);
    insta::assert_snapshot!(complaints("machine M { var sent: int; var is, using: bool; }"), @r#"
        1:17 expected the name of a variable, found the keyword `sent` -> `sent` is reserved for the P verifier
        1:32 expected the name of a variable, found the keyword `is` -> `is` is reserved for the P verifier
        1:36 expected the name of a variable, found the keyword `using` -> `using` is reserved for the P verifier
    "#);
}

#[test]
fn texts_comments_and_characters_that_make_no_sense_are_pointed_at() {
    insta::assert_snapshot!(complaints("event a # ;\nevent b@@;\nevent größe;\nevent 1x;\nevent c; \u{7f} event d;\u{a0}"), @r#"
        1:9 there is no `#` in P
        2:8 there is no `@@` in P
        3:7 `größe` cannot be a name -> names consist of the letters a to z and A to Z, digits and `_`
        4:7 `1x` is neither a number nor a name -> numbers are written like `15` and `1.5`; names begin with a letter or `_`
        5:10 there is a character U+007F here, which P does not know
        5:20 there is a character U+00A0 here, which P does not know
    "#);
    insta::assert_snapshot!(complaints_of("x = \"\\q\\u12\";\nx = 2147483648;\nx = 99999999999999999999;\nx = t.3000000000;\nx = 1.;"), @r#"
        2:6 this escape is unknown -> there are \n, \t, \r, \0, \", \\ and \u with four hexadecimal digits
        2:8 this escape is unknown -> there are \n, \t, \r, \0, \", \\ and \u with four hexadecimal digits
        3:5 this number does not fit 32 bits -> literals go from -2147483648 to 2147483647; calculate larger numbers
        4:5 this number does not fit 32 bits -> literals go from -2147483648 to 2147483647; calculate larger numbers
        5:7 this number does not fit 32 bits -> literals go from -2147483648 to 2147483647; calculate larger numbers
        6:7 expected the name or number of a field, found `;`
    "#);
    insta::assert_snapshot!(complaints("event a; /* never closed\nevent b;"), @"1:10 this comment is never closed -> close it with `*/`");
    insta::assert_snapshot!(complaints("fun f() {\n  print \"never closed;\n  x := 1;\n}\n"), @r#"
        2:9 this text is never closed -> close it with `"`
        3:5 `:=` does not assign -> write `=` to assign
    "#);
}

#[test]
fn braces_that_are_missing_or_too_many_do_not_hide_what_follows() {
    insta::assert_snapshot!(complaints("machine M {\n  start state S {\n    entry { x = 1;\n    on e do { y := 2; }\n  }\n}\nmachine N { start state S { x } }\nevent e f;"), @r#"
        4:5 expected `}`, found the keyword `on` [3:11 this block begins here and is never closed]
        4:17 `:=` does not assign -> write `=` to assign
        7:29 expected `entry`, `exit`, `on`, `defer`, `ignore` or `}`, found `x` -> statements stand in handlers, variables and functions in the machine
        8:9 expected `;` after the declaration of an event, found `f`
    "#);
    insta::assert_snapshot!(complaints("machine M {\n  start state S { entry { if (x) { y = 1; } } } }\n  state T { }\n}\nevent e f;"), @r#"
        3:3 a state stands outside of a machine -> look for a `}` too many before it
        5:9 expected `;` after the declaration of an event, found `f`
    "#);
    insta::assert_snapshot!(complaints("machine M {\n  fun f() {\nmachine N { }\nevent e f;"), @r#"
        3:1 expected `}`, found the keyword `machine` [2:11 this block begins here and is never closed]
        4:9 expected `;` after the declaration of an event, found `f`
    "#);
    insta::assert_snapshot!(complaints("machine M { start state S {"), @"1:28 expected `}`, found the end of the file [1:27 this state begins here and is never closed]");
}

#[test]
fn every_statement_with_an_error_gets_its_own_complaint() {
    insta::assert_snapshot!(complaints_of("x = ;\nif (y) { z = 1 + ; }\nsend m;\nraise ;\nreceive { }\nreceive { case e { } }\nnew;\nf(,);\nx[ = 1;\nfoo bar baz;\n1 = 2;\nf() = 1;\nelse { }\nprint;"), @r#"
        2:5 expected an expression, found `;`
        3:18 expected an expression, found `;`
        4:7 expected `,` and an event, found `;` -> write `send machine, event;` or `send machine, event, payload;`
        5:7 expected an expression, found `;`
        6:11 expected `case`, found `}` -> write `receive { case e: { ... } }`
        7:18 expected `:`, found `{`
        8:4 expected the name of a machine or interface, found `;`
        9:3 expected an expression, found `,`
        10:4 expected an expression, found `=`
        11:1 expected a statement, found an expression and `bar` -> an assignment or a call is a statement; its value goes to a variable
        12:1 expected a statement or `}`, found `1`
        13:1 this cannot be changed: it is no variable -> what can be changed begins with a variable: `x`, `x.field`, `x.0`, `x[i]`
        14:1 this `else` belongs to no `if` -> look for a `;` or a second statement before it
        15:6 expected an expression, found `;`
    "#);
}

#[test]
fn every_declaration_with_an_error_gets_its_own_complaint() {
    insta::assert_snapshot!(complaints("type = int;\nevent;\nenum E;\neventset s = { };\neventset s = { null };\ninterface I receives e;\ninterface I();\nspec S { }\nmachine M observes e { }\nfun f( { }\nfun f() creates I { }\nmodule m = union a;\nmodule m = { };\ntest t [M]: m;\ntest param (x in [\"a\"]) t: m;\ntest t: compose a b;\nfoo;\nevent e;;\n}"), @r#"
        1:6 expected the name of the type, found `=`
        2:6 expected the name of the event, found `;`
        3:7 expected `{`, found `;`
        4:16 expected the name of an event, found `}`
        5:16 `null` is never sent
        6:13 expected `(`, found the keyword `receives`
        7:14 expected `receives`, found `;`
        8:8 expected `observes`, found `{` -> a spec says which events it observes: `spec S observes a, b { ... }`
        9:11 a machine does not observe -> what observes is a `spec`
        10:8 expected the name of a parameter, found `{`
        11:17 only a foreign function says what it creates -> leave out `creates`: the body tells
        12:12 `union` needs two modules or more -> put commas between them
        13:14 expected the name of a machine, found `}`
        14:9 expected `main`, found `M`
        15:19 expected a whole number, `true` or `false`, found a text
        16:9 `compose` needs two modules or more -> put commas between them
        16:19 expected `;` after the declaration of a test, found `b`
        17:1 expected a declaration, such as `machine`, `event` or `fun`, found `foo`
        18:9 a `;` stands alone here -> leave it out
        19:1 this `}` closes nothing -> leave it out, or find the missing `{`
    "#);
    insta::assert_snapshot!(complaints("machine M {\n  hot start state S { on e { } on e do f(); on f goto; entry 5; x = 1; }\n  receives e;\n  entry { }\n  state { }\n  state T { defer; ignore e f; }\n  fun () { }\n  foo\n  state U { }\n}"), @r#"
        2:7 `start` comes first -> write `start hot state` or `start cold state`
        2:28 expected `do` or `goto`, found `{` -> write `on e do { ... }`
        2:41 a handler is named, not called -> write `f;`: it gets what the event carries
        2:54 expected the name of a state, found `;`
        2:62 expected the name of a function or `{`, found `5`
        3:3 `receives` stands before the `{` of the machine -> write `machine M receives a, b; { ... }`
        5:9 expected the name of the state, found `{`
        6:18 expected the name of an event, found `;`
        6:29 expected `;` after `ignore`, found `f`
        7:7 expected the name of the function, found `(`
    "#);
}

#[test]
fn what_is_nested_too_deeply_is_refused() {
    let deep = |open: &str, close: &str| {
        let text = format!("x = {}1{};", open.repeat(100_000), close.repeat(100_000));
        complaints_of(&text)
    };
    insta::assert_snapshot!(deep("(", ")"), @"2:259 this is nested too deeply (more than 256 levels) -> give parts of it names: functions, types and variables");
    insta::assert_snapshot!(deep("-", ""), @"2:260 this is nested too deeply (more than 256 levels) -> give parts of it names: functions, types and variables");
    insta::assert_snapshot!(deep("f(", ")"), @"2:513 this is nested too deeply (more than 256 levels) -> give parts of it names: functions, types and variables");
    insta::assert_snapshot!(deep("(1 + ", ")"), @"2:1271 this is nested too deeply (more than 256 levels) -> give parts of it names: functions, types and variables");
    insta::assert_snapshot!(deep("", ".a"), @"2:513 this is nested too deeply (more than 256 levels) -> give parts of it names: functions, types and variables");
    insta::assert_snapshot!(deep("", "[0]"), @"2:767 this is nested too deeply (more than 256 levels) -> give parts of it names: functions, types and variables");
    insta::assert_snapshot!(deep("", " as int"), @"2:1785 this is nested too deeply (more than 256 levels) -> give parts of it names: functions, types and variables");
    assert_eq!(deep("a ==> ", "").lines().count(), 50);
    insta::assert_snapshot!(complaints_of(&"{".repeat(100_000)), @"2:257 this is nested too deeply (more than 256 levels) -> give parts of it names: functions, types and variables");
    insta::assert_snapshot!(complaints_of(&"if (x) { } else { ".repeat(100_000)), @"2:2291 this is nested too deeply (more than 256 levels) -> give parts of it names: functions, types and variables");
    insta::assert_snapshot!(complaints_of(&"while (x) receive { case e: { ".repeat(100_000)), @"2:3818 this is nested too deeply (more than 256 levels) -> give parts of it names: functions, types and variables");
    insta::assert_snapshot!(complaints(&format!("type T = {};", "seq[".repeat(100_000))), @"1:1034 this is nested too deeply (more than 256 levels) -> give parts of it names: functions, types and variables");
    insta::assert_snapshot!(complaints(&format!("module m = {};", "main M in ".repeat(100_000))), @"1:2572 this is nested too deeply (more than 256 levels) -> give parts of it names: functions, types and variables");
    insta::assert_snapshot!(complaints(&format!("event e; {} event f", "(".repeat(100_000))), @"1:10 expected a declaration, such as `machine`, `event` or `fun`, found `(`");
}

#[test]
fn a_file_gets_fifty_complaints_at_most() {
    assert_eq!(complaints(&"event e f;\n".repeat(1000)).lines().count(), 50);
    assert_eq!(complaints(&"#\n".repeat(1000)).lines().count(), 50);
}
