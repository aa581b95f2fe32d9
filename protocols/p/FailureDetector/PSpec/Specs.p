event eCrashed: machine;

// A node that crashed is reported in the end.
spec CrashIsReported observes eCrashed, eNodesDown {
  var reported: set[machine];
  var dead: machine;

  start state Healthy {
    on eNodesDown do Note;
    on eCrashed do (node: machine) {
      dead = node;
      if (node in reported) {
        goto Reported;
      }
      goto Unreported;
    }
  }

  hot state Unreported {
    on eNodesDown do (nodes: set[machine]) {
      if (dead in nodes) {
        goto Reported;
      }
    }
  }

  cold state Reported {
    ignore eNodesDown;
  }

  fun Note(nodes: set[machine]) {
    var node: machine;
    foreach (node in nodes) {
      reported += (node);
    }
  }
}

// No node is reported twice.
spec ReportedOnce observes eNodesDown {
  var reported: set[machine];

  start state Watching {
    on eNodesDown do (nodes: set[machine]) {
      var node: machine;
      foreach (node in nodes) {
        assert !(node in reported), "a node is reported down twice";
        reported += (node);
      }
    }
  }
}

// At most three pings are under way that one node has not answered.
spec FewPings observes ePing, ePong {
  var open: int;

  start state Watching {
    on ePing do {
      open = open + 1;
      assert open <= 3, "more than three pings are under way";
    }
    on ePong do {
      open = open - 1;
    }
  }
}
