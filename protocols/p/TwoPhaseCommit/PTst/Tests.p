type tSystem = (
  participants: int, refuses: bool, clients: int, writes: int, reads: bool, failures: int,
  flaw: tCoordinatorFlaw
);

fun SetUp(system: tSystem) {
  var participants: set[Participant];
  var nodes: set[machine];
  var p: Participant;
  var coordinator: Coordinator;
  var i: int;

  announce eSpecParticipants, system.participants;
  while (i < system.participants) {
    p = new Participant(system.refuses);
    participants += (p);
    nodes += (p);
    i = i + 1;
  }
  coordinator = new Coordinator((participants = participants, flaw = system.flaw));
  foreach (p in participants) {
    send p, eInformCoordinator, coordinator;
  }
  i = 0;
  while (i < system.clients) {
    i = i + 1;
    new Client((coordinator = coordinator, name = i, writes = system.writes, reads = system.reads));
  }
  if (system.failures > 0) {
    new FailureInjector((nodes = nodes, count = system.failures));
  }
}

// Three participants and a client that writes and reads five times: the shape and size that speed
// is measured on.
machine SingleClient {
  start state Init {
    entry {
      SetUp((participants = 3, refuses = false, clients = 1, writes = 5, reads = true, failures = 0,
        flaw = NO_FLAW));
    }
  }
}

machine SmallNoFailure {
  start state Init {
    entry {
      SetUp((participants = 2, refuses = false, clients = 1, writes = 1, reads = true, failures = 0,
        flaw = NO_FLAW));
    }
  }
}

machine SmallWithFailure {
  start state Init {
    entry {
      SetUp((participants = 2, refuses = false, clients = 1, writes = 1, reads = false,
        failures = 1, flaw = NO_FLAW));
    }
  }
}

machine TwoClients {
  start state Init {
    entry {
      SetUp((participants = 2, refuses = true, clients = 2, writes = 2, reads = true, failures = 0,
        flaw = NO_FLAW));
    }
  }
}

machine CountsAnyAnswer {
  start state Init {
    entry {
      SetUp((participants = 2, refuses = true, clients = 1, writes = 1, reads = false, failures = 0,
        flaw = COUNTS_ANY_ANSWER));
    }
  }
}

machine CountsStaleVotes {
  start state Init {
    entry {
      SetUp((participants = 2, refuses = false, clients = 1, writes = 2, reads = false,
        failures = 0, flaw = COUNTS_STALE_VOTES));
    }
  }
}

machine SilentOnTimeout {
  start state Init {
    entry {
      SetUp((participants = 2, refuses = false, clients = 1, writes = 1, reads = false,
        failures = 1, flaw = SILENT_ON_TIMEOUT));
    }
  }
}

machine TrustsCancel {
  start state Init {
    entry {
      SetUp((participants = 2, refuses = false, clients = 1, writes = 1, reads = false,
        failures = 0, flaw = TRUSTS_CANCEL));
    }
  }
}

module System = union TwoPhaseCommit, Clients, Failures;

// expect: pass sampled
test tcSingleClient [main=SingleClient]:
  assert Atomicity, ReadsCommitted, Progress in (union System, { SingleClient });

// expect: pass
test tcSmall [main=SmallNoFailure]:
  assert Atomicity, ReadsCommitted, Progress in (union System, { SmallNoFailure });

// expect: pass
test tcSmallWithFailure [main=SmallWithFailure]:
  assert Atomicity, ReadsCommitted, Progress in (union System, { SmallWithFailure });

// expect: pass sampled
test tcTwoClients [main=TwoClients]:
  assert Atomicity, ReadsCommitted, Progress in (union System, { TwoClients });

// expect: fail monitor: committed without the yes of all
test tcCountsAnyAnswer [main=CountsAnyAnswer]:
  assert Atomicity in (union System, { CountsAnyAnswer });

// expect: fail monitor: committed without the yes of all
test tcCountsStaleVotes [main=CountsStaleVotes]:
  assert Atomicity in (union System, { CountsStaleVotes });

// expect: fail deadlock: Client
test tcSilentOnTimeout [main=SilentOnTimeout]:
  union System, { SilentOnTimeout };

// expect: fail unhandled-event: eTimeOut
test tcTrustsCancel [main=TrustsCancel]:
  union System, { TrustsCancel };

// expect: fail monitor: never committed
test tcEagerParticipant [main=SmallNoFailure]:
  assert ReadsCommitted in (union TwoPhaseCommitEager, Clients, Failures, { SmallNoFailure });
