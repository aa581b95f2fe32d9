machine Listener {
  start state Listening {
    ignore eNodesDown;
  }
}

// Kills one of the nodes, at any moment.
machine Killer {
  start state Init {
    entry (nodes: set[machine]) {
      var victim: machine;
      victim = choose(nodes);
      send victim, eDie;
      announce eCrashed, victim;
    }
  }
}

fun SetUp(count: int, kill: bool, flaw: tDetectorFlaw) {
  var nodes: set[machine];
  var i: int;
  while (i < count) {
    nodes += (new Node());
    i = i + 1;
  }
  new FailureDetector((nodes = nodes, client = new Listener(), flaw = flaw));
  if (kill) {
    new Killer(nodes);
  }
}

machine OneNode { start state Init { entry { SetUp(1, false, NO_FLAW); } } }
machine OneNodeCrash { start state Init { entry { SetUp(1, true, NO_FLAW); } } }
machine TwoNodesCrash { start state Init { entry { SetUp(2, true, NO_FLAW); } } }
machine StalePongs { start state Init { entry { SetUp(1, false, COUNTS_STALE_PONGS); } } }
machine NeverForgets { start state Init { entry { SetUp(2, true, NEVER_FORGETS); } } }
machine ReportsAgain { start state Init { entry { SetUp(1, true, REPORTS_AGAIN); } } }
machine EndsDeaf { start state Init { entry { SetUp(1, false, ENDS_DEAF); } } }

module System = union Detection, { Listener, Killer };

// expect: pass
test tcOneNode [main=OneNode]:
  assert ReportedOnce, FewPings in (union System, { OneNode });

// expect: pass
test tcOneNodeCrash [main=OneNodeCrash]:
  assert CrashIsReported, ReportedOnce in (union System, { OneNodeCrash });

// expect: pass sampled
test tcTwoNodesCrash [main=TwoNodesCrash]:
  assert CrashIsReported, ReportedOnce in (union System, { TwoNodesCrash });

// expect: fail monitor: more than three pings are under way
test tcStalePongs [main=StalePongs]:
  assert FewPings in (union System, { StalePongs });

// expect: fail livelock: CrashIsReported
test tcNeverForgets [main=NeverForgets]:
  assert CrashIsReported in (union System, { NeverForgets });

// expect: fail monitor: a node is reported down twice
test tcReportsAgain [main=ReportsAgain]:
  assert ReportedOnce in (union System, { ReportsAgain });

// expect: fail unhandled-event: ePong
test tcEndsDeaf [main=EndsDeaf]:
  assert ReportedOnce in (union System, { EndsDeaf });
