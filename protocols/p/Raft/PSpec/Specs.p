// Election safety: at most one leader in a term.
spec OneLeaderPerTerm observes eBecameLeader {
  var leaders: map[int, machine];

  start state Watching {
    on eBecameLeader do (it: (term: int, leader: machine, log: seq[tEntry])) {
      assert !(it.term in leaders) || leaders[it.term] == it.leader,
        format("there are two leaders in term {0}", it.term);
      leaders[it.term] = it.leader;
    }
  }
}

// Leader completeness and state machine safety: what is committed stays, at its index, in the logs
// of the leaders of all later terms.
spec CommittedStays observes eBecameLeader, eCommitted {
  var committed: map[int, tEntry];
  // The term of the leader that committed each index first.
  var since: map[int, int];

  start state Watching {
    on eCommitted do (it: (term: int, index: int, item: tEntry)) {
      assert !(it.index in committed) || committed[it.index] == it.item,
        format("two entries are committed at index {0}", it.index);
      committed[it.index] = it.item;
      if (!(it.index in since) || it.term < since[it.index]) {
        since[it.index] = it.term;
      }
    }

    on eBecameLeader do (it: (term: int, leader: machine, log: seq[tEntry])) {
      var index: int;
      foreach (index in keys(committed)) {
        assert it.term <= since[index]
          || (index <= sizeof(it.log) && it.log[index - 1] == committed[index]),
          format("the leader of term {0} lacks a committed entry", it.term);
      }
    }
  }
}
