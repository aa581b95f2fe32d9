// Tells the specs how many participants there are.
event eSpecParticipants: int;

// All or nothing: success needs the yes of every participant, an error needs a no.
spec Atomicity observes eSpecParticipants, eVote, eWriteResp {
  var participants: int;
  var votes: map[int, map[machine, tStatus]];

  start state Init {
    on eSpecParticipants goto Watching with (n: int) {
      participants = n;
    }
  }

  state Watching {
    on eVote do (vote: tVote) {
      if (!(vote.id in votes)) {
        votes[vote.id] = default(map[machine, tStatus]);
      }
      votes[vote.id][vote.participant] = vote.status;
    }

    on eWriteResp do (resp: tWriteResp) {
      if (resp.status == SUCCESS) {
        assert resp.id in votes && Yes(resp.id) == participants,
          format("transaction {0} is committed without the yes of all", resp.id);
      }
      if (resp.status == ERROR) {
        assert resp.id in votes && Yes(resp.id) < sizeof(votes[resp.id]),
          format("transaction {0} is refused although nobody said no", resp.id);
      }
    }
  }

  fun Yes(id: int): int {
    var status: tStatus;
    var n: int;
    foreach (status in values(votes[id])) {
      if (status == SUCCESS) {
        n = n + 1;
      }
    }
    return n;
  }
}

// A value that a client reads was written by a transaction that the coordinator told to commit.
spec ReadsCommitted observes eWriteReq, eCommit, eReadResp {
  var written: map[int, tTrans];
  var committed: set[(string, int)];

  start state Watching {
    on eWriteReq do (req: tWriteReq) {
      written[req.trans.id] = req.trans;
    }
    on eCommit do (id: int) {
      committed += ((written[id].key, written[id].val));
    }
    on eReadResp do (resp: tReadResp) {
      if (resp.status == SUCCESS) {
        assert (resp.key, resp.val) in committed,
          format("a client reads the value {0} that was never committed", resp.val);
      }
    }
  }
}

// Every write is answered in the end.
spec Progress observes eWriteReq, eWriteResp {
  var open: set[int];

  start cold state Quiet {
    on eWriteReq goto Waiting with (req: tWriteReq) {
      open += (req.trans.id);
    }
  }

  hot state Waiting {
    on eWriteReq do (req: tWriteReq) {
      open += (req.trans.id);
    }
    on eWriteResp do (resp: tWriteResp) {
      open -= resp.id;
      if (sizeof(open) == 0) {
        goto Quiet;
      }
    }
  }
}
