fun SetUp(count: int, losses: int, flaw: tFlaw) {
  var ring: seq[machine];
  var i: int;
  while (i < count) {
    // The channel behind the last node is the bad one.
    if (i + 1 < count) {
      ring += (i, new TokenNode((id = i + 1, losses = 0, flaw = flaw)));
    } else {
      ring += (i, new TokenNode((id = i + 1, losses = losses, flaw = flaw)));
    }
    i = i + 1;
  }
  while (i > 0) {
    i = i - 1;
    send ring[i], eNext, ring[(i + 1) % count];
  }
}

machine NoLoss { start state Init { entry { SetUp(2, 0, NO_FLAW); } } }
machine OneLoss { start state Init { entry { SetUp(2, 1, NO_FLAW); } } }
machine TwoLosses { start state Init { entry { SetUp(3, 2, NO_FLAW); } } }
machine NoProbe { start state Init { entry { SetUp(2, 0, NO_PROBE); } } }
machine IgnoresMeeting { start state Init { entry { SetUp(2, 0, IGNORES_MEETING); } } }
machine ProbesOnce { start state Init { entry { SetUp(2, 1, PROBES_ONCE); } } }

// expect: pass
test tcNoLoss [main=NoLoss]:
  assert MutualExclusion in (union TokenRing, { NoLoss });

// expect: pass
test tcOneLoss [main=OneLoss]:
  assert MutualExclusion, Recovers in (union TokenRing, { OneLoss });

// expect: pass
test tcTwoLosses [main=TwoLosses]:
  assert MutualExclusion, Recovers in (union TokenRing, { TwoLosses });

// expect: fail monitor: enters while another works
test tcNoProbe [main=NoProbe]:
  assert MutualExclusion in (union TokenRing, { NoProbe });

// expect: fail monitor: enters while another works
test tcIgnoresMeeting [main=IgnoresMeeting]:
  assert MutualExclusion in (union TokenRing, { IgnoresMeeting });

// expect: fail hot-at-end: Recovers
test tcProbesOnce [main=ProbesOnce]:
  assert Recovers in (union TokenRing, { ProbesOnce });
