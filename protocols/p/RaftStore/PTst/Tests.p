type tSetUp = (replicas: int, commands: int, elections: int, rounds: int, mistake: tMistake);

event eTick;
event eStart;

// Fires after any number of ticks.
machine Clock {
  var user: machine;

  start state Init {
    entry (whose: machine) {
      user = whose;
      goto Idle;
    }
    defer eStart;
  }
  state Idle {
    on eStart goto Ticking;
    on eShutDown goto Off;
    ignore eTick;
  }
  state Ticking {
    entry Tick;
    on eTick do Tick;
    on eShutDown goto Off;
    ignore eStart;
  }
  state Off {
    ignore eTick, eStart;
  }
  fun Tick() {
    if ($) {
      send user, eHeartbeat;
      goto Idle;
    }
    send this, eTick;
  }
}

// Starts elections and heartbeats, and keeps what it was told of the logs.
machine Control {
  var replicas: set[Replica];
  var clock: Clock;
  var client: Client;
  var elections: int;
  var rounds: int;
  var times: map[Replica, int];
  var logs: map[Replica, seq[tEntry]];

  start state Init {
    entry (setUp: tSetUp) {
      var i: int;
      var replica: Replica;
      elections = setUp.elections;
      rounds = setUp.rounds;
      while (i < setUp.replicas) {
        replica = new Replica((control = this, mistake = setUp.mistake));
        replicas += (replica);
        logs[replica] = default(seq[tEntry]);
        i = i + 1;
      }
      foreach (replica in replicas) {
        send replica, eCluster, replicas;
      }
      client = new Client((control = this, replicas = replicas, commands = setUp.commands));
      clock = new Clock(this);
      goto Running;
    }
    defer eHeartbeat, eLogAt, eClientDone;
  }

  state Running {
    entry {
      send choose(replicas), eElection;
      send clock, eStart;
    }
    on eHeartbeat do {
      var replica: Replica;
      foreach (replica in replicas) {
        send replica, eHeartbeat;
      }
      if (elections > 0 && $) {
        elections = elections - 1;
        if ($) {
          send Longest(), eElection;
        } else {
          send choose(replicas), eElection;
        }
      }
      rounds = rounds - 1;
      if (rounds > 0) {
        send clock, eStart;
      }
    }
    on eLogAt do (it: (replica: Replica, time: int, log: seq[tEntry])) {
      if (!(it.replica in keys(times)) || times[it.replica] < it.time) {
        times[it.replica] = it.time;
        logs[it.replica] = it.log;
      }
    }
    on eClientDone do {
      var i: int;
      while (i < sizeof(replicas)) {
        send replicas[i], eShutDown;
        i = i + 1;
      }
      goto Over;
    }
  }

  state Over {
    entry {
      send clock, eShutDown;
    }
    ignore eHeartbeat, eLogAt;
  }

  fun Longest(): Replica {
    var replica: Replica;
    var best: Replica;
    var term: int;
    var length: int;
    foreach (replica in replicas) {
      if (best == default(Replica) || term < LastTerm(logs[replica])
          || (term == LastTerm(logs[replica]) && length < sizeof(logs[replica]))) {
        best = replica;
        term = LastTerm(logs[replica]);
        length = sizeof(logs[replica]);
      }
    }
    return best;
  }
}

// Sends its commands to any replica, each again at times, and waits for all answers.
machine Client {
  var control: Control;
  var done: set[int];
  var commands: int;

  start state Init {
    entry (config: (control: Control, replicas: set[Replica], commands: int)) {
      var n: int;
      var put: tPut;
      control = config.control;
      commands = config.commands;
      while (n < config.commands) {
        put = (client = this, number = n, key = format("key {0}", n % 2), val = n);
        send choose(config.replicas), ePut, put;
        if ($) {
          send choose(config.replicas), ePut, put;
        }
        n = n + 1;
      }
      goto Waiting;
    }
    defer eDone;
  }
  state Waiting {
    on eDone do (it: tDone) {
      done += (it.number);
      if (sizeof(done) == commands) {
        send control, eClientDone, this;
        goto Finished;
      }
    }
  }
  state Finished {
    ignore eDone;
  }
}

machine Small {
  start state Init {
    entry { new Control((replicas = 2, commands = 1, elections = 0, rounds = 1, mistake = NONE)); }
  }
}

machine ThreeReplicas {
  start state Init {
    entry { new Control((replicas = 3, commands = 4, elections = 2, rounds = 30, mistake = NONE)); }
  }
}

machine CommitsAlone {
  start state Init {
    entry { new Control((replicas = 3, commands = 2, elections = 2, rounds = 10, mistake = COMMITS_ALONE)); }
  }
}

machine AppendsBlindly {
  start state Init {
    entry { new Control((replicas = 3, commands = 3, elections = 2, rounds = 10, mistake = APPENDS_BLINDLY)); }
  }
}

machine NoCache {
  start state Init {
    entry { new Control((replicas = 3, commands = 2, elections = 1, rounds = 10, mistake = NO_CACHE)); }
  }
}

module Store = { Replica, Control, Clock, Client };

// expect: pass sampled
test tcThreeReplicas [main=ThreeReplicas]:
  assert OneLeader, SameOrder, Answers in (union Store, { ThreeReplicas });

// expect: pass
test tcSmall [main=Small]:
  assert OneLeader, SameOrder, Answers in (union Store, { Small });

// expect: fail monitor: two commands are applied
test tcCommitsAlone [main=CommitsAlone]:
  assert SameOrder in (union Store, { CommitsAlone });

// expect: fail monitor: two commands are applied
test tcAppendsBlindly [main=AppendsBlindly]:
  assert SameOrder in (union Store, { AppendsBlindly });

// expect: fail monitor: is applied twice
test tcNoCache [main=NoCache]:
  assert SameOrder in (union Store, { NoCache });
