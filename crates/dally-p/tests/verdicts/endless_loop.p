// expect: fail endless-step Main, exhaustive
// A loop whose state repeats and that chooses nothing.
machine Main {
  var turn: bool;
  start state S { entry { while (true) { turn = !turn; } } }
}
test tcLoop [main=Main]: { Main };
