// A distributed system for lifting trucks (after Groote, Pang and Wouters, 2003): one lift at
// every wheel, joined in a ring, each with its own buttons. Whoever presses a button at one lift
// moves all of them, together: a round of the ring prepares the lifts, each further round moves
// them by one step, and a last round stops them.

enum tMode { STANDBY, UP, DOWN }

// A message that goes round the ring and ends where it began.
type tFrame = (origin: int, mode: tMode);

event eNext: machine;
event ePressed: tMode;
event eReleased;
event ePrepare: tFrame;
event eMove: tFrame;
event eStop: tFrame;

// Told to specs.
event eLifts: int;
event eMode: (lift: int, mode: tMode);
event eMoved: (lift: int, mode: tMode, height: int);

enum tFlaw {
  NO_FLAW,
  // The lift where the button is pressed moves before the others are known to be ready.
  MOVES_AT_ONCE,
  // When two buttons are pressed at once, both lifts go on.
  NO_ARBITRATION,
  // A button that is released before the lifts are ready is not noticed.
  MISSES_RELEASE,
  // A lift that follows another does not expect its own button to be pressed.
  EXPECTS_NO_PRESS
}

type tLiftConfig = (id: int, limit: int, flaw: tFlaw);

machine Lift {
  var flaw: tFlaw;
  var id: int;
  var limit: int;
  var next: machine;
  var mode: tMode;
  var leader: int;
  var height: int;
  var pressed: bool;

  start state Init {
    entry (config: tLiftConfig) {
      id = config.id;
      limit = config.limit;
      flaw = config.flaw;
    }
    on eNext goto Standby with (lift: machine) { next = lift; }
    defer ePressed, eReleased, ePrepare;
  }

  state Standby {
    entry {
      if (mode != STANDBY) {
        SetMode(STANDBY);
      }
    }

    on ePressed do (want: tMode) {
      pressed = true;
      leader = id;
      SetMode(want);
      if (flaw == MOVES_AT_ONCE) {
        Move();
      }
      send next, ePrepare, (origin = id, mode = want);
      goto Preparing;
    }
    on ePrepare do Follow;
    ignore eReleased;
  }

  // The wish of this lift goes round.
  state Preparing {
    on ePrepare do (frame: tFrame) {
      if (frame.origin == id) {
        goto Moving;
      }
      if (flaw == NO_ARBITRATION) {
        send next, ePrepare, frame;
        return;
      }
      // Another button was pressed at the same time: the lift with the smaller number goes on, and
      // the frame of the other ends here.
      if (frame.origin < id) {
        Follow(frame);
      }
    }
    on eReleased do {
      if (flaw != MISSES_RELEASE) {
        pressed = false;
      }
    }
    on eMove do (frame: tFrame) { send next, eMove, frame; }
    on eStop do (frame: tFrame) { send next, eStop, frame; }
    ignore ePressed;
  }

  // All lifts are ready. A step is over when its frame comes back.
  state Moving {
    entry {
      Step();
    }
    on eMove do (frame: tFrame) {
      if (frame.origin != id) {
        send next, eMove, frame;
        return;
      }
      Step();
    }
    on eReleased do {
      pressed = false;
    }
    ignore ePressed, ePrepare;
    on eStop do (frame: tFrame) { send next, eStop, frame; }
  }

  state AtLimit {
    on eReleased goto Stopping;
    ignore ePressed, ePrepare, eMove, eStop;
  }

  state Stopping {
    entry {
      send next, eStop, (origin = id, mode = STANDBY);
    }
    on eStop do (frame: tFrame) {
      if (frame.origin == id) {
        goto Standby;
      }
    }
    ignore ePressed, eReleased, ePrepare, eMove;
  }

  state Following {
    entry {
      if (flaw == EXPECTS_NO_PRESS) {
        goto FollowingDeaf;
      }
    }
    on ePrepare do Overrule;
    on eMove do MoveToo;
    on eStop goto Standby with (frame: tFrame) { send next, eStop, frame; }
    ignore ePressed, eReleased;
  }

  state FollowingDeaf {
    on ePrepare do Overrule;
    on eMove do MoveToo;
    on eStop goto Standby with (frame: tFrame) { send next, eStop, frame; }
    ignore eReleased;
  }

  fun Follow(frame: tFrame) {
    leader = frame.origin;
    SetMode(frame.mode);
    send next, ePrepare, frame;
    goto Following;
  }

  fun Overrule(frame: tFrame) {
    if (frame.origin < leader || flaw == NO_ARBITRATION) {
      Follow(frame);
    }
  }

  fun MoveToo(frame: tFrame) {
    Move();
    send next, eMove, frame;
  }

  fun Step() {
    if (!pressed) {
      goto Stopping;
    }
    if ((mode == UP && height == limit) || (mode == DOWN && height == -limit)) {
      goto AtLimit;
    }
    Move();
    send next, eMove, (origin = id, mode = mode);
  }

  fun SetMode(wanted: tMode) {
    mode = wanted;
    announce eMode, (lift = id, mode = wanted);
  }

  fun Move() {
    if (mode == UP) {
      height = height + 1;
    } else {
      height = height - 1;
    }
    announce eMoved, (lift = id, mode = mode, height = height);
  }
}

module Lifts = { Lift };
