// Election safety: at most one leader in a term.
spec OneLeader observes eLeads {
  var leaders: map[int, Replica];

  start state Watching {
    on eLeads do (it: (term: int, leader: Replica, log: seq[tEntry])) {
      assert !(it.term in keys(leaders)) || leaders[it.term] == it.leader,
        format("there are two leaders in term {0}", it.term);
      leaders[it.term] = it.leader;
    }
  }
}

// State machine safety: all replicas apply the same command at an index, and none twice.
spec SameOrder observes eApplied {
  var commands: map[int, tPut];
  var seen: map[machine, map[int, int]];

  start state Watching {
    on eApplied do (it: (index: int, item: tEntry)) {
      var put: tPut;
      put = it.item.put;
      assert !(it.index in keys(commands)) || commands[it.index] == put,
        format("two commands are applied at index {0}", it.index);
      commands[it.index] = put;
      if (!(put.client in keys(seen))) {
        seen[put.client] = default(map[int, int]);
      }
      assert !(put.number in keys(seen[put.client])) || seen[put.client][put.number] == it.index,
        format("command {0} is applied twice, at {1}", put, it.index);
      seen[put.client][put.number] = it.index;
    }
  }
}

// What a client is told was asked for by it.
spec Answers observes ePut, eDone {
  var asked: map[int, tPut];

  start state Watching {
    on ePut do (put: tPut) {
      asked[put.number] = put;
    }
    on eDone do (done: tDone) {
      assert done.number in keys(asked), format("nobody asked for {0}", done.number);
      assert asked[done.number].key == done.key,
        format("{0} is answered for {1}", done.key, asked[done.number]);
    }
  }
}
