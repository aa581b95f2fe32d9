// Holds a copy of the store. Votes yes unless it has a newer value for the key or, if it may
// refuse, at will.
machine Participant {
  var mayRefuse: bool;
  var coordinator: machine;
  var store: map[string, tTrans];
  var pending: map[int, tTrans];

  start state Init {
    entry (refuses: bool) {
      mayRefuse = refuses;
    }

    on eInformCoordinator goto Working with (who: machine) {
      coordinator = who;
    }
    on eShutDown do { raise halt; }
    defer ePrepare, eReadReq;
  }

  state Working {
    on ePrepare do (trans: tTrans) {
      var status: tStatus;
      assert !(trans.id in pending), "a participant prepares a transaction once";
      if (!Newer(trans) || (mayRefuse && $)) {
        status = ERROR;
      } else {
        status = SUCCESS;
      }
      pending[trans.id] = trans;
      send coordinator, eVote, (participant = this, id = trans.id, status = status);
    }

    on eCommit do (id: int) {
      assert id in pending, "a participant commits only what it prepared";
      store[pending[id].key] = pending[id];
      pending -= id;
    }

    on eAbort do (id: int) {
      pending -= id;
    }

    on eReadReq do (req: tReadReq) {
      if (req.key in store) {
        send req.client, eReadResp, (key = req.key, val = store[req.key].val, status = SUCCESS);
      } else {
        send req.client, eReadResp, (key = req.key, val = 0, status = ERROR);
      }
    }

    on eShutDown do { raise halt; }
  }

  fun Newer(trans: tTrans): bool {
    return !(trans.key in store) || store[trans.key].id < trans.id;
  }
}

event eInformCoordinator: machine;

// Wrong: writes on prepare and does not undo the write on abort.
machine EagerParticipant {
  var coordinator: machine;
  var store: map[string, int];

  start state Init {
    entry (refuses: bool) { }
    on eInformCoordinator goto Working with (who: machine) {
      coordinator = who;
    }
    defer ePrepare, eReadReq;
  }

  state Working {
    on ePrepare do (trans: tTrans) {
      store[trans.key] = trans.val;
      send coordinator, eVote, (participant = this, id = trans.id, status = SUCCESS);
    }

    on eReadReq do (req: tReadReq) {
      if (req.key in store) {
        send req.client, eReadResp, (key = req.key, val = store[req.key], status = SUCCESS);
      } else {
        send req.client, eReadResp, (key = req.key, val = 0, status = ERROR);
      }
    }
    ignore eCommit, eAbort, eShutDown;
  }
}
