// expect: pass exhaustive
// A start state that goes to itself after a choice.
machine Main { start state S { entry { if ($) { goto S; } } } }
test tcAgain [main=Main]: { Main };
