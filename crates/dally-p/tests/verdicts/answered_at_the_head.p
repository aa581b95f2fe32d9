// expect: fail assertion read
// The head of a chain answers before the tail has the value.
event eWrite: (client: machine, value: int); event eWritten; event eRead: machine; event eValue: int;
machine Head {
  var next: machine;
  start state Serving {
    entry (successor: machine) { next = successor; }
    on eWrite do (it: (client: machine, value: int)) { send it.client, eWritten; send next, eWrite, it; }
  }
}
machine Tail {
  var value: int;
  start state Serving {
    on eWrite do (it: (client: machine, value: int)) { value = it.value; }
    on eRead do (client: machine) { send client, eValue, value; }
  }
}
machine Main {
  start state S {
    entry {
      var tail: machine;
      var head: machine;
      tail = new Tail();
      head = new Head(tail);
      send head, eWrite, (client = this, value = 1);
      receive { case eWritten: { } }
      send tail, eRead, this;
      receive { case eValue: (value: int) { assert value == 1, format("{0} is read", value); } }
    }
  }
}
test tc [main=Main]: { Main, Head, Tail };
