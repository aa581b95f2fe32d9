// expect: fail deadlock receive, exhaustive
// A server that keeps one waiter only: the other one waits in `receive` for ever.
event eAcquire: machine; event eGranted; event eRelease;
machine Server {
  var held: bool;
  var waiter: machine;
  start state Serving {
    on eAcquire do (who: machine) { if (held) { waiter = who; } else { held = true; send who, eGranted; } }
    on eRelease do {
      held = false;
      if (waiter != null) { held = true; send waiter, eGranted; waiter = default(machine); }
    }
  }
}
machine Client {
  start state Working {
    entry (server: machine) {
      send server, eAcquire, this;
      receive { case eGranted: { } }
      send server, eRelease;
    }
  }
}
machine Main { start state S { entry { var s: Server; s = new Server(); new Client(s); new Client(s); new Client(s); } } }
test tc [main=Main]: { Main, Server, Client };
