spec OneLeader observes eElected {
  start state Nobody {
    on eElected goto Somebody;
  }
  state Somebody {
    on eElected do (id: int) {
      assert false, format("node {0} is a second leader", id);
    }
  }
}

// Once the election is on, somebody is elected in the end.
spec SomeLeader observes eElecting, eElected {
  start state Before {
    on eElecting goto Electing;
    on eElected goto Done;
  }
  hot state Electing {
    on eElected goto Done;
  }
  cold state Done {
    ignore eElecting, eElected;
  }
}
