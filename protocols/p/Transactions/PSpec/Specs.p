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

// Every transaction comes to an end.
spec Ends observes eBegin, eOutcome {
  start cold state Quiet {
    on eBegin goto Open;
  }
  hot state Open {
    on eOutcome goto Quiet;
  }
}
