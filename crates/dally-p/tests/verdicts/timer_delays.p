// expect: pass exhaustive
// The standard timer of P's tutorials: it fires, or delays itself by a message of its own. It may delay
// for ever only if chance does, which fairness rules out.
event eStartTimer; event eTimeOut; event eDelayed; event eFired;
machine Timer {
  var client: machine;
  start state Init { entry (who: machine) { client = who; goto Waiting; } defer eStartTimer; }
  state Waiting { on eStartTimer goto Started; ignore eDelayed; }
  state Started {
    defer eStartTimer;
    entry {
      if ($) { send client, eTimeOut; goto Waiting; } else { send this, eDelayed; }
    }
    on eDelayed goto Started;
  }
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
