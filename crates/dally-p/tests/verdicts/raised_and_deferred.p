// expect: pass exhaustive
// Events that are raised, deferred, ignored and handled by several states, with a `goto` that carries a value.
event eWork: int; event eStop: int; event eLater;
machine Worker {
  var sum: int;
  start state Init { entry { raise eStop, 0; } on eStop goto Idle; defer eWork, eLater; }
  state Idle {
    entry (n: int) { sum = sum + n; if (sum >= 6) { goto Finished, sum; } }
    on eWork goto Idle;
    defer eLater;
  }
  state Finished { entry (all: int) { assert all == 6; } on eLater do { assert sum == 6; } ignore eWork; }
}
machine Main {
  start state S {
    entry {
      var w: Worker;
      w = new Worker();
      send w, eLater; send w, eWork, 1; send w, eWork, 2; send w, eWork, 3;
    }
  }
}
test tc [main=Main]: { Main, Worker };
