// A machine that handles null when it has nothing else to do.
machine Main {
  var turns: int;
  start state Idle {
    on null do {
      turns = turns + 1;
      if (turns == 2) { goto Done; }
    }
  }
  state Done { }
}

test tcIdle [main=Main]: { Main };
