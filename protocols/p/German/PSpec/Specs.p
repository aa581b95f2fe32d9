// An exclusive copy is the only copy.
spec Coherence observes eHolds {
  var copies: map[machine, tCopy];

  start state Watching {
    on eHolds do (it: (cache: machine, copy: tCopy)) {
      var cache: machine;
      copies[it.cache] = it.copy;
      if (it.copy == NONE) {
        return;
      }
      foreach (cache in keys(copies)) {
        if (cache != it.cache) {
          assert copies[cache] == NONE || (copies[cache] == SHARED && it.copy == SHARED),
            "an exclusive copy is not the only one";
        }
      }
    }
  }
}

// Every load and store is served.
spec Served observes eLoad, eStore, eServed {
  var open: int;

  start cold state Quiet {
    on eLoad, eStore goto Waiting with { open = open + 1; }
  }

  hot state Waiting {
    on eLoad, eStore do { open = open + 1; }
    on eServed do {
      open = open - 1;
      if (open == 0) {
        goto Quiet;
      }
    }
  }
}
