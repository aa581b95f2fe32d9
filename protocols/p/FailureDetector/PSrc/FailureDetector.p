// A failure detector: pings its nodes in rounds, twice a round if need be, and reports those that
// stay silent. It may suspect a slow node, but it must report every dead one.

type tPing = (detector: machine, round: int);
type tPong = (node: machine, round: int);

event ePing: tPing;
event ePong: tPong;
event eDie;
event eNodesDown: set[machine];

// The detector and its timer.
event eStartTimer;
event eCancelTimer;
event eTimeOut;
event eCancelled;
event eCancelledTooLate;

enum tDetectorFlaw {
  NO_FLAW,
  // Takes a pong of an earlier round for one of this round, so pings pile up at a slow node.
  COUNTS_STALE_PONGS,
  // Does not forget at the start of a round who answered in the one before.
  NEVER_FORGETS,
  // Goes on pinging the nodes that it has reported, and reports them again.
  REPORTS_AGAIN,
  // Does not expect a late pong when no node is left.
  ENDS_DEAF
}

type tDetectorConfig = (nodes: set[machine], client: machine, flaw: tDetectorFlaw);

machine FailureDetector {
  var alive: set[machine];
  var client: machine;
  var flaw: tDetectorFlaw;
  var timer: Timer;
  // Rounds are numbered 0, 1, 0, 1, ...: channels are FIFO, so a bit tells a round from its
  // neighbours.
  var round: int;
  var attempts: int;
  var answered: set[machine];

  start state Init {
    entry (config: tDetectorConfig) {
      alive = config.nodes;
      client = config.client;
      flaw = config.flaw;
      timer = new Timer(this);
      goto Round;
    }
  }

  state Round {
    entry {
      attempts = 0;
      PingSilent();
      send timer, eStartTimer;
    }

    on ePong do (pong: tPong) {
      if (pong.round != round && flaw != COUNTS_STALE_PONGS) {
        return;
      }
      if (pong.node in alive) {
        answered += (pong.node);
      }
      if (sizeof(answered) == sizeof(alive)) {
        goto Cancelling;
      }
    }

    on eTimeOut do {
      var silent: set[machine];
      var node: machine;
      attempts = attempts + 1;
      if (attempts < 2) {
        PingSilent();
        send timer, eStartTimer;
        return;
      }
      foreach (node in alive) {
        if (!(node in answered)) {
          silent += (node);
        }
      }
      if (sizeof(silent) > 0) {
        send client, eNodesDown, silent;
      }
      if (flaw != REPORTS_AGAIN) {
        foreach (node in silent) {
          alive -= node;
        }
      }
      if (sizeof(alive) == 0) {
        if (flaw == ENDS_DEAF) {
          goto DeafDone;
        }
        goto Done;
      }
      goto Round;
    }

    exit {
      round = 1 - round;
      if (flaw != NEVER_FORGETS) {
        answered = default(set[machine]);
      }
    }
  }

  // Waits for the timer, so that no timeout of this round is taken for one of the next.
  state Cancelling {
    entry { send timer, eCancelTimer; }
    on eCancelled, eCancelledTooLate goto Round;
    ignore ePong, eTimeOut;
  }

  state Done {
    ignore ePong;
  }

  state DeafDone { }

  fun PingSilent() {
    var node: machine;
    foreach (node in alive) {
      if (!(node in answered)) {
        send node, ePing, (detector = this, round = round);
      }
    }
  }
}

machine Node {
  start state Alive {
    on ePing do (ping: tPing) {
      send ping.detector, ePong, (node = this, round = ping.round);
    }
    on eDie do { raise halt; }
  }
}

// A timer that is cancelled says whether it was in time.
machine Timer {
  var owner: machine;

  start state Init {
    entry (who: machine) {
      owner = who;
      goto Idle;
    }
    defer eStartTimer, eCancelTimer;
  }

  state Idle {
    on eStartTimer goto Armed;
    on eCancelTimer do { send owner, eCancelledTooLate; }
  }

  state Armed {
    on null do {
      send owner, eTimeOut;
      goto Idle;
    }
    on eCancelTimer goto Idle with { send owner, eCancelled; }
  }
}

module Detection = { FailureDetector, Node, Timer };
