// expect: pass, exhaustive
// The first coin ends it sooner or later, whatever the second one shows in the same loop.
event eStart;
event eGo;
event eDone;
machine Main {
  var kept: bool;
  start state Begin { entry { announce eStart; goto First; } }
  state First {
    entry { send this, eGo; }
    on eGo do { if ($) { announce eDone; raise halt; } else { goto Second; } }
  }
  state Second {
    entry { send this, eGo; }
    on eGo do { kept = $; goto First; }
  }
}
spec Ends observes eStart, eDone {
  start state Idle { on eStart goto Waiting; }
  hot state Waiting { on eDone goto Over; }
  state Over { }
}
test tcTwoCoins [main=Main]: assert Ends in { Main };
