//! Everything that can be written.

use dally_p::syntax::ast::{Decl, Heat, LiteralValue, MachineKind, ModuleKind, StmtKind};

use super::parse;

#[test]
fn every_declaration_can_be_written() {
    let file = parse(
        "type T = (a: int, b: seq[set[map[int, (string, float)]]]); type Foreign; type One = (int,);
         enum E { A, B } enum N { C = 1, D = 5 }
         event e; event f: int; event g: (x: machine, y: any, z: data, w: event);
         eventset s = { e, f, halt };
         interface I() receives; interface J(int) receives e, f;
         param n, m: int;
         fun global(a: int, b: bool): string { return \"\"; } fun foreign(): int; fun makes(): machine creates I, J;
         machine M receives e; sends f, halt; receives; { start state S { } }
         spec P observes e, f { start cold state S { } hot state H { ignore e, halt; } }
         scenario Q observes e { start state S { on e goto T; } cold state T { } }
         module a = { M, M -> I }; module b = (union a, { M }); module c = compose a, b, c;
         module d = hidee e, halt in hidei I in assert P, Q in rename I to J in main M in a;
         test t1 [main=M]: { M }; test t2: a; test t3 [main=M]: a refines b;
         test param (n in [1, -2], m in [true, false]) t4 [main=M]: a;
         test param (n in [1]) assume n > 0 && true pairwise t5 [main=M]: a;
         test param (n in [1]) assume (n > 0) (2 wise) t6 [main=M]: (assert P in a);
         implementation i [main=M]: a; implementation j: a;",
    );
    assert_eq!(file.decls.len(), 30);
    let tests: Vec<_> = file
        .decls
        .iter()
        .filter_map(|decl| if let Decl::Test(test) = decl { Some(test) } else { None })
        .collect();
    assert_eq!(tests[3].params[0].1[1].0, LiteralValue::Int(-2));
    assert_eq!(tests[3].params[1].1[0].0, LiteralValue::Bool(true));
    assert_eq!(tests[4].wise.unwrap().value, 2);
    assert!(tests[5].assume.is_some() && tests[5].wise.is_some());
    assert!(matches!(tests[5].module.kind, ModuleKind::Assert(..)));
}

#[test]
fn every_item_of_a_machine_and_a_state_can_be_written() {
    let file = parse(
        "machine M {
           var a, b: int; var c: set[int];
           fun f() { }
           start hot state S {
             entry f; exit { } defer e, halt; ignore g;
             on e, f do h; on null do { } on halt goto T; on g goto T with f; on e goto T with (x: int) { }
             entry (x: int) { var y, z: int; var w: bool; ; }
           }
           cold state T { exit f; }
           state U { }
         }",
    );
    let Decl::Machine(machine) = &file.decls[0] else { panic!() };
    assert_eq!(machine.kind, MachineKind::Machine);
    assert_eq!(machine.receives, None);
    assert_eq!(machine.states.len(), 3);
    assert!(machine.states[0].start && machine.states[0].heat == Heat::Hot);
    assert_eq!(machine.states[0].items.len(), 10);
}

#[test]
fn every_statement_can_be_written() {
    let file = parse(
        "fun f() {
           ;
           { x = 1; { } }
           assert x == 1; assert x in s, \"message\" + x; assert (x > 1), format(\"{0}\", x);
           print \"text\"; print format(\"{0} {1}\", x, y);
           return; return x; break; continue;
           x = 1; x.a.0[1] = 2; x[a[b]].c = d;
           x += (1, 2); x[1] += (2); x += ((a, b)); x += ((a = 1,)); x -= y; x -= (y);
           while (true) x = 1; while ($) { }
           foreach (x in xs) { } foreach (x in keys(m)) y = x;
           if (a) b = 1; if (a) { } else if (b) { } else c = 1;
           new M(); new M(1, 2); f(); f(1, (2, 3));
           raise e; raise e, 1; raise halt; raise e, (a = 1, b = 2);
           send m, e; send m, e, 1; send this, e, (a = 1,); send m.x[0], e, x, y;
           announce e; announce e, 1;
           goto S; goto S, 1;
           receive { case e: { } case f, g: (x: int) { var y: int; } case halt: { } }
         }",
    );
    let Decl::Fun(fun) = &file.decls[0] else { panic!() };
    let statements = &fun.body.as_ref().unwrap().statements;
    assert_eq!(statements.len(), 43);
    assert!(matches!(&statements[42].kind, StmtKind::Receive(cases) if cases.len() == 3));
}

#[test]
fn every_expression_can_be_written() {
    parse(
        "fun f() {
           x = null; x = halt; x = this; x = true; x = false; x = $; x = $$;
           x = choose(); x = choose(5); x = choose(xs);
           x = keys(m); x = values(m); x = sizeof(m); x = default(map[int, seq[T]]);
           x = new M(1); x = f(1, 2).a; x = m[k].0.b; x = 1.5 + .5; x = \"\" + \"\\\"\";
           x = a as (int, bool); x = a to float; x = -1; x = !!a; x = - - 1;
           x = format(\"none\"); x = format(\"{0}\", 1); x = (1, (2, 3), (a = 1, b = (c = 2,)));
         }",
    );
}

#[test]
fn what_older_versions_called_keywords_are_names() {
    parse(
        "machine M { var push, pop, group, model, ghost, monitor, swap, move, for, let: int;
           start state S { entry { push = pop; monitor = group; for(1); pop(); swap = move; } } }",
    );
}

#[test]
fn a_byte_order_mark_and_all_kinds_of_space_are_skipped() {
    assert_eq!(parse("\u{feff}event e;\r\n\tevent f;\x0c event g;").decls.len(), 3);
}

#[test]
fn nothing_is_a_file_too() {
    assert!(parse("").decls.is_empty());
    assert!(parse("// nothing").decls.is_empty());
    assert!(parse("/* nothing /* at all */").decls.is_empty());
}
