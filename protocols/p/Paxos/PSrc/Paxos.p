// Single-decree Paxos (Lamport, The Part-Time Parliament): proposers with distinct ballots get one
// value chosen by a majority of acceptors.

type tBallot = int;
type tProposal = (ballot: tBallot, val: int);
type tPrepare = (proposer: machine, ballot: tBallot);
type tPromise = (acceptor: machine, ballot: tBallot, accepted: tProposal);
type tAccept = (proposer: machine, proposal: tProposal);
type tAccepted = (acceptor: machine, proposal: tProposal);

event ePrepare: tPrepare;
event ePromise: tPromise;
event eAccept: tAccept;
event eAccepted: tAccepted;
event eLearned: int;

enum tProposerFlaw {
  NO_FLAW,
  // Takes the value of the oldest accepted proposal that it hears of, not of the newest.
  TAKES_OLDEST,
  // Counts promises, not the acceptors that made them.
  COUNTS_PROMISES,
  // Proposes its own value whatever was accepted before.
  PUSHES_OWN_VALUE
}

type tProposerConfig = (acceptors: set[Acceptor], ballot: tBallot, val: int, flaw: tProposerFlaw);

machine Proposer {
  var acceptors: set[Acceptor];
  var mine: tProposal;
  var flaw: tProposerFlaw;
  var promised: set[machine];
  var promises: int;
  var heard: tProposal;

  start state Init {
    entry (config: tProposerConfig) {
      acceptors = config.acceptors;
      mine = (ballot = config.ballot, val = config.val);
      flaw = config.flaw;
      goto Preparing;
    }
  }

  state Preparing {
    entry {
      var acceptor: Acceptor;
      foreach (acceptor in acceptors) {
        send acceptor, ePrepare, (proposer = this, ballot = mine.ballot);
      }
    }

    on ePromise do (promise: tPromise) {
      promised += (promise.acceptor);
      promises = promises + 1;
      if (promise.accepted.ballot > 0 && Prefer(promise.accepted.ballot)) {
        heard = promise.accepted;
      }
      if (EnoughPromises()) {
        goto Accepting;
      }
    }
  }

  state Accepting {
    entry {
      var acceptor: Acceptor;
      if (heard.ballot > 0 && flaw != PUSHES_OWN_VALUE) {
        mine.val = heard.val;
      }
      foreach (acceptor in acceptors) {
        send acceptor, eAccept, (proposer = this, proposal = mine);
      }
    }
    ignore ePromise;
  }

  fun Prefer(ballot: tBallot): bool {
    if (heard.ballot == 0) {
      return true;
    }
    if (flaw == TAKES_OLDEST) {
      return ballot < heard.ballot;
    }
    return ballot > heard.ballot;
  }

  fun EnoughPromises(): bool {
    if (flaw == COUNTS_PROMISES) {
      return 2 * promises > sizeof(acceptors);
    }
    return 2 * sizeof(promised) > sizeof(acceptors);
  }
}

type tAcceptorConfig = (learner: machine, duplicates: bool);

machine Acceptor {
  var learner: machine;
  var duplicates: bool;
  var promised: tBallot;
  var accepted: tProposal;

  start state Init {
    entry (config: tAcceptorConfig) {
      learner = config.learner;
      duplicates = config.duplicates;
      goto Voting;
    }
  }

  state Voting {
    on ePrepare do (req: tPrepare) {
      if (req.ballot > promised) {
        promised = req.ballot;
        send req.proposer, ePromise, (acceptor = this, ballot = promised, accepted = accepted);
        // The network may deliver an answer twice.
        if (duplicates && $) {
          send req.proposer, ePromise, (acceptor = this, ballot = promised, accepted = accepted);
        }
      }
    }

    on eAccept do (req: tAccept) {
      if (req.proposal.ballot >= promised) {
        promised = req.proposal.ballot;
        accepted = req.proposal;
        send learner, eAccepted, (acceptor = this, proposal = accepted);
      }
    }
  }
}

// Wrong: keeps its promise to answer no older prepare, but accepts older proposals.
machine LaxAcceptor {
  var learner: machine;
  var promised: tBallot;
  var accepted: tProposal;

  start state Voting {
    entry (config: tAcceptorConfig) {
      learner = config.learner;
    }

    on ePrepare do (req: tPrepare) {
      if (req.ballot > promised) {
        promised = req.ballot;
        send req.proposer, ePromise, (acceptor = this, ballot = promised, accepted = accepted);
      }
    }

    on eAccept do (req: tAccept) {
      accepted = req.proposal;
      send learner, eAccepted, (acceptor = this, proposal = accepted);
    }
  }
}

// Told of every accepted proposal; a value is learned when a majority accepted one ballot.
machine Learner {
  var majority: int;
  var votes: map[tBallot, set[machine]];

  start state Learning {
    entry (acceptors: int) {
      majority = acceptors / 2 + 1;
    }

    on eAccepted do (vote: tAccepted) {
      if (!(vote.proposal.ballot in votes)) {
        votes[vote.proposal.ballot] = default(set[machine]);
      }
      votes[vote.proposal.ballot] += (vote.acceptor);
      if (sizeof(votes[vote.proposal.ballot]) == majority) {
        announce eLearned, vote.proposal.val;
      }
    }
  }
}

// Wrong: takes half of the acceptors, rounded down, for a majority.
machine HastyLearner {
  var half: int;
  var votes: map[tBallot, set[machine]];

  start state Learning {
    entry (acceptors: int) {
      half = acceptors / 2;
    }

    on eAccepted do (vote: tAccepted) {
      if (!(vote.proposal.ballot in votes)) {
        votes[vote.proposal.ballot] = default(set[machine]);
      }
      votes[vote.proposal.ballot] += (vote.acceptor);
      if (sizeof(votes[vote.proposal.ballot]) == half) {
        announce eLearned, vote.proposal.val;
      }
    }
  }
}

module Paxos = { Proposer, Acceptor, Learner };
module PaxosWithLaxAcceptors = { Proposer, LaxAcceptor -> Acceptor, Learner };
module PaxosWithHastyLearner = { Proposer, Acceptor, HastyLearner -> Learner };
