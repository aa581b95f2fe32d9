param proposers, acceptors: int;

fun SetUp(n: int, voting: int, duplicates: bool, flaw: tProposerFlaw) {
  var learner: Learner;
  var voters: set[Acceptor];
  var i: int;

  learner = new Learner(voting);
  while (i < voting) {
    voters += (new Acceptor((learner = learner, duplicates = duplicates)));
    i = i + 1;
  }
  i = 0;
  while (i < n) {
    i = i + 1;
    new Proposer((acceptors = voters, ballot = i, val = 100 + i, flaw = flaw));
  }
}

// Three proposers and five acceptors: the shape and size that speed is measured on.
machine ThreeOnFive {
  start state Init {
    entry { SetUp(3, 5, false, NO_FLAW); }
  }
}

machine SomeOnSome {
  start state Init {
    entry { SetUp(proposers, acceptors, false, NO_FLAW); }
  }
}

machine Duplicated {
  start state Init {
    entry { SetUp(1, 3, true, NO_FLAW); }
  }
}

machine TakesOldest {
  start state Init {
    entry { SetUp(3, 3, false, TAKES_OLDEST); }
  }
}

machine TwoOnThree {
  start state Init {
    entry { SetUp(2, 3, false, NO_FLAW); }
  }
}

machine CountsPromises {
  start state Init {
    entry { SetUp(2, 3, true, COUNTS_PROMISES); }
  }
}

machine PushesOwnValue {
  start state Init {
    entry { SetUp(2, 3, false, PUSHES_OWN_VALUE); }
  }
}

// expect: pass sampled
test tcThreeOnFive [main=ThreeOnFive]:
  assert OneValue, Validity in (union Paxos, { ThreeOnFive });

// expect: pass
test param (proposers in [1, 2], acceptors in [1, 2]) tcSomeOnSome [main=SomeOnSome]:
  assert OneValue, Validity in (union Paxos, { SomeOnSome });

// expect: pass sampled
test tcTwoOnThree [main=TwoOnThree]:
  assert OneValue, Validity in (union Paxos, { TwoOnThree });

// expect: pass
test tcDuplicated [main=Duplicated]:
  assert OneValue, Validity in (union Paxos, { Duplicated });

// expect: fail monitor: a second value is learned
test tcTakesOldest [main=TakesOldest]:
  assert OneValue in (union Paxos, { TakesOldest });

// expect: fail monitor: a second value is learned
test tcCountsPromises [main=CountsPromises]:
  assert OneValue in (union Paxos, { CountsPromises });

// expect: fail monitor: a second value is learned
test tcPushesOwnValue [main=PushesOwnValue]:
  assert OneValue in (union Paxos, { PushesOwnValue });

// expect: fail monitor: a second value is learned
test tcLaxAcceptors [main=TwoOnThree]:
  assert OneValue in (union PaxosWithLaxAcceptors, { TwoOnThree });

// expect: fail monitor: a second value is learned
test tcHastyLearner [main=TwoOnThree]:
  assert OneValue in (union PaxosWithHastyLearner, { TwoOnThree });
