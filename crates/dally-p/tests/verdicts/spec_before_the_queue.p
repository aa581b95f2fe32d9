// expect: fail monitor Order, exhaustive
// A spec is told of a send before the event is in the queue, so it may hear of an answer to another
// request first. The specification is wrong in believing that it cannot.
event eAsk: machine; event eAnswer: int;
machine Server { var n: int; start state S { on eAsk do (who: machine) { n = n + 1; send who, eAnswer, n; } } }
machine Client { start state S { entry (server: machine) { send server, eAsk, this; } ignore eAnswer; } }
spec Order observes eAsk, eAnswer {
  var asked: int;
  start state Watching {
    on eAsk do { asked = asked + 1; }
    on eAnswer do (n: int) { assert asked == 2, "an answer comes before both have asked"; }
  }
}
machine Main { start state S { entry { var s: Server; s = new Server(); new Client(s); new Client(s); } } }
test tc [main=Main]: assert Order in { Main, Server, Client };
