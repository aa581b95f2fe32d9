// A write is committed only if no store has said no.
spec AllSaidYes observes eVote, eOutcome {
  var refused: set[int];

  start state Watching {
    on eVote do (vote: (store: machine, id: int, yes: bool)) {
      if (!vote.yes) {
        refused += (vote.id);
      }
    }
    on eOutcome do (it: (id: int, committed: bool)) {
      assert !it.committed || !(it.id in refused),
        format("write {0} is committed although a store refused it", it.id);
    }
  }
}

// Of one store: it says yes when all of its replicas have the write, but for those that it knows
// to be dead.
spec CopiedEverywhere observes eReplicas, eReplicaDown, eCopied, eVote {
  var alive: set[machine];
  var copied: map[int, set[machine]];

  start state Watching {
    on eReplicas do (all: set[machine]) { alive = all; }
    on eReplicaDown do (replica: machine) { alive -= replica; }
    on eCopied do (it: (replica: machine, id: int)) {
      if (!(it.id in copied)) {
        copied[it.id] = default(set[machine]);
      }
      copied[it.id] += (it.replica);
    }
    on eVote do (vote: (store: machine, id: int, yes: bool)) {
      var replica: machine;
      foreach (replica in alive) {
        assert !vote.yes || (vote.id in copied && replica in copied[vote.id]),
          format("a store accepts write {0} before all of its replicas have it", vote.id);
      }
    }
  }
}

// Every transaction comes to an end.
spec Ends observes eBegin, eOutcome {
  start cold state Quiet {
    on eBegin goto Open;
  }
  hot state Open {
    on eOutcome goto Quiet;
  }
}
