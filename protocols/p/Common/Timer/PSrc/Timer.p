// A timer that, once started, may fire at any moment until it is cancelled. It fires from its null
// handler, so a schedule decides when; and since a fair schedule runs it, a timer that nobody
// cancels does fire.

event eStartTimer;
event eCancelTimer;
event eTimeOut;

machine Timer
receives eStartTimer, eCancelTimer;
sends eTimeOut;
{
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
    ignore eCancelTimer;
  }

  state Armed {
    on null do {
      send owner, eTimeOut;
      goto Idle;
    }
    on eCancelTimer goto Idle;
    // Already running.
    ignore eStartTimer;
  }
}

fun CreateTimer(owner: machine): Timer {
  return new Timer(owner);
}

fun StartTimer(timer: Timer) {
  send timer, eStartTimer;
}

fun CancelTimer(timer: Timer) {
  send timer, eCancelTimer;
}

module Timers = { Timer };
