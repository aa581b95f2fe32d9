// expect: pass, exhaustive
// Two coins of one step: it ends when they differ.
event eStart;
event eGo;
event eDone;
machine Main {
  start state Begin { entry { announce eStart; goto Flipping; } }
  state Flipping {
    entry { send this, eGo; }
    on eGo do {
      var first, second: bool;
      first = $;
      second = $;
      if (first != second) { announce eDone; raise halt; }
      goto Flipping;
    }
  }
}
spec Ends observes eStart, eDone {
  start state Idle { on eStart goto Waiting; }
  hot state Waiting { on eDone goto Over; }
  state Over { }
}
test tcTwice [main=Main]: assert Ends in { Main };
