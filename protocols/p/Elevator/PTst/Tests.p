// Calls the elevator to some floors of a building.
machine Person {
  start state Init {
    entry (config: (elevator: machine, floors: seq[int])) {
      var floor: int;
      foreach (floor in config.floors) {
        send config.elevator, eCall, floor;
      }
    }
  }
}

fun SetUp(floors: seq[int], flaw: tFlaw) {
  new Person((elevator = new Elevator(flaw), floors = floors));
}

fun Floors(a: int, b: int): seq[int] {
  var floors: seq[int];
  floors += (0, a);
  floors += (1, b);
  return floors;
}

machine TwoCalls { start state Init { entry { SetUp(Floors(1, 0), NO_FLAW); } } }
machine AboveAndBelow { start state Init { entry { SetUp(Floors(1, -1), NO_FLAW); } } }
machine MovesBeforeClosed {
  start state Init {
    entry { SetUp(Floors(0, 1), MOVES_BEFORE_CLOSED); }
  }
}
machine DropsCalls { start state Init { entry { SetUp(Floors(1, 0), DROPS_CALLS); } } }
machine ChangesItsMind { start state Init { entry { SetUp(Floors(2, -1), CHANGES_ITS_MIND); } } }
machine NoObstacle { start state Init { entry { SetUp(Floors(0, 1), EXPECTS_NO_OBSTACLE); } } }

// expect: pass
test tcTwoCalls [main=TwoCalls]:
  assert ShutWhenMoving, CallsAreServed in (union Car, { TwoCalls, Person });

// expect: pass
test tcAboveAndBelow [main=AboveAndBelow]:
  assert ShutWhenMoving, CallsAreServed in (union Car, { AboveAndBelow, Person });

// expect: fail monitor: the car moves with the door open
test tcMovesBeforeClosed [main=MovesBeforeClosed]:
  assert ShutWhenMoving in (union Car, { MovesBeforeClosed, Person });

// expect: fail hot-at-end: CallsAreServed
test tcDropsCalls [main=DropsCalls]:
  assert CallsAreServed in (union Car, { DropsCalls, Person });

// expect: fail livelock: CallsAreServed
test tcChangesItsMind [main=ChangesItsMind]:
  assert CallsAreServed in (union Car, { ChangesItsMind, Person });

// expect: fail unhandled-event: eObstacle
test tcNoObstacle [main=NoObstacle]:
  assert CallsAreServed in (union Car, { NoObstacle, Person });
