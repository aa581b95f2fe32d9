// A machine that never stops.
event eTick;
machine Main {
  start state S { entry { send this, eTick; } on eTick do { send this, eTick; } }
}

test tcEndless [main=Main]: { Main };
