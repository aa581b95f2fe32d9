// Writes 1, 2, ... and then reads. Asks again when the ends of the chain change.
machine ChainClient {
  var writes: int;
  var current: int;
  var first: machine;
  var last: machine;

  start state Init {
    entry (n: int) {
      writes = n;
    }
    on eEnds goto Writing with (ends: (first: machine, last: machine)) {
      first = ends.first;
      last = ends.last;
      current = 1;
    }
  }

  state Writing {
    entry {
      Ask();
    }
    on eWritten do (id: int) {
      if (id != current) {
        return;
      }
      if (current == writes) {
        goto Done;
      }
      current = current + 1;
      Ask();
    }
    on eEnds do (ends: (first: machine, last: machine)) {
      last = ends.last;
      if (ends.first != first) {
        first = ends.first;
        Ask();
      }
    }
  }

  state Done {
    ignore eWritten, eEnds;
  }

  fun Ask() {
    send first, eWrite, (client = this, id = current, val = 10 * current);
  }
}

// Kills any one node of the chain and tells the master, later.
machine Killer {
  start state Init {
    entry (config: (nodes: set[machine], master: machine)) {
      var victim: machine;
      victim = choose(config.nodes);
      send victim, eDie;
      send config.master, eFailed, victim;
    }
  }
}

module Environment = { ChainClient, Killer };
