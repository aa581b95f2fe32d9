// What is wrong with a coordinator; the planted bugs of this project that live in it.
enum tCoordinatorFlaw {
  NO_FLAW,
  // Counts every answer as a yes.
  COUNTS_ANY_ANSWER,
  // Counts a late vote for an aborted transaction towards the next one.
  COUNTS_STALE_VOTES,
  // Aborts on a timeout and forgets to tell the client.
  SILENT_ON_TIMEOUT,
  // Does not expect a timeout that was already under way when the timer was cancelled.
  TRUSTS_CANCEL
}

type tCoordinatorConfig = (participants: set[Participant], flaw: tCoordinatorFlaw);

// Serves one write after another: asks all participants to prepare, commits if all say yes, aborts
// if one says no or the timer fires first. Reads go to any one participant.
machine Coordinator {
  var participants: set[Participant];
  var flaw: tCoordinatorFlaw;
  var timer: Timer;
  var current: tWriteReq;
  var yes: int;

  start state Init {
    entry (config: tCoordinatorConfig) {
      participants = config.participants;
      flaw = config.flaw;
      timer = CreateTimer(this);
      if (flaw == TRUSTS_CANCEL) {
        goto WaitTrusting;
      }
      goto WaitForTransactions;
    }
  }

  state WaitForTransactions {
    on eWriteReq do Begin;
    on eReadReq do Read;
    // Left over from the previous transaction.
    ignore eVote, eTimeOut;
  }

  state WaitTrusting {
    on eWriteReq do Begin;
    on eReadReq do Read;
    ignore eVote;
  }

  state WaitForVotes {
    defer eWriteReq;
    on eReadReq do Read;

    on eVote do (vote: tVote) {
      if (vote.id != current.trans.id && flaw != COUNTS_STALE_VOTES) {
        return;
      }
      if (vote.status == SUCCESS || flaw == COUNTS_ANY_ANSWER) {
        yes = yes + 1;
        if (yes == sizeof(participants)) {
          Broadcast(eCommit, current.trans.id);
          Finish(SUCCESS);
        }
      } else {
        Broadcast(eAbort, current.trans.id);
        Finish(ERROR);
      }
    }

    on eTimeOut do {
      Broadcast(eAbort, current.trans.id);
      if (flaw == SILENT_ON_TIMEOUT) {
        goto WaitForTransactions;
      }
      Finish(TIMEOUT);
    }

    exit {
      yes = 0;
    }
  }

  fun Begin(req: tWriteReq) {
    current = req;
    Broadcast(ePrepare, req.trans);
    StartTimer(timer);
    goto WaitForVotes;
  }

  fun Read(req: tReadReq) {
    send choose(participants), eReadReq, req;
  }

  fun Finish(status: tStatus) {
    send current.client, eWriteResp, (id = current.trans.id, status = status);
    if (status != TIMEOUT) {
      CancelTimer(timer);
    }
    if (flaw == TRUSTS_CANCEL) {
      goto WaitTrusting;
    }
    goto WaitForTransactions;
  }

  fun Broadcast(message: event, payload: any) {
    var p: Participant;
    foreach (p in participants) {
      send p, message, payload;
    }
  }
}
