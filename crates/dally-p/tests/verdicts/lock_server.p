// expect: pass exhaustive
// A lock server with a queue of waiters: mutual exclusion, and everyone who asks is granted.
event eAcquire: machine; event eGranted: machine; event eRelease: machine;
machine Server {
  var waiting: seq[machine];
  start state Free { on eAcquire goto Held; }
  state Held {
    entry (who: machine) { send who, eGranted, who; }
    on eAcquire do (who: machine) { waiting += (sizeof(waiting), who); }
    on eRelease do {
      var next: machine;
      if (sizeof(waiting) == 0) { goto Free; }
      next = waiting[0];
      waiting -= (0);
      goto Held, next;
    }
  }
}
machine Client {
  start state Working {
    entry (server: machine) {
      send server, eAcquire, this;
      receive { case eGranted: (me: machine) { } }
      send server, eRelease, this;
    }
  }
}
spec Exclusive observes eGranted, eRelease {
  start state Free { on eGranted goto Held; }
  state Held { on eRelease goto Free; }
}
spec Served observes eAcquire, eGranted {
  var open: set[machine];
  start cold state None { on eAcquire do (who: machine) { open += (who); goto Some; } }
  hot state Some {
    on eAcquire do (who: machine) { open += (who); }
    on eGranted do (who: machine) { open -= (who); if (sizeof(open) == 0) { goto None; } }
  }
}
machine Main { start state S { entry { var s: Server; s = new Server(); new Client(s); new Client(s); new Client(s); } } }
test tc [main=Main]: assert Exclusive, Served in { Main, Server, Client };
