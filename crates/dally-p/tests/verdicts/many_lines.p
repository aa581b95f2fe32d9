// expect: pass exhaustive
// A loop that prints twelve thousand lines.
machine Main { start state S { entry { var i: int; while (i < 12000) { print format("line {0}", i); i = i + 1; } } } }
test tcPrints [main=Main]: { Main };
