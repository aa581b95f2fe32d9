// expect: pass
// A producer is faster than the consumer, whose queue grows without end. The answer comes late: how
// late depends on the queue, and the temperature allows for it.
event eItem: int; event eMore; event eAnswer;
machine Consumer {
  var sum: int;
  start state S {
    on eItem do (n: int) {
      sum = sum + n;
      if (sum == 40) { announce eAnswer; }
    }
  }
}
machine Producer {
  var sink: Consumer;
  start state S {
    entry (c: Consumer) { sink = c; send this, eMore; }
    on eMore do { send sink, eItem, 1; send sink, eItem, 0; send sink, eItem, 0; send this, eMore; }
  }
}
machine Main {
  start state S {
    entry { var c: Consumer; c = new Consumer(); new Producer(c); new Producer(c); new Producer(c); }
  }
}
spec Answered observes eItem, eAnswer {
  start state Idle { on eItem goto Waiting; ignore eAnswer; }
  hot state Waiting { on eAnswer goto Done; ignore eItem; }
  cold state Done { ignore eItem, eAnswer; }
}
test tcFlood [main=Main]: assert Answered in { Main, Producer, Consumer };
