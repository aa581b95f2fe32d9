// expect: fail assertion null, exhaustive
// `case null` compiles, and fails when it is reached.
event e;
machine Main { start state S { entry { receive { case e: { } case null: { } } } } }
test tcNull [main=Main]: { Main };
