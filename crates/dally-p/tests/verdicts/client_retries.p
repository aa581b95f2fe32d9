// expect: pass exhaustive
// A client sends again until the server, which loses requests, has answered.
event eRequest: machine; event eResponse; event eRetry; event eAnswered;
machine Server {
  start state S { on eRequest do (who: machine) { if ($) { send who, eResponse; } else { send who, eRetry; } } }
}
machine Client {
  var server: Server;
  start state Asking {
    entry { server = new Server(); send server, eRequest, this; }
    on eRetry do { send server, eRequest, this; }
    on eResponse do { announce eAnswered; }
  }
}
spec Answered observes eRequest, eAnswered {
  start cold state Idle { on eRequest goto Waiting; ignore eAnswered; }
  hot state Waiting { on eAnswered goto Idle; ignore eRequest; }
}
test tcRetry [main=Client]: assert Answered in { Client, Server };
