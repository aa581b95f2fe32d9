type tSystem = (servers: int, timeouts: int, commands: int, restarts: int, flaw: tFlaw);

// What befalls the servers: a number of things of one kind, to any server each time.
machine Fate {
  start state Init {
    entry (config: (servers: set[Server], what: event, times: int)) {
      var n: int;
      while (n < config.times) {
        send choose(config.servers), config.what;
        n = n + 1;
      }
    }
  }
}

// Sends each command to all servers; the one that leads takes it.
machine RaftClient {
  start state Init {
    entry (config: (servers: set[Server], commands: int)) {
      var n: int;
      var server: Server;
      while (n < config.commands) {
        n = n + 1;
        foreach (server in config.servers) {
          send server, eCommand, n;
        }
      }
    }
  }
}

fun SetUp(system: tSystem) {
  var servers: set[Server];
  var server: Server;
  var i: int;
  while (i < system.servers) {
    servers += (new Server(system.flaw));
    i = i + 1;
  }
  foreach (server in servers) {
    send server, eServers, servers;
  }
  new Fate((servers = servers, what = eElectionTimeout, times = system.timeouts));
  if (system.restarts > 0) {
    new Fate((servers = servers, what = eRestart, times = system.restarts));
  }
  if (system.commands > 0) {
    new RaftClient((servers = servers, commands = system.commands));
  }
}

machine OneElection {
  start state Init {
    entry { SetUp((servers = 3, timeouts = 1, commands = 1, restarts = 0, flaw = NO_FLAW)); }
  }
}

machine TwoElections {
  start state Init {
    entry { SetUp((servers = 3, timeouts = 2, commands = 0, restarts = 0, flaw = NO_FLAW)); }
  }
}

machine ManyElections {
  start state Init {
    entry { SetUp((servers = 5, timeouts = 4, commands = 2, restarts = 2, flaw = NO_FLAW)); }
  }
}

machine VotesTwice {
  start state Init {
    entry { SetUp((servers = 3, timeouts = 2, commands = 0, restarts = 0, flaw = VOTES_TWICE)); }
  }
}

machine CountsAnswers {
  start state Init {
    entry { SetUp((servers = 5, timeouts = 3, commands = 0, restarts = 0, flaw = COUNTS_ANSWERS)); }
  }
}

machine IgnoresLogs {
  start state Init {
    entry { SetUp((servers = 3, timeouts = 2, commands = 1, restarts = 0, flaw = IGNORES_LOGS)); }
  }
}

machine CommitsOnHalf {
  start state Init {
    entry {
      SetUp((servers = 3, timeouts = 2, commands = 1, restarts = 0, flaw = COMMITS_ON_HALF));
    }
  }
}

machine ForgetsVote {
  start state Init {
    entry {
      SetUp((servers = 3, timeouts = 2, commands = 0, restarts = 1,
        flaw = FORGETS_VOTE_ON_RESTART));
    }
  }
}

module System = union Raft, { Fate, RaftClient };

// expect: pass
test tcOneElection [main=OneElection]:
  assert OneLeaderPerTerm, CommittedStays in (union System, { OneElection });

// expect: pass
test tcTwoElections [main=TwoElections]:
  assert OneLeaderPerTerm, CommittedStays in (union System, { TwoElections });

// expect: pass sampled
test tcManyElections [main=ManyElections]:
  assert OneLeaderPerTerm, CommittedStays in (union System, { ManyElections });

// expect: fail monitor: two leaders in term
test tcVotesTwice [main=VotesTwice]:
  assert OneLeaderPerTerm in (union System, { VotesTwice });

// expect: fail monitor: two leaders in term
test tcCountsAnswers [main=CountsAnswers]:
  assert OneLeaderPerTerm in (union System, { CountsAnswers });

// expect: fail monitor: lacks a committed entry
test tcIgnoresLogs [main=IgnoresLogs]:
  assert CommittedStays in (union System, { IgnoresLogs });

// expect: fail monitor: committed
test tcCommitsOnHalf [main=CommitsOnHalf]:
  assert CommittedStays in (union System, { CommitsOnHalf });

// expect: fail monitor: two leaders in term
test tcForgetsVote [main=ForgetsVote]:
  assert OneLeaderPerTerm in (union System, { ForgetsVote });
