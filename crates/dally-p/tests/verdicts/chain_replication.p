// expect: pass exhaustive
// A chain of three replicas: writes go down from the head, the tail answers and serves reads.
event eWrite: (client: machine, value: int); event eWritten: int; event eRead: machine; event eValue: int;
machine Replica {
  var next: machine;
  var value: int;
  start state Serving {
    entry (successor: machine) { next = successor; }
    on eWrite do (it: (client: machine, value: int)) {
      value = it.value;
      if (next == null) { send it.client, eWritten, value; } else { send next, eWrite, it; }
    }
    on eRead do (client: machine) { send client, eValue, value; }
  }
}
machine Client {
  start state Working {
    entry (chain: (head: machine, tail: machine)) {
      var i: int;
      while (i < 3) {
        i = i + 1;
        send chain.head, eWrite, (client = this, value = i);
        receive { case eWritten: (value: int) { assert value == i; } }
        send chain.tail, eRead, this;
        receive { case eValue: (value: int) { assert value == i, format("{0} read, {1} written", value, i); } }
      }
    }
  }
}
machine Main {
  start state S {
    entry {
      var tail: machine;
      var head: machine;
      tail = new Replica(null as machine);
      head = new Replica(new Replica(tail));
      new Client((head = head, tail = tail));
    }
  }
}
test tc [main=Main]: { Main, Replica, Client };
