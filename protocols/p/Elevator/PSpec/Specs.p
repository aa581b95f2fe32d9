// The car moves only with the door shut.
spec ShutWhenMoving observes eDoorIsOpen, eDoorIsShut, eMove, eArrived {
  start state Standing {
    on eDoorIsOpen goto Open;
    on eMove goto Moving;
    ignore eDoorIsShut;
  }

  state Open {
    on eDoorIsShut goto Standing;
    on eMove do (level: int) {
      assert false, "the car moves with the door open";
    }
    ignore eDoorIsOpen;
  }

  state Moving {
    on eArrived goto Standing;
    on eDoorIsOpen do {
      assert false, "the door opens while the car moves";
    }
    ignore eMove, eDoorIsShut;
  }
}

// Every call is served.
spec CallsAreServed observes eCall, eServed {
  var open: set[int];

  start cold state Quiet {
    on eCall goto Waiting with (floor: int) { open += (floor); }
    ignore eServed;
  }

  hot state Waiting {
    on eCall do (floor: int) { open += (floor); }
    on eServed do (floor: int) {
      open -= floor;
      if (sizeof(open) == 0) {
        goto Quiet;
      }
    }
  }
}
