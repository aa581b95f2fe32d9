// expect: pass exhaustive
// Nobody gets to the `receive` with `case null`.
event e;
machine Main { start state S { entry { if (1 == 2) { receive { case null: { } case e: { } } } } } }
test tcNull [main=Main]: { Main };
