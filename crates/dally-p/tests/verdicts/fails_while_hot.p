// expect: fail assertion Main
// A spec is hot for much longer than a suspicion takes, and then an assertion fails: that is the bug.
event ePing: int;
event eStarted;
event eDone;

machine Main {
  start state Pinging {
    entry { announce eStarted; send this, ePing, 1; }
    on ePing do (n: int) {
      assert n < 90000, "ninety thousand pings";
      send this, ePing, n + 1;
    }
  }
}

spec Ends observes eStarted, eDone {
  start state Quiet { on eStarted goto Waiting; }
  hot state Waiting { on eDone goto Over; }
  cold state Over { }
}

test tcPings [main=Main]: assert Ends in { Main };
