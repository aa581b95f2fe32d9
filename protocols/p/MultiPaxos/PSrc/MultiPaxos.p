// Multi-Paxos: a leader owns a ballot for all slots of a log, finishes what earlier leaders began
// and then puts its own commands into the slots that are free. Replicas apply slots in order.

type tValue = (ballot: int, command: int);
type tPhase1 = (leader: machine, ballot: int);
type tPromise = (acceptor: machine, ballot: int, accepted: map[int, tValue]);
type tPhase2 = (slot: int, val: tValue);
type tVote = (acceptor: machine, slot: int, val: tValue);

event ePhase1: tPhase1;
event ePromise: tPromise;
event ePhase2: tPhase2;
event eVote: tVote;

// Told to specs.
event eChosen: (slot: int, command: int);
event eApplied: (slot: int, command: int);

enum tFlaw {
  NO_FLAW,
  // A new leader finishes the first slot only and puts its own commands into all the others.
  ADOPTS_FIRST_SLOT_ONLY,
  // Of two values accepted for a slot takes the one it heard of last, whatever its ballot.
  TAKES_LAST_HEARD,
  // A replica applies what is chosen as soon as it is chosen, gaps or not.
  APPLIES_OUT_OF_ORDER,
  // A command that two leaders put into two slots is applied twice.
  APPLIES_TWICE
}

type tLeaderConfig = (acceptors: set[Acceptor], ballot: int, commands: seq[int], flaw: tFlaw);

machine Leader {
  var acceptors: set[Acceptor];
  var ballot: int;
  var commands: seq[int];
  var flaw: tFlaw;
  var promised: set[machine];
  var heard: map[int, tValue];

  start state Phase1 {
    entry (config: tLeaderConfig) {
      var acceptor: Acceptor;
      acceptors = config.acceptors;
      ballot = config.ballot;
      commands = config.commands;
      flaw = config.flaw;
      foreach (acceptor in acceptors) {
        send acceptor, ePhase1, (leader = this, ballot = ballot);
      }
    }

    on ePromise do (promise: tPromise) {
      var slot: int;
      promised += (promise.acceptor);
      foreach (slot in keys(promise.accepted)) {
        if (!(slot in heard) || heard[slot].ballot < promise.accepted[slot].ballot
            || flaw == TAKES_LAST_HEARD) {
          heard[slot] = promise.accepted[slot];
        }
      }
      if (2 * sizeof(promised) > sizeof(acceptors)) {
        goto Phase2;
      }
    }
  }

  state Phase2 {
    entry {
      var slot: int;
      var next: int;
      var plan: map[int, int];
      while (next < sizeof(commands) || slot < HighestHeard()) {
        slot = slot + 1;
        if (slot in heard && !(flaw == ADOPTS_FIRST_SLOT_ONLY && slot > 1)) {
          plan += (slot, heard[slot].command);
        } else if (next < sizeof(commands)) {
          plan += (slot, commands[next]);
          next = next + 1;
        } else {
          // Nothing to put there: a command that does nothing fills the gap.
          plan += (slot, 0);
        }
      }
      // Slots do not wait for each other.
      while (sizeof(plan) > 0) {
        slot = choose(plan);
        Propose(slot, plan[slot]);
        plan -= slot;
      }
    }
    ignore ePromise;
  }

  fun Propose(slot: int, command: int) {
    var acceptor: Acceptor;
    foreach (acceptor in acceptors) {
      send acceptor, ePhase2, (slot = slot, val = (ballot = ballot, command = command));
    }
  }

  fun HighestHeard(): int {
    var slot: int;
    var highest: int;
    foreach (slot in keys(heard)) {
      if (slot > highest) {
        highest = slot;
      }
    }
    return highest;
  }
}

machine Acceptor {
  var replica: machine;
  var promised: int;
  var accepted: map[int, tValue];

  start state Voting {
    entry (who: machine) {
      replica = who;
    }

    on ePhase1 do (req: tPhase1) {
      if (req.ballot > promised) {
        promised = req.ballot;
        send req.leader, ePromise, (acceptor = this, ballot = promised, accepted = accepted);
      }
    }

    on ePhase2 do (req: tPhase2) {
      if (req.val.ballot >= promised) {
        promised = req.val.ballot;
        accepted[req.slot] = req.val;
        send replica, eVote, (acceptor = this, slot = req.slot, val = req.val);
      }
    }
  }
}

// Wrong: forgets what it accepted in a slot when it votes in a later one, as if the log had one
// slot.
machine ForgetfulAcceptor {
  var replica: machine;
  var promised: int;
  var accepted: map[int, tValue];

  start state Voting {
    entry (who: machine) {
      replica = who;
    }

    on ePhase1 do (req: tPhase1) {
      if (req.ballot > promised) {
        promised = req.ballot;
        send req.leader, ePromise, (acceptor = this, ballot = promised, accepted = accepted);
      }
    }

    on ePhase2 do (req: tPhase2) {
      if (req.val.ballot >= promised) {
        promised = req.val.ballot;
        accepted = default(map[int, tValue]);
        accepted[req.slot] = req.val;
        send replica, eVote, (acceptor = this, slot = req.slot, val = req.val);
      }
    }
  }
}

// Counts votes, and applies chosen commands in the order of the slots.
machine Replica {
  var majority: int;
  var flaw: tFlaw;
  var votes: map[(int, int), set[machine]];
  var chosen: map[int, int];
  var applied: int;
  var done: set[int];

  start state Learning {
    entry (config: (acceptors: int, flaw: tFlaw)) {
      majority = config.acceptors / 2 + 1;
      flaw = config.flaw;
    }

    on eVote do (vote: tVote) {
      var key: (int, int);
      key = (vote.slot, vote.val.ballot);
      if (!(key in votes)) {
        votes[key] = default(set[machine]);
      }
      votes[key] += (vote.acceptor);
      if (sizeof(votes[key]) == majority) {
        announce eChosen, (slot = vote.slot, command = vote.val.command);
        chosen[vote.slot] = vote.val.command;
        if (flaw == APPLIES_OUT_OF_ORDER) {
          Apply(vote.slot);
        }
        while (applied + 1 in chosen && flaw != APPLIES_OUT_OF_ORDER) {
          applied = applied + 1;
          Apply(applied);
        }
      }
    }
  }

  fun Apply(slot: int) {
    if (chosen[slot] == 0 || (chosen[slot] in done && flaw != APPLIES_TWICE)) {
      return;
    }
    done += (chosen[slot]);
    announce eApplied, (slot = slot, command = chosen[slot]);
  }
}

module MultiPaxos = { Leader, Acceptor, Replica };
module MultiPaxosForgetful = { Leader, ForgetfulAcceptor -> Acceptor, Replica };
