// Time synchronisation in the manner of the Berkeley protocol (Gusella and Zatti, 1989): a master
// asks the clocks of all in numbered rounds, takes the mean of those that are not too far off, and
// tells each by how much to correct. Elections are in another file.

type tAsk = (master: machine, round: int);
type tTime = (node: machine, round: int, clock: int);

event eAsk: tAsk;
event eTime: tTime;
event eCorrect: int;

// Told to specs.
event eClock: (node: machine, clock: int);
event eReading: (node: machine, clock: int);
event eMean: int;

enum tFlaw {
  NO_FLAW,
  // A clock that is far off spoils the mean.
  KEEPS_OUTLIERS,
  // A late answer to an earlier round is taken for one to this round.
  TAKES_STALE_TIMES,
  // A clock that is ahead is set back instead of being slowed down.
  SETS_BACK,
  // A timeout that comes when all have answered already is not expected.
  EXPECTS_NO_TIMEOUT
}

type tMasterConfig = (nodes: set[machine], clock: int, rounds: int, flaw: tFlaw);

// The master of a settled group.
machine TimeMaster {
  var nodes: set[machine];
  var clock: int;
  var rounds: int;
  var flaw: tFlaw;
  var timer: Timer;
  var round: int;
  var times: map[machine, int];

  start state Init {
    entry (config: tMasterConfig) {
      nodes = config.nodes;
      clock = config.clock;
      rounds = config.rounds;
      flaw = config.flaw;
      timer = CreateTimer(this);
      announce eMean, clock;
      goto Asking;
    }
  }

  state Asking {
    entry {
      var node: machine;
      if (round == rounds) {
        goto Done;
      }
      round = round + 1;
      times = default(map[machine, int]);
      foreach (node in nodes) {
        send node, eAsk, (master = this, round = round);
      }
      StartTimer(timer);
    }

    on eTime do (it: tTime) {
      if (it.round != round && flaw != TAKES_STALE_TIMES) {
        return;
      }
      times[it.node] = it.clock;
      if (sizeof(times) == sizeof(nodes)) {
        CancelTimer(timer);
        goto Correcting;
      }
    }
    on eTimeOut goto Correcting;
  }

  state Correcting {
    entry {
      var node: machine;
      var mean: int;
      mean = Mean();
      announce eMean, mean;
      foreach (node in keys(times)) {
        if (mean != times[node]) {
          send node, eCorrect, mean - times[node];
        }
      }
      clock = mean;
      if (flaw == EXPECTS_NO_TIMEOUT && round == rounds) {
        goto DoneTrusting;
      }
      goto Asking;
    }
  }

  state Done {
    ignore eTime, eTimeOut;
  }

  state DoneTrusting {
    ignore eTime;
  }

  // The mean of the clocks that are near the master's.
  fun Mean(): int {
    var total: int;
    var count: int;
    var time: int;
    total = clock;
    count = 1;
    foreach (time in values(times)) {
      if ((time - clock <= 10 && clock - time <= 10) || flaw == KEEPS_OUTLIERS) {
        total = total + time;
        count = count + 1;
      }
    }
    return total / count;
  }
}

// A node of a settled group.
machine TimeNode {
  var flaw: tFlaw;
  var clock: int;
  // Time that has passed for others and that this clock waits for.
  var ahead: int;

  start state Init {
    entry (config: (clock: int, flaw: tFlaw)) {
      clock = config.clock;
      flaw = config.flaw;
      announce eClock, (node = this, clock = clock);
      goto Running;
    }
    defer eAsk;
  }

  state Running {
    on eAsk do (ask: tAsk) {
      // Its true reading: what it shows, less what it still has to wait.
      send ask.master, eTime, (node = this, round = ask.round, clock = clock - ahead);
    }

    on eCorrect do (delta: int) {
      if (delta >= 0 || flaw == SETS_BACK) {
        clock = clock + delta;
      } else {
        ahead = ahead - delta;
      }
      announce eClock, (node = this, clock = clock);
      announce eReading, (node = this, clock = clock - ahead);
    }
  }
}

module TimeSync = union { TimeMaster, TimeNode }, Timers;
