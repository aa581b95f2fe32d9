// A foreign function of a machine, which reads a variable of it.
machine Main {
  var last: int;
  fun Next(): int;
  start state S {
    entry { last = Next(); last = Next(); assert last == 3, format("it is {0}", last); }
  }
}

test tcNext [main=Main]: { Main };
