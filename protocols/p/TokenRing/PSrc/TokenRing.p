// Mutual exclusion by a token that goes round a ring and may be lost. The first node finds out
// with a probe that goes round too (after Misra, 1983): channels are FIFO, so a probe that has
// been round and has met no token, while none came to the first node either, proves that there is
// none.

event eNext: machine;
event eToken;
event eProbe: bool;
event eWork;

// Told to specs.
event eEnter: int;
event eLeave: int;
event eLost;

enum tFlaw {
  NO_FLAW,
  // Takes a slow token for a lost one: makes a new one when the timer fires.
  NO_PROBE,
  // Forgets that the probe met the token at a node that works.
  IGNORES_MEETING,
  // Sends no second probe after one that met the token.
  PROBES_ONCE
}

type tNodeConfig = (id: int, losses: int, flaw: tFlaw);

machine TokenNode {
  var id: int;
  var flaw: tFlaw;
  // How often the channel from this node may lose the token.
  var losses: int;
  var next: machine;
  var timer: Timer;
  var working: bool;
  var tokenSeen: bool;

  start state Init {
    entry (config: tNodeConfig) {
      id = config.id;
      losses = config.losses;
      flaw = config.flaw;
    }
    on eNext goto Serving with (node: machine) { next = node; }
    defer eToken, eProbe;
  }

  state Serving {
    entry {
      if (id == 1) {
        timer = CreateTimer(this);
        StartTimer(timer);
        send this, eToken;
      }
    }

    on eToken do {
      tokenSeen = true;
      working = true;
      announce eEnter, id;
      send this, eWork;
    }

    on eWork do {
      announce eLeave, id;
      working = false;
      if (losses > 0 && $) {
        losses = losses - 1;
        announce eLost;
      } else {
        send next, eToken;
      }
    }

    on eTimeOut do {
      if (flaw == NO_PROBE) {
        send this, eToken;
        return;
      }
      tokenSeen = working;
      send next, eProbe, false;
    }

    on eProbe do (met: bool) {
      if (id != 1) {
        send next, eProbe, met || working;
        return;
      }
      if ((met && flaw != IGNORES_MEETING) || tokenSeen) {
        if (flaw != PROBES_ONCE) {
          StartTimer(timer);
        }
        return;
      }
      StartTimer(timer);
      send this, eToken;
    }
  }
}

module TokenRing = union { TokenNode }, Timers;
