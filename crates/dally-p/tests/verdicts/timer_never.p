// expect: fail livelock Fires, exhaustive
// A timer that only delays: no schedule lets it fire, and the loop is exact.
event eStartTimer; event eTimeOut; event eDelayed; event eFired;
machine Timer {
  var client: machine;
  start state Init { entry (who: machine) { client = who; goto Waiting; } defer eStartTimer; }
  state Waiting { on eStartTimer goto Started; }
  state Started { entry { send this, eDelayed; } on eDelayed goto Started; }
}
machine Main {
  start state S {
    entry { var t: Timer; t = new Timer(this); send t, eStartTimer; }
    on eTimeOut do { announce eFired; }
  }
}
spec Fires observes eFired {
  start hot state Waiting { on eFired goto Fired; }
  cold state Fired { ignore eFired; }
}
test tcTimer [main=Main]: assert Fires in { Main, Timer };
