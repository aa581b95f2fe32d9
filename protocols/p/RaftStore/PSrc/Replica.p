machine Replica {
  var mistake: tMistake;
  var control: Control;
  var role: string;
  var peers: set[Replica];
  var leader: Replica;
  // Persistent.
  var term: int;
  var votedFor: Replica;
  var log: seq[tEntry];
  // Volatile.
  var votes: set[Replica];
  var next: map[Replica, int];
  var match: map[Replica, int];
  var commit: int;
  var applied: int;
  var told: int;
  var store: map[string, int];
  var waiting: seq[tPut];
  var answered: map[machine, map[int, tDone]];

  start state Init {
    entry (config: (control: Control, mistake: tMistake)) {
      control = config.control;
      mistake = config.mistake;
    }
    on eCluster do (all: set[Replica]) {
      assert this in all, "a replica is one of the cluster";
      peers = all;
      next = default(map[Replica, int]);
      match = default(map[Replica, int]);
      answered = default(map[machine, map[int, tDone]]);
      votedFor = default(Replica);
      commit = -1;
      applied = -1;
      goto Follower;
    }
    defer ePut, eVoteReq, eAppend, eElection;
    ignore eHeartbeat, eShutDown;
  }

  state Follower {
    entry {
      role = "follower";
      leader = default(Replica);
      Say("follows");
    }
    on eAppend do (req: tAppend) {
      if (req.term >= term) {
        Say(format("hears {0} of term {1} in term {2}", req.leader, req.term, term));
        leader = req.leader;
        NewTerm(req.term);
      }
      Append(req);
      if (leader != default(Replica)) {
        PassOn(leader);
      }
    }
    on eVoteReq do Vote;
    on ePut do (put: tPut) {
      if (IsAnswered(put)) {
        return;
      }
      if (leader != default(Replica)) {
        send leader, ePut, put;
      } else {
        waiting += (sizeof(waiting), put);
      }
    }
    on eHeartbeat do TellLog;
    on eElection goto Candidate;
    on eShutDown goto Down;
    ignore eVoteResp, eAppendResp;
  }

  state Candidate {
    entry {
      var peer: Replica;
      role = "candidate";
      term = term + 1;
      votedFor = this;
      votes = default(set[Replica]);
      votes += (this);
      Say(format("asks for votes in term {0} with {1} entries: {2}", term, sizeof(log), log));
      foreach (peer in peers) {
        if (peer != this) {
          send peer, eVoteReq, (term = term, candidate = this,
            lastIndex = LastIndex(log), lastTerm = LastTerm(log));
        }
      }
    }
    on eVoteResp do (resp: tVoteResp) {
      if (resp.term > term) {
        NewTerm(resp.term);
        goto Follower;
      } else if (resp.granted && resp.term == term) {
        votes += (resp.voter);
        Say(format("has the vote of {0}, now {1}", resp.voter, votes));
        if (sizeof(votes) > sizeof(peers) / 2) {
          goto Leader;
        }
      } else {
        Say(format("does not have the vote: {0}", resp));
      }
    }
    on eVoteReq do Vote;
    on eAppend do (req: tAppend) {
      if (req.term >= term) {
        NewTerm(req.term);
        Append(req);
        goto Follower;
      }
      Append(req);
    }
    on ePut do (put: tPut) {
      if (!IsAnswered(put)) {
        waiting += (sizeof(waiting), put);
      }
    }
    on eHeartbeat do TellLog;
    on eElection goto Candidate;
    on eShutDown goto Down;
    ignore eAppendResp;
  }

  state Leader {
    entry {
      var peer: Replica;
      role = "leader";
      leader = this;
      foreach (peer in peers) {
        if (peer != this) {
          next[peer] = sizeof(log);
          match[peer] = -1;
        }
      }
      announce eLeads, (term = term, leader = this, log = log);
      Say(format("leads term {0} with log {1}, commit {2}, applied {3}", term, log, commit, applied));
      PassOn(this);
      Replicate();
    }
    on ePut do (put: tPut) {
      var item: tEntry;
      if (IsAnswered(put)) {
        return;
      }
      item = (term = term, put = put);
      if (!(item in log)) {
        log += (sizeof(log), item);
      }
      Say(format("has log {0}", log));
      Say(format("has next {0} and match {1}", next, match));
      Replicate();
      Commit();
    }
    on eAppendResp do (resp: tAppendResp) {
      Say(format("in term {0} hears of {1}: {2}", term, resp.follower, resp));
      if (resp.term < term) {
        return;
      }
      if (resp.term > term) {
        NewTerm(resp.term);
        goto Follower;
      }
      if (resp.success) {
        next[resp.follower] = Max(next[resp.follower], resp.matched + 1);
        match[resp.follower] = Max(match[resp.follower], resp.matched);
        Commit();
      } else if (resp.matched >= 0) {
        next[resp.follower] = Min(next[resp.follower], resp.matched);
      }
    }
    on eHeartbeat do {
      Replicate();
      Commit();
      TellLog();
    }
    on eVoteReq do Vote;
    on eVoteResp do (resp: tVoteResp) {
      if (resp.term > term) {
        NewTerm(resp.term);
        goto Follower;
      }
    }
    on eAppend do (req: tAppend) {
      if (req.term > term) {
        NewTerm(req.term);
        Append(req);
        goto Follower;
      }
      Append(req);
    }
    on eShutDown goto Down;
    ignore eElection;
  }

  state Down {
    entry {
      Say("is down");
    }
    ignore ePut, eVoteReq, eVoteResp, eAppend, eAppendResp, eElection, eHeartbeat, eShutDown;
  }

  fun Vote(req: tVoteReq) {
    var stepDown: bool;
    if (req.term < term) {
      Say(format("refuses term {0} < {1}", req.term, term));
      send req.candidate, eVoteResp, (term = term, voter = this, granted = false);
      return;
    }
    stepDown = req.term > term;
    NewTerm(req.term);
    if ((votedFor == default(Replica) || votedFor == req.candidate) && IsUpToDate(req)) {
      Say(format("votes for {0}, before for {1}", req.candidate, votedFor));
      votedFor = req.candidate;
      send req.candidate, eVoteResp, (term = term, voter = this, granted = true);
    } else {
      Say(format("refuses {0}: {1}, {2}", req.candidate, votedFor, IsUpToDate(req)));
      send req.candidate, eVoteResp, (term = term, voter = this, granted = false);
    }
    if (stepDown) {
      goto Follower;
    }
  }

  fun Append(req: tAppend) {
    var i: int;
    var j: int;
    var other: int;
    Say(format("is sent {0} by {1} in {2}; term {3}, log {4}", req.entries, req.leader, req, term, log));
    if (req.term < term) {
      send req.leader, eAppendResp, (term = term, follower = this, success = false, matched = -1);
    } else if (mistake != APPENDS_BLINDLY && sizeof(log) <= req.before) {
      Say(format("has {0} entries and not {1}", sizeof(log), req.before));
      send req.leader, eAppendResp, (term = term, follower = this, success = false, matched = sizeof(log));
    } else if (mistake != APPENDS_BLINDLY && req.before >= 0 && log[req.before].term != req.beforeTerm) {
      // Back to the first entry of the term that does not fit.
      i = req.before;
      other = log[i].term;
      while (i > 0 && log[i].term == other) {
        i = i - 1;
      }
      Say(format("differs from term {0} on, of {1}", other, Terms(log)));
      send req.leader, eAppendResp, (term = term, follower = this, success = false, matched = i);
    } else {
      i = Min(req.before + 1, sizeof(log));
      while (i < sizeof(log) && j < sizeof(req.entries)) {
        if (log[i].term != req.entries[j].term) {
          break;
        }
        i = i + 1;
        j = j + 1;
      }
      if (j < sizeof(req.entries)) {
        while (i < sizeof(log)) {
          log -= (LastIndex(log));
        }
      }
      Say(format("keeps {0}", log));
      while (j < sizeof(req.entries)) {
        log += (sizeof(log), req.entries[j]);
        j = j + 1;
      }
      Say(format("has {0}, leader commits {1}, it {2}", log, req.commit, commit));
      if (req.commit > commit) {
        commit = Min(req.commit, LastIndex(log));
      }
      Apply();
      send req.leader, eAppendResp,
        (term = term, follower = this, success = true, matched = req.before + sizeof(req.entries));
    }
  }

  fun Replicate() {
    var peer: Replica;
    var i: int;
    var before: int;
    var beforeTerm: int;
    var entries: seq[tEntry];
    assert leader == this, "only a leader replicates";
    foreach (peer in peers) {
      if (peer != this) {
        entries = default(seq[tEntry]);
        before = next[peer] - 1;
        if (before >= 0 && before < sizeof(log)) {
          beforeTerm = log[before].term;
        } else {
          beforeTerm = 0;
        }
        i = next[peer];
        while (i < sizeof(log)) {
          entries += (i - next[peer], log[i]);
          i = i + 1;
        }
        Say(format("sends {0} to {1}", entries, peer));
        send peer, eAppend, (term = term, leader = this, before = before, beforeTerm = beforeTerm,
          entries = entries, commit = commit);
      }
    }
  }

  // Commits what a majority has, if the newest such entry is of this term (section 5.4.2).
  fun Commit() {
    var index: int;
    var have: int;
    var peer: Replica;
    assert leader == this, "only a leader commits";
    index = LastIndex(log);
    Say(format("looks from {0} down to {1} at {2}", index, commit, match));
    while (index > commit) {
      have = 1;
      foreach (peer in peers) {
        if (peer == this) {
          continue;
        }
        if (match[peer] >= index) {
          have = have + 1;
        }
      }
      if (mistake == COMMITS_ALONE || (have > sizeof(peers) / 2 && log[index].term == term)) {
        commit = index;
        break;
      }
      index = index - 1;
    }
    Say(format("commits {0} of {1} in term {2}, matched {3}", commit, log, term, match));
    Apply();
  }

  fun Apply() {
    var item: tEntry;
    Say(format("applies from {0} to {1}", applied, commit));
    while (applied < commit) {
      applied = applied + 1;
      item = log[applied];
      if (mistake == NO_CACHE || !IsKnown(item.put)) {
        announce eApplied, (index = applied, item = item);
        store = Stored(store, item.put.key, item.put.val);
      }
      if (leader == this) {
        Say(format("answers {0} of {1}", item, store));
        send item.put.client, eDone, (number = item.put.number, key = item.put.key, val = store[item.put.key]);
      }
      if (!(item.put.client in keys(answered))) {
        answered[item.put.client] = default(map[int, tDone]);
      }
      answered[item.put.client][item.put.number] =
        (number = item.put.number, key = item.put.key, val = store[item.put.key]);
    }
  }

  // Whether the command was answered before; if so it is answered again.
  fun IsAnswered(put: tPut): bool {
    if (mistake == NO_CACHE) {
      return false;
    }
    if (IsKnown(put)) {
      send put.client, eDone, answered[put.client][put.number];
      return true;
    }
    return false;
  }

  fun IsKnown(put: tPut): bool {
    return put.client in answered && put.number in keys(answered[put.client]);
  }

  fun PassOn(target: Replica) {
    while (sizeof(waiting) > 0) {
      send target, ePut, waiting[0];
      waiting -= (0);
    }
  }

  fun TellLog() {
    told = told + 1;
    send control, eLogAt, (replica = this, time = told, log = log);
  }

  fun NewTerm(newer: int) {
    if (newer > term) {
      votedFor = default(Replica);
    }
    term = newer;
  }

  fun IsUpToDate(req: tVoteReq): bool {
    if (req.lastTerm > LastTerm(log)) {
      return true;
    }
    if (req.lastTerm < LastTerm(log)) {
      return false;
    }
    return req.lastIndex >= LastIndex(log);
  }

  fun Say(what: string) {
    print format("{0} {1} of term {2} {3}", role, this, term, what);
  }
}

fun LastIndex(log: seq[tEntry]): int {
  return sizeof(log) - 1;
}

fun LastTerm(log: seq[tEntry]): int {
  if (sizeof(log) == 0) {
    return 0;
  }
  return log[sizeof(log) - 1].term;
}

fun Terms(log: seq[tEntry]): seq[int] {
  var terms: seq[int];
  var i: int;
  while (i < sizeof(log)) {
    terms += (sizeof(terms), log[i].term);
    i = i + 1;
  }
  return terms;
}

fun Stored(store: map[string, int], key: string, val: int): map[string, int] {
  store[key] = val;
  return store;
}

fun Max(a: int, b: int): int {
  if (a > b) {
    return a;
  }
  return b;
}

fun Min(a: int, b: int): int {
  if (a < b) {
    return a;
  }
  return b;
}
