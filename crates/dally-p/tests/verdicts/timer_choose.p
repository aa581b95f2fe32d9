// expect: pass exhaustive
// A timer that draws how long it waits, and may draw again.
event eTick; event eTimeOut; event eFired;
machine Timer {
  var client: machine;
  start state Init {
    entry (who: machine) { client = who; send this, eTick; }
    on eTick do { if (choose(5) == 3) { send client, eTimeOut; raise halt; } send this, eTick; }
  }
}
machine Main {
  start state S { entry { new Timer(this); } on eTimeOut do { announce eFired; } }
}
spec Fires observes eFired {
  start hot state Waiting { on eFired goto Fired; }
  cold state Fired { ignore eFired; }
}
test tcTimer [main=Main]: assert Fires in { Main, Timer };
