// A spec fails at a send: the message itself is never in a queue.
event eReq: int;
event eResp: int;

machine Server {
  start state Serving { on eReq do (n: int) { } }
}

machine Main {
  start state Asking {
    entry {
      var server: machine;
      server = new Server();
      send server, eReq, 1;
      send server, eReq, 2;
    }
  }
}

spec Rising observes eReq {
  start state Counting {
    on eReq do (n: int) { assert n < 2, format("request {0} is one too many", n); }
  }
}

test tcRising [main=Main]: assert Rising in { Main, Server };
