// expect: pass exhaustive
// Five million plain iterations.
machine Main { start state S { entry { var i: int; while (i < 5000000) { i = i + 1; } assert i == 5000000; } } }
test tcTurns [main=Main]: { Main };
