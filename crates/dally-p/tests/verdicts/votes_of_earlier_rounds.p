// expect: fail monitor Atomic
// The coordinator counts a late vote of an earlier round for the present one.
event ePrepare: (round: int, from: machine);
event eVote: (round: int, yes: bool);
event eOutcome: (round: int, commit: bool);
event eRefused: int;

machine Participant {
  start state Serving {
    on ePrepare do (it: (round: int, from: machine)) {
      var yes: bool;
      yes = $;
      if (!yes) { announce eRefused, it.round; }
      send it.from, eVote, (round = it.round, yes = yes);
    }
  }
}
machine Coordinator {
  var all: seq[Participant];
  var round: int;
  var yes: int;
  var no: bool;
  var heard: int;
  start state Init {
    entry {
      all += (0, new Participant());
      all += (1, new Participant());
      goto Round;
    }
  }
  state Round {
    entry {
      var p: Participant;
      round = round + 1;
      yes = 0; heard = 0; no = false;
      if (round <= 4) { foreach (p in all) { send p, ePrepare, (round = round, from = this); } }
    }
    on eVote do (it: (round: int, yes: bool)) {
      heard = heard + 1;
      if (!it.yes) { announce eOutcome, (round = round, commit = false); goto Round; }
      yes = yes + 1;
      if (yes == 2) { announce eOutcome, (round = round, commit = true); goto Round; }
    }
  }
}
spec Atomic observes eRefused, eOutcome {
  var refused: set[int];
  start state Checking {
    on eRefused do (round: int) { refused += (round); }
    on eOutcome do (it: (round: int, commit: bool)) {
      assert !it.commit || !(it.round in refused), format("round {0} commits and was refused", it.round);
    }
  }
}
test tc [main=Coordinator]: assert Atomic in { Coordinator, Participant };
