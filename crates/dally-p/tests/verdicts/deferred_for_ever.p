// expect: fail temperature Served
// The server defers what it should serve, and its queue grows: deferred events are no work that waits.
event eAsk: machine; event eTick; event eServed;
machine Server {
  var ticks: int;
  start state Busy {
    entry { send this, eTick; }
    on eTick do { ticks = ticks + 1; send this, eTick; }
    defer eAsk;
  }
}
machine Client {
  start state Asking {
    entry { var s: Server; s = new Server(); send s, eAsk, this; }
  }
}
spec Served observes eAsk, eServed {
  start state Idle { on eAsk goto Waiting; ignore eServed; }
  hot state Waiting { on eServed goto Done; ignore eAsk; }
  cold state Done { ignore eAsk, eServed; }
}
test tcDefers [main=Client]: assert Served in { Client, Server };
