// expect: pass exhaustive
// Loops that only chance ends, in both directions.
machine Main { start state S { entry { while ($) { } while (!$) { } } } }
test tcWhile [main=Main]: { Main };
