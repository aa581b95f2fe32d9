// Leader election in a ring (Le Lann, Chang and Roberts): numbers travel in one direction, a node
// passes on those greater than its own, and the one whose number comes back leads.

event eNext: machine;
event eNumber: int;
event eLeaderIs: int;

// Told to specs.
event eElected: int;
event eElecting;

enum tFlaw {
  NO_FLAW,
  // Passes on every number but its own, also those that should end here.
  PASSES_ALL,
  // Stops every number but its own: none comes back.
  STOPS_ALL,
  // Takes its own number for the winner when it has seen a smaller one, without waiting for the
  // round.
  WINS_EARLY
}

machine RingNode {
  var id: int;
  var flaw: tFlaw;
  var next: machine;

  start state Init {
    entry (config: (id: int, flaw: tFlaw)) {
      id = config.id;
      flaw = config.flaw;
    }
    on eNext goto Electing with (node: machine) { next = node; }
    defer eNumber, eLeaderIs;
  }

  state Electing {
    entry { send next, eNumber, id; }

    on eNumber do (number: int) {
      if (number == id) {
        goto Leader;
      }
      if (flaw == WINS_EARLY && number < id) {
        goto Leader;
      }
      if ((number > id && flaw != STOPS_ALL) || flaw == PASSES_ALL) {
        send next, eNumber, number;
      }
    }

    on eLeaderIs do (leader: int) {
      send next, eLeaderIs, leader;
      goto Follower;
    }
  }

  state Leader {
    entry {
      announce eElected, id;
      send next, eLeaderIs, id;
    }
    ignore eNumber, eLeaderIs;
  }

  state Follower {
    // Greater numbers have passed already, and smaller ones end here.
    ignore eNumber, eLeaderIs;
  }
}

module Ring = { RingNode };
