// Presses a button of a lift and lets it go.
machine Operator {
  start state Init {
    entry (config: (lift: machine, mode: tMode)) {
      send config.lift, ePressed, config.mode;
      send config.lift, eReleased;
    }
  }
}

type tSystem = (lifts: int, operators: int, limit: int, flaw: tFlaw);

fun SetUp(system: tSystem) {
  var lifts: seq[machine];
  var i: int;
  announce eLifts, system.lifts;
  while (i < system.lifts) {
    lifts += (i, new Lift((id = i + 1, limit = system.limit, flaw = system.flaw)));
    i = i + 1;
  }
  i = 0;
  while (i < system.lifts) {
    send lifts[i], eNext, lifts[(i + 1) % system.lifts];
    i = i + 1;
  }
  // The first operator presses up at the first lift, the second presses down at the last.
  new Operator((lift = lifts[0], mode = UP));
  if (system.operators > 1) {
    new Operator((lift = lifts[system.lifts - 1], mode = DOWN));
  }
}

machine OneOperator {
  start state Init {
    entry { SetUp((lifts = 3, operators = 1, limit = 2, flaw = NO_FLAW)); }
  }
}

machine TwoOperators {
  start state Init {
    entry { SetUp((lifts = 3, operators = 2, limit = 1, flaw = NO_FLAW)); }
  }
}

machine MovesAtOnce {
  start state Init {
    entry { SetUp((lifts = 2, operators = 1, limit = 2, flaw = MOVES_AT_ONCE)); }
  }
}

machine NoArbitration {
  start state Init {
    entry { SetUp((lifts = 3, operators = 2, limit = 2, flaw = NO_ARBITRATION)); }
  }
}

machine MissesRelease {
  start state Init {
    entry { SetUp((lifts = 2, operators = 1, limit = 2, flaw = MISSES_RELEASE)); }
  }
}

machine ExpectsNoPress {
  start state Init {
    entry { SetUp((lifts = 2, operators = 2, limit = 1, flaw = EXPECTS_NO_PRESS)); }
  }
}

module System = union Lifts, { Operator };

// expect: pass
test tcOneOperator [main=OneOperator]:
  assert Together, Rests in (union System, { OneOperator });

// expect: pass
test tcTwoOperators [main=TwoOperators]:
  assert Together, Rests in (union System, { TwoOperators });

// expect: fail monitor: another lift does not go with it
test tcMovesAtOnce [main=MovesAtOnce]:
  assert Together in (union System, { MovesAtOnce });

// expect: fail monitor: another lift does not go with it
test tcNoArbitration [main=NoArbitration]:
  assert Together in (union System, { NoArbitration });

// expect: fail hot-at-end: Rests
test tcMissesRelease [main=MissesRelease]:
  assert Rests in (union System, { MissesRelease });

// expect: fail unhandled-event: ePressed
test tcExpectsNoPress [main=ExpectsNoPress]:
  assert Together in (union System, { ExpectsNoPress });
