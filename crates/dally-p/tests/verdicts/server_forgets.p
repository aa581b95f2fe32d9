// expect: fail hot-at-end Answered, exhaustive
// The server forgets a request now and then, and nobody asks again.
event eRequest: machine; event eResponse; event eAnswered;
machine Server {
  start state S { on eRequest do (who: machine) { if ($) { send who, eResponse; } } }
}
machine Client {
  start state Asking {
    entry { var server: Server; server = new Server(); send server, eRequest, this; }
    on eResponse do { announce eAnswered; }
  }
}
spec Answered observes eRequest, eAnswered {
  start cold state Idle { on eRequest goto Waiting; ignore eAnswered; }
  hot state Waiting { on eAnswered goto Idle; ignore eRequest; }
}
test tcForgets [main=Client]: assert Answered in { Client, Server };
