// expect: cut
// Counts for ever: no state repeats, so the schedule is cut, as by any bound.
machine Main { start state S { entry { var i: int; while (true) { i = i + 1; } } } }
test tcCounts [main=Main]: { Main };
