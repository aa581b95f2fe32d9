// Every node applies a write once, and in the order of the ids.
spec InOrderOnce observes eApplied {
  var latest: map[machine, int];

  start state Watching {
    on eApplied do (it: (node: machine, id: int)) {
      if (it.node in latest) {
        assert it.id > latest[it.node],
          format("write {0} is applied after write {1}", it.id, latest[it.node]);
      }
      latest[it.node] = it.id;
    }
  }
}

// Told by the environment: nodes of the chain, and the one that dies.
event eSpecNodes: set[machine];

// A write is answered only when every node that still lives has applied it.
spec AnsweredIsEverywhere observes eSpecNodes, eApplied, eWritten, eDie, eFailed {
  var alive: set[machine];
  var has: map[int, set[machine]];

  start state Init {
    on eSpecNodes goto Watching with (nodes: set[machine]) {
      alive = nodes;
    }
  }

  state Watching {
    on eApplied do (it: (node: machine, id: int)) {
      if (!(it.id in has)) {
        has[it.id] = default(set[machine]);
      }
      has[it.id] += (it.node);
    }
    on eWritten do (id: int) {
      var node: machine;
      foreach (node in alive) {
        assert id in has && node in has[id],
          format("write {0} is answered before a live node has it", id);
      }
    }
    on eFailed do (node: machine) {
      alive -= node;
    }
    ignore eDie;
  }
}

// Every write is answered.
spec Answered observes eWrite, eWritten {
  var open: set[int];

  start cold state Quiet {
    on eWrite goto Waiting with (write: tWrite) {
      open += (write.id);
    }
    // An answer that was repeated.
    ignore eWritten;
  }

  hot state Waiting {
    on eWrite do (write: tWrite) {
      open += (write.id);
    }
    on eWritten do (id: int) {
      open -= id;
      if (sizeof(open) == 0) {
        goto Quiet;
      }
    }
  }
}
