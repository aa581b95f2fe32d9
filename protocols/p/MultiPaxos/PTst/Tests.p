type tSystem = (leaders: int, acceptors: int, commands: int, shared: bool, flaw: tFlaw);

// Every leader has commands of its own, or all were asked for the same ones by clients that did
// not know whom to ask.
fun SetUp(system: tSystem) {
  var replica: machine;
  var acceptors: set[Acceptor];
  var commands: seq[int];
  var i: int;
  var n: int;

  replica = new Replica((acceptors = system.acceptors, flaw = system.flaw));
  while (i < system.acceptors) {
    acceptors += (new Acceptor(replica));
    i = i + 1;
  }
  i = 0;
  while (i < system.leaders) {
    i = i + 1;
    commands = default(seq[int]);
    n = 0;
    while (n < system.commands) {
      if (system.shared) {
        commands += (n, 1 + n);
      } else {
        commands += (n, 10 * i + 1 + n);
      }
      n = n + 1;
    }
    new Leader((acceptors = acceptors, ballot = i, commands = commands, flaw = system.flaw));
  }
}

machine OneLeader {
  start state Init {
    entry { SetUp((leaders = 1, acceptors = 2, commands = 2, shared = false, flaw = NO_FLAW)); }
  }
}

machine TwoOnTwo {
  start state Init {
    entry { SetUp((leaders = 2, acceptors = 2, commands = 1, shared = true, flaw = NO_FLAW)); }
  }
}

machine TwoLeaders {
  start state Init {
    entry { SetUp((leaders = 2, acceptors = 3, commands = 2, shared = false, flaw = NO_FLAW)); }
  }
}

machine ThreeLeaders {
  start state Init {
    entry { SetUp((leaders = 3, acceptors = 3, commands = 2, shared = false, flaw = NO_FLAW)); }
  }
}

machine AdoptsFirstSlotOnly {
  start state Init {
    entry {
      SetUp((leaders = 2, acceptors = 3, commands = 2, shared = false,
        flaw = ADOPTS_FIRST_SLOT_ONLY));
    }
  }
}

machine TakesLastHeard {
  start state Init {
    entry {
      SetUp((leaders = 3, acceptors = 3, commands = 1, shared = false, flaw = TAKES_LAST_HEARD));
    }
  }
}

machine AppliesOutOfOrder {
  start state Init {
    entry {
      SetUp((leaders = 1, acceptors = 3, commands = 2, shared = false,
        flaw = APPLIES_OUT_OF_ORDER));
    }
  }
}

machine AppliesTwice {
  start state Init {
    entry {
      SetUp((leaders = 2, acceptors = 3, commands = 1, shared = true, flaw = APPLIES_TWICE));
    }
  }
}

// expect: pass
test tcOneLeader [main=OneLeader]:
  assert OneCommandPerSlot, AppliedInOrderOnce in (union MultiPaxos, { OneLeader });

// expect: pass
test tcTwoOnTwo [main=TwoOnTwo]:
  assert OneCommandPerSlot, AppliedInOrderOnce in (union MultiPaxos, { TwoOnTwo });

// expect: pass sampled
test tcTwoLeaders [main=TwoLeaders]:
  assert OneCommandPerSlot, AppliedInOrderOnce in (union MultiPaxos, { TwoLeaders });

// expect: pass sampled
test tcThreeLeaders [main=ThreeLeaders]:
  assert OneCommandPerSlot, AppliedInOrderOnce in (union MultiPaxos, { ThreeLeaders });

// expect: fail monitor: two commands are chosen for slot 2
test tcAdoptsFirstSlotOnly [main=AdoptsFirstSlotOnly]:
  assert OneCommandPerSlot in (union MultiPaxos, { AdoptsFirstSlotOnly });

// expect: fail monitor: two commands are chosen for slot
test tcTakesLastHeard [main=TakesLastHeard]:
  assert OneCommandPerSlot in (union MultiPaxos, { TakesLastHeard });

// expect: fail monitor: is applied after slot
test tcAppliesOutOfOrder [main=AppliesOutOfOrder]:
  assert AppliedInOrderOnce in (union MultiPaxos, { AppliesOutOfOrder });

// expect: fail monitor: is applied twice
test tcAppliesTwice [main=AppliesTwice]:
  assert AppliedInOrderOnce in (union MultiPaxos, { AppliesTwice });

// expect: fail monitor: two commands are chosen for slot
test tcForgetfulAcceptors [main=TwoLeaders]:
  assert OneCommandPerSlot in (union MultiPaxosForgetful, { TwoLeaders });
