// expect: pass exhaustive
// `$$` is a fair choice: it comes up true sooner or later.
event eAgain; event eDone;
machine Main {
  start state S {
    entry { send this, eAgain; }
    on eAgain do { if ($$) { announce eDone; } else { send this, eAgain; } }
  }
}
spec Ends observes eDone {
  start hot state Waiting { on eDone goto Done; }
  cold state Done { ignore eDone; }
}
test tcFair [main=Main]: assert Ends in { Main };
