// The election of a time master: a candidate asks all the others and leads when all have yielded.
// Of two candidates the one with the smaller number goes on.

type tCandidate = (node: machine, id: int);

event eOthers: set[machine];
event eNoMaster;
event eCandidate: tCandidate;
event eObject;
event eYield;

// Told to specs.
event eMaster: int;

machine Elector {
  var id: int;
  var withdraws: bool;
  var others: set[machine];
  var yielded: int;

  start state Init {
    entry (config: (id: int, withdraws: bool)) {
      id = config.id;
      // Wrong if false: a candidate that yields to another goes on standing itself.
      withdraws = config.withdraws;
    }
    on eOthers goto Follower with (nodes: set[machine]) { others = nodes; }
    defer eNoMaster, eCandidate;
  }

  state Follower {
    on eNoMaster goto Standing;
    on eCandidate do (it: tCandidate) { send it.node, eYield; }
    // Answers to a candidacy that is over.
    ignore eYield, eObject;
  }

  state Standing {
    entry {
      var node: machine;
      yielded = 0;
      foreach (node in others) {
        send node, eCandidate, (node = this, id = id);
      }
    }
    on eCandidate do (it: tCandidate) {
      if (id < it.id) {
        send it.node, eObject;
        return;
      }
      send it.node, eYield;
      if (withdraws) {
        goto Follower;
      }
    }
    on eYield do {
      yielded = yielded + 1;
      if (yielded == sizeof(others)) {
        goto Leader;
      }
    }
    on eObject goto Follower;
  }

  state Leader {
    entry { announce eMaster, id; }
    on eCandidate do (it: tCandidate) { send it.node, eObject; }
    ignore eNoMaster, eYield, eObject;
  }
}

module Election = { Elector };
