// Raft (Ongaro and Ousterhout, 2014): leader election and log replication. A leader sends its
// whole log with every append, which stands for the walk back of nextIndex.

type tEntry = (term: int, val: int);
type tVoteReq = (term: int, candidate: machine, lastTerm: int, lastIndex: int);
type tVoteResp = (term: int, voter: machine, granted: bool);
type tAppend = (term: int, leader: machine, entries: seq[tEntry], commit: int);
type tAppendResp = (term: int, follower: machine, index: int);

event eVoteReq: tVoteReq;
event eVoteResp: tVoteResp;
event eAppend: tAppend;
event eAppendResp: tAppendResp;
event eCommand: int;
event eElectionTimeout;
event eRestart;
event eServers: set[Server];

// Told to specs.
event eBecameLeader: (term: int, leader: machine, log: seq[tEntry]);
event eCommitted: (term: int, index: int, item: tEntry);

enum tFlaw {
  NO_FLAW,
  // Grants every vote that is asked for in its term, not just the first.
  VOTES_TWICE,
  // A candidate that asks again counts the answers, not the voters.
  COUNTS_ANSWERS,
  // Votes for a candidate whose log lacks entries that the voter has.
  IGNORES_LOGS,
  // Takes an entry for committed when half of the servers, rounded down, have it.
  COMMITS_ON_HALF,
  // Does not write its vote to disk, so a restart forgets it.
  FORGETS_VOTE_ON_RESTART
}

machine Server {
  var flaw: tFlaw;
  var servers: set[Server];
  // Persistent.
  var term: int;
  var votedFor: machine;
  var log: seq[tEntry];
  // Volatile.
  var commit: int;
  var voters: set[machine];
  var answers: int;
  var match: map[machine, int];

  start state Init {
    entry (f: tFlaw) {
      flaw = f;
    }
    on eServers goto Follower with (all: set[Server]) {
      servers = all;
    }
    defer eElectionTimeout, eVoteReq, eAppend, eCommand, eRestart;
  }

  state Follower {
    on eElectionTimeout goto Candidate;
    on eVoteReq do Vote;
    on eAppend do Append;
    on eRestart do Restart;
    ignore eVoteResp, eAppendResp, eCommand;
  }

  state Candidate {
    entry {
      term = term + 1;
      votedFor = this;
      voters = default(set[machine]);
      voters += (this);
      answers = 1;
      AskForVotes();
    }
    // Nobody has won yet: ask again, in the same term.
    on eElectionTimeout do AskForVotes;
    on eVoteReq do Vote;
    on eVoteResp do (resp: tVoteResp) {
      if (resp.term == term && resp.granted) {
        voters += (resp.voter);
        answers = answers + 1;
        if (2 * sizeof(voters) > sizeof(servers)
            || (flaw == COUNTS_ANSWERS && 2 * answers > sizeof(servers))) {
          goto Leader;
        }
      }
    }
    on eAppend do Append;
    on eRestart do Restart;
    ignore eAppendResp, eCommand;
  }

  state Leader {
    entry {
      announce eBecameLeader, (term = term, leader = this, log = log);
      match = default(map[machine, int]);
      Replicate();
    }
    on eCommand do (val: int) {
      log += (sizeof(log), (term = term, val = val));
      Replicate();
      Advance();
    }
    on eAppendResp do (resp: tAppendResp) {
      if (resp.term == term) {
        match[resp.follower] = resp.index;
        Advance();
      }
    }
    on eVoteReq do Vote;
    on eAppend do Append;
    on eRestart do Restart;
    ignore eVoteResp, eElectionTimeout;
  }

  fun AskForVotes() {
    var server: Server;
    foreach (server in servers) {
      if (server != this) {
        send server, eVoteReq,
          (term = term, candidate = this, lastTerm = LastTerm(), lastIndex = sizeof(log));
      }
    }
  }

  fun Vote(req: tVoteReq) {
    var granted: bool;
    var stepDown: bool;
    if (req.term > term) {
      term = req.term;
      votedFor = default(machine);
      stepDown = true;
    }
    granted = req.term == term
      && (votedFor == null || votedFor == req.candidate || flaw == VOTES_TWICE)
      && (flaw == IGNORES_LOGS || req.lastTerm > LastTerm()
        || (req.lastTerm == LastTerm() && req.lastIndex >= sizeof(log)));
    if (granted) {
      votedFor = req.candidate;
    }
    send req.candidate, eVoteResp, (term = term, voter = this, granted = granted);
    if (stepDown) {
      goto Follower;
    }
  }

  fun Append(req: tAppend) {
    if (req.term < term) {
      return;
    }
    if (req.term > term) {
      term = req.term;
      votedFor = default(machine);
    }
    log = req.entries;
    if (req.commit > commit) {
      commit = req.commit;
    }
    send req.leader, eAppendResp, (term = term, follower = this, index = sizeof(log));
    goto Follower;
  }

  fun Replicate() {
    var server: Server;
    foreach (server in servers) {
      if (server != this) {
        send server, eAppend, (term = term, leader = this, entries = log, commit = commit);
      }
    }
  }

  // Commits what a majority has, if the newest such entry is of this term (section 5.4.2).
  fun Advance() {
    var index: int;
    var have: int;
    var server: machine;
    index = sizeof(log);
    while (index > commit) {
      have = 1;
      foreach (server in keys(match)) {
        if (match[server] >= index) {
          have = have + 1;
        }
      }
      if (Enough(have) && log[index - 1].term == term) {
        while (commit < index) {
          commit = commit + 1;
          announce eCommitted, (term = term, index = commit, item = log[commit - 1]);
        }
        return;
      }
      index = index - 1;
    }
  }

  fun Enough(have: int): bool {
    if (flaw == COMMITS_ON_HALF) {
      return have >= sizeof(servers) / 2;
    }
    return 2 * have > sizeof(servers);
  }

  fun Restart() {
    commit = 0;
    voters = default(set[machine]);
    if (flaw == FORGETS_VOTE_ON_RESTART) {
      votedFor = default(machine);
    }
    goto Follower;
  }

  fun LastTerm(): int {
    if (sizeof(log) == 0) {
      return 0;
    }
    return log[sizeof(log) - 1].term;
  }
}

module Raft = { Server };
