// expect: pass
// A spec that is hot, then neither hot nor cold, then hot again is served each time.
event eAsk; event eGot; event eTick;
machine Main {
  start state S {
    entry { send this, eTick; }
    on eTick do { announce eAsk; announce eGot; send this, eTick; }
  }
}
spec Served observes eAsk, eGot {
  start state Idle { on eAsk goto Waiting; ignore eGot; }
  hot state Waiting { on eGot goto Idle; ignore eAsk; }
}
test tcServed [main=Main]: assert Served in { Main };
