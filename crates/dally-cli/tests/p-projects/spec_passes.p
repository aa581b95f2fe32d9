// A spec that changes its state, in a run that passes.
event ePing: machine;
event ePong;

machine Ponger {
  start state Waiting {
    on ePing do (from: machine) { print "pong it is"; send from, ePong; }
  }
}

machine Main {
  start state Start {
    entry { send new Ponger(), ePing, this; }
    on ePong goto Done;
  }
  state Done { entry { print "done"; } }
}

spec Answered observes ePing, ePong {
  start cold state Quiet { on ePing goto Open; }
  hot state Open { on ePong goto Quiet; }
}

test tcPing [main=Main]: assert Answered in { Main, Ponger };
