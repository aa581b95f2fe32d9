// Commits a write if all stores vote yes.
machine Manager
receives eBegin, eVote;
sends ePrepare, eCommit, eAbort, eOutcome;
{
  var stores: set[sStore];
  var client: machine;
  var current: tWrite;
  var yes: set[machine];

  start state Init {
    entry (all: set[sStore]) {
      stores = all;
      goto Idle;
    }
    defer eBegin;
  }

  state Idle {
    on eBegin goto Preparing with (req: (client: machine, write: tWrite)) {
      client = req.client;
      current = req.write;
    }
    ignore eVote;
  }

  state Preparing {
    entry {
      var store: sStore;
      yes = default(set[machine]);
      foreach (store in stores) {
        send store, ePrepare, (manager = this, write = current);
      }
    }
    on eVote do (vote: (store: machine, id: int, yes: bool)) {
      if (vote.id != current.id) {
        return;
      }
      if (!vote.yes) {
        Decide(false);
      }
      yes += (vote.store);
      if (sizeof(yes) == sizeof(stores)) {
        Decide(true);
      }
    }
    defer eBegin;
  }

  fun Decide(commit: bool) {
    var store: sStore;
    foreach (store in stores) {
      if (commit) {
        send store, eCommit, current.id;
      } else {
        send store, eAbort, current.id;
      }
    }
    send client, eOutcome, (id = current.id, committed = commit);
    goto Idle;
  }
}

// Wrong: takes two votes for the votes of two stores; a late vote for the last write will do.
machine CountingManager
receives eBegin, eVote;
sends ePrepare, eCommit, eAbort, eOutcome;
{
  var stores: set[sStore];
  var client: machine;
  var current: tWrite;
  var yes: int;

  start state Init {
    entry (all: set[sStore]) {
      stores = all;
      goto Idle;
    }
    defer eBegin;
  }

  state Idle {
    on eBegin goto Preparing with (req: (client: machine, write: tWrite)) {
      client = req.client;
      current = req.write;
    }
    ignore eVote;
  }

  state Preparing {
    entry {
      var store: sStore;
      yes = 0;
      foreach (store in stores) {
        send store, ePrepare, (manager = this, write = current);
      }
    }
    on eVote do (vote: (store: machine, id: int, yes: bool)) {
      if (!vote.yes) {
        Decide(false);
      }
      yes = yes + 1;
      if (yes == sizeof(stores)) {
        Decide(true);
      }
    }
    defer eBegin;
  }

  fun Decide(commit: bool) {
    var store: sStore;
    foreach (store in stores) {
      if (commit) {
        send store, eCommit, current.id;
      } else {
        send store, eAbort, current.id;
      }
    }
    send client, eOutcome, (id = current.id, committed = commit);
    goto Idle;
  }
}

module Managers = { Manager };
module CountingManagers = { CountingManager -> Manager };
