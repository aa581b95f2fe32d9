// expect: fail monitor OneValue
// Paxos whose proposers ignore what acceptors have accepted before.
type tBallot = (number: int, value: int);
event ePrepare: (proposer: machine, number: int);
event ePromise: (number: int, accepted: tBallot);
event eAccept: (proposer: machine, ballot: tBallot);
event eAccepted: (acceptor: machine, ballot: tBallot);
machine Acceptor {
  var promised: int;
  var accepted: tBallot;
  start state Serving {
    on ePrepare do (it: (proposer: machine, number: int)) {
      if (it.number > promised) { promised = it.number; send it.proposer, ePromise, (number = it.number, accepted = accepted); }
    }
    on eAccept do (it: (proposer: machine, ballot: tBallot)) {
      if (it.ballot.number >= promised) {
        promised = it.ballot.number;
        accepted = it.ballot;
        announce eAccepted, (acceptor = this, ballot = accepted);
      }
    }
  }
}
machine Proposer {
  var number: int;
  var best: tBallot;
  var promises: int;
  var acceptors: seq[Acceptor];
  start state Preparing {
    entry (it: (acceptors: seq[Acceptor], number: int)) {
      var a: Acceptor;
      acceptors = it.acceptors;
      number = it.number;
      best = (number = 0, value = 10 * number);
      foreach (a in acceptors) { send a, ePrepare, (proposer = this, number = number); }
    }
    on ePromise do (it: (number: int, accepted: tBallot)) {
      var a: Acceptor;
      promises = promises + 1;
      // Wrong: `it.accepted` is not looked at.
      if (promises == 2) {
        foreach (a in acceptors) { send a, eAccept, (proposer = this, ballot = (number = number, value = best.value)); }
        goto Done;
      }
    }
  }
  state Done { ignore ePromise; }
}
spec OneValue observes eAccepted {
  var votes: map[int, set[machine]];
  var chosen: set[int];
  start state Counting {
    on eAccepted do (it: (acceptor: machine, ballot: tBallot)) {
      if (!(it.ballot.number in votes)) { votes[it.ballot.number] = default(set[machine]); }
      votes[it.ballot.number] += (it.acceptor);
      if (sizeof(votes[it.ballot.number]) == 2) { chosen += (it.ballot.value); }
      assert sizeof(chosen) <= 1, format("chosen: {0}", chosen);
    }
  }
}
machine Main {
  start state S {
    entry {
      var all: seq[Acceptor];
      while (sizeof(all) < 3) { all += (sizeof(all), new Acceptor()); }
      new Proposer((acceptors = all, number = 1));
      new Proposer((acceptors = all, number = 2));
    }
  }
}
test tc [main=Main]: assert OneValue in { Main, Proposer, Acceptor };
