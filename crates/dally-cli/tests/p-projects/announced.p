// Two specs observe one announcement, and one of them ignores it.
event eSeen: int;

machine Main {
  start state S { entry { announce eSeen, 7; } }
}

spec First observes eSeen { start state A { on eSeen goto B; } state B { ignore eSeen; } }
spec Second observes eSeen { start state C { ignore eSeen; } }

test tcSeen [main=Main]: assert First, Second in { Main };
