// expect: fail temperature Served
// The server only counts: no state comes back, and no schedule serves. Temperature has to tell.
event eAsk: machine; event eBusy; event eServed;
machine Server {
  var refused: int;
  start state S { on eAsk do (who: machine) { refused = refused + 1; send who, eBusy; } }
}
machine Client {
  var server: Server;
  start state Asking {
    entry { server = new Server(); send server, eAsk, this; }
    on eBusy do { send server, eAsk, this; }
  }
}
spec Served observes eAsk, eServed {
  start state Idle { on eAsk goto Waiting; ignore eServed; }
  hot state Waiting { on eServed goto Done; ignore eAsk; }
  cold state Done { ignore eAsk, eServed; }
}
test tcCounts [main=Client]: assert Served in { Client, Server };
