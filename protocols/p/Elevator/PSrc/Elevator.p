// An elevator: a controller, a door that meets obstacles and a motor that moves one floor at a
// time.

event eCall: int;

// Raised by the controller for itself.
event eGo;

// Controller and door.
event eOpenDoor;
event eCloseDoor;
event eDoorOpened;
event eDoorClosed;
event eObstacle;

// Controller and motor.
event eMove: int;
event eArrived: int;

// Told to specs.
event eServed: int;
event eDoorIsOpen;
event eDoorIsShut;

enum tFlaw {
  NO_FLAW,
  // Starts the motor when the door was told to close, not when it is closed.
  MOVES_BEFORE_CLOSED,
  // Drops the calls that come while the car moves.
  DROPS_CALLS,
  // Thinks again at every floor, and always prefers the call that is farther away.
  CHANGES_ITS_MIND,
  // Does not expect that the door meets an obstacle when it closes for a departure.
  EXPECTS_NO_OBSTACLE
}

machine Elevator {
  var flaw: tFlaw;
  var door: Door;
  var motor: Motor;
  var timer: Timer;
  var floor: int;
  var calls: set[int];
  var up: bool;

  start state Init {
    entry (f: tFlaw) {
      flaw = f;
      door = new Door(this);
      motor = new Motor(this);
      timer = CreateTimer(this);
      up = true;
      goto Waiting;
    }
    defer eCall;
  }

  // At a floor, the door closed, nothing to do.
  state Waiting {
    entry {
      if (sizeof(calls) > 0) {
        raise eGo;
      }
    }
    on eGo goto Departing;
    on eCall goto Departing with Note;
    ignore eTimeOut;
  }

  // The door is closed and there are calls: serve this floor or move.
  state Departing {
    entry {
      if (floor in calls) {
        goto Opening;
      }
      Turn();
      if (up) {
        send motor, eMove, floor + 1;
      } else {
        send motor, eMove, floor - 1;
      }
      goto Moving;
    }
  }

  state Moving {
    on eArrived goto Departing with (at: int) { floor = at; }
    on eCall do (level: int) {
      if (flaw != DROPS_CALLS) {
        calls += (level);
      }
    }
    ignore eTimeOut, eDoorClosed, eDoorOpened, eObstacle;
  }

  state Opening {
    entry { send door, eOpenDoor; }
    on eDoorOpened goto Open;
    on eCall do Note;
    ignore eTimeOut;
  }

  state Open {
    entry {
      calls -= floor;
      announce eServed, floor;
      StartTimer(timer);
    }
    on eTimeOut goto Closing;
    on eCall do Note;
  }

  state Closing {
    entry {
      send door, eCloseDoor;
      if (flaw == MOVES_BEFORE_CLOSED && sizeof(calls) > 0) {
        goto Departing;
      }
      if (flaw == EXPECTS_NO_OBSTACLE && sizeof(calls) > 0) {
        goto ClosingToLeave;
      }
    }
    on eDoorClosed goto Waiting;
    on eObstacle goto Opening;
    on eCall do Note;
  }

  // Of a flawed elevator.
  state ClosingToLeave {
    on eDoorClosed goto Departing;
    on eCall do Note;
  }

  fun Note(level: int) {
    calls += (level);
  }

  // Goes on in its direction while a call lies there; then turns.
  fun Turn() {
    var level: int;
    var ahead: bool;
    var farthest: int;
    farthest = floor;
    foreach (level in calls) {
      if ((up && level > floor) || (!up && level < floor)) {
        ahead = true;
      }
      if (Distance(level) > Distance(farthest)) {
        farthest = level;
      }
    }
    if (flaw == CHANGES_ITS_MIND) {
      up = farthest > floor;
    } else if (!ahead) {
      up = !up;
    }
  }

  fun Distance(level: int): int {
    if (level > floor) {
      return level - floor;
    }
    return floor - level;
  }
}

machine Door {
  var owner: machine;
  var obstacles: int;

  start state Init {
    entry (who: machine) {
      owner = who;
      // People stand in the way at most twice.
      obstacles = 2;
      goto Shut;
    }
    defer eOpenDoor;
  }

  state Shut {
    on eOpenDoor goto Ajar with {
      announce eDoorIsOpen;
      send owner, eDoorOpened;
    }
    on eCloseDoor do { send owner, eDoorClosed; }
  }

  state Ajar {
    on eCloseDoor do {
      if (obstacles > 0 && $) {
        obstacles = obstacles - 1;
        send owner, eObstacle;
        return;
      }
      announce eDoorIsShut;
      send owner, eDoorClosed;
      goto Shut;
    }
    on eOpenDoor do { send owner, eDoorOpened; }
  }
}

machine Motor {
  var owner: machine;

  start state Standing {
    entry (who: machine) { owner = who; }
    on eMove do (level: int) {
      send owner, eArrived, level;
    }
  }
}

module Car = union { Elevator, Door, Motor }, Timers;
