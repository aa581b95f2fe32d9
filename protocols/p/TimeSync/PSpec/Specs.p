// What a node shows never goes back.
spec NeverBack observes eClock {
  var shown: map[machine, int];

  start state Watching {
    on eClock do (it: (node: machine, clock: int)) {
      if (it.node in shown) {
        assert it.clock >= shown[it.node], format("a clock goes back to {0}", it.clock);
      }
      shown[it.node] = it.clock;
    }
  }
}

// A correction brings a node to a mean that the master has computed, and the mean moves by small
// steps whatever a broken clock says.
spec ToTheMean observes eMean, eReading {
  var means: set[int];
  var latest: int;

  start state Nothing {
    on eMean goto Watching with (mean: int) {
      means += (mean);
      latest = mean;
    }
  }

  state Watching {
    on eMean do (mean: int) {
      assert mean - latest <= 10 && latest - mean <= 10,
        format("the time jumps from {0} to {1}", latest, mean);
      means += (mean);
      latest = mean;
    }
    on eReading do (it: (node: machine, clock: int)) {
      assert it.clock in means, format("a node is corrected to {0}, which is no mean", it.clock);
    }
  }
}

spec OneMaster observes eMaster {
  start state Nobody {
    on eMaster goto Somebody;
  }
  state Somebody {
    on eMaster do (id: int) {
      assert false, format("node {0} is a second master", id);
    }
  }
}

// If the absence of a master is noticed, there is one in the end.
spec SomeMaster observes eNoMaster, eMaster {
  start cold state Content {
    on eNoMaster goto Leaderless;
  }
  hot state Leaderless {
    on eMaster goto Led;
    ignore eNoMaster;
  }
  cold state Led {
    ignore eNoMaster, eMaster;
  }
}
