// expect: pass
// A Raft whose view service times servers out again and again, at random and without end: a leader
// stays for a few heartbeats only, and a client that keeps asking is answered if a majority has its
// entry before the next election. That takes many elections, never for ever.
event eStart: (all: seq[Server], view: View);
event eStartTimer;
event eTick;
event eTimeout;
event eElect;
event eHeartbeat;
event eShutdown;
event eVote: (term: int, of: Server, length: int);
event eVoted: (term: int, yes: bool);
event eAppend: (term: int, of: Server, log: seq[int]);
event eAppended: (term: int, from: Server, length: int);
event eLeader: (server: Server, leads: bool);
event eBecomeLeader: int;
event eRequest: (client: Client, number: int);
event eReply: int;
event eWaiting;
event eAnswered;
event eClientDone;

machine Timer {
  var owner: machine;
  start state Init {
    entry (who: machine) { owner = who; goto Idle; }
    defer eStartTimer;
    ignore eShutdown;
  }
  state Idle {
    on eStartTimer goto Ticking;
    on eShutdown goto Off;
    ignore eTick;
  }
  state Ticking {
    entry { Check(); }
    on eTick do { Check(); }
    on eShutdown goto Off;
    ignore eStartTimer;
  }
  state Off { ignore eTick, eStartTimer, eShutdown; }
  fun Check() {
    if ($) { send owner, eTimeout; goto Idle; } else { send this, eTick; }
  }
}

machine Server {
  var all: seq[Server];
  var view: View;
  var client: Client;
  var term: int;
  var votedIn: int;
  var votes: int;
  var log: seq[int];
  var acknowledged: map[Server, int];
  var answered: int;

  start state Init {
    on eStart do (s: (all: seq[Server], view: View)) {
      all = s.all; view = s.view;
      goto Follower;
    }
    defer eVote, eElect, eRequest, eHeartbeat, eAppend;
    ignore eVoted, eAppended, eShutdown;
  }

  state Follower {
    entry { send view, eLeader, (server = this, leads = false); }
    on eElect goto Candidate;
    on eVote do (v: (term: int, of: Server, length: int)) { Vote(v); }
    on eAppend do (a: (term: int, of: Server, log: seq[int])) { Append(a); }
    on eShutdown goto Down;
    ignore eVoted, eAppended, eHeartbeat, eRequest;
  }

  state Candidate {
    entry {
      var s: Server;
      term = term + 1;
      votedIn = term;
      votes = 1;
      foreach (s in all) {
        if (s != this) { send s, eVote, (term = term, of = this, length = sizeof(log)); }
      }
    }
    on eElect goto Candidate;
    on eVote do (v: (term: int, of: Server, length: int)) {
      if (v.term > term) { Vote(v); goto Follower; } else { Vote(v); }
    }
    on eAppend do (a: (term: int, of: Server, log: seq[int])) {
      if (a.term >= term) { Append(a); goto Follower; }
    }
    on eVoted do (v: (term: int, yes: bool)) {
      if (v.term != term || !v.yes) { return; }
      votes = votes + 1;
      if (votes * 2 > sizeof(all)) { goto Leader; }
    }
    on eShutdown goto Down;
    ignore eAppended, eHeartbeat, eRequest;
  }

  state Leader {
    entry {
      acknowledged = default(map[Server, int]);
      announce eBecomeLeader, term;
      send view, eLeader, (server = this, leads = true);
    }
    on eHeartbeat do { Spread(); }
    on eRequest do (r: (client: Client, number: int)) {
      client = r.client;
      if (!(r.number in log)) { log += (sizeof(log), r.number); Spread(); }
      Commit();
    }
    on eAppended do (a: (term: int, from: Server, length: int)) {
      if (a.term != term) { return; }
      acknowledged[a.from] = a.length;
      Commit();
    }
    on eVote do (v: (term: int, of: Server, length: int)) {
      if (v.term > term) { Vote(v); goto Follower; } else { Vote(v); }
    }
    on eAppend do (a: (term: int, of: Server, log: seq[int])) {
      if (a.term > term) { Append(a); goto Follower; }
    }
    on eShutdown goto Down;
    ignore eVoted, eElect;
  }

  state Down { ignore eVote, eVoted, eElect, eHeartbeat, eAppend, eAppended, eRequest, eShutdown; }

  fun Vote(v: (term: int, of: Server, length: int)) {
    var yes: bool;
    if (v.term > term) { term = v.term; }
    yes = v.term == term && votedIn < term && v.length >= sizeof(log);
    if (yes) { votedIn = term; }
    send v.of, eVoted, (term = v.term, yes = yes);
  }

  fun Append(a: (term: int, of: Server, log: seq[int])) {
    if (a.term < term) { return; }
    term = a.term;
    log = a.log;
    send a.of, eAppended, (term = term, from = this, length = sizeof(log));
  }

  fun Spread() {
    var s: Server;
    foreach (s in all) {
      if (s != this) { send s, eAppend, (term = term, of = this, log = log); }
    }
  }

  fun Commit() {
    var s: Server;
    var have: int;
    if (client == default(Client) || sizeof(log) == 0) { return; }
    have = 1;
    foreach (s in keys(acknowledged)) {
      if (acknowledged[s] == sizeof(log)) { have = have + 1; }
    }
    if (have * 2 > sizeof(all)) { send client, eReply, log[sizeof(log) - 1]; }
  }
}

machine View {
  var servers: seq[Server];
  var leaders: set[Server];
  var timer: Timer;
  var rounds: int;
  start state Init {
    entry {
      var i: int;
      var s: Server;
      while (i < 5) { s = new Server(); servers += (i, s); i = i + 1; }
      foreach (s in servers) { send s, eStart, (all = servers, view = this); }
      timer = new Timer(this);
      new Client((servers = servers, view = this));
      send timer, eStartTimer;
      send choose(servers), eElect;
      goto Watching;
    }
  }
  state Watching {
    on eTimeout do {
      var s: Server;
      rounds = rounds + 1;
      if (sizeof(leaders) == 0) {
        if (rounds % 25 == 0) { send choose(servers), eElect; }
      } else {
        foreach (s in servers) { send s, eHeartbeat; }
        foreach (s in servers) {
          if (choose(100) < 50) { send s, eElect; send timer, eStartTimer; return; }
        }
      }
      send timer, eStartTimer;
    }
    on eLeader do (l: (server: Server, leads: bool)) {
      if (l.leads) { leaders += (l.server); rounds = 0; } else { leaders -= (l.server); }
    }
    on eClientDone do {
      var s: Server;
      foreach (s in servers) { send s, eShutdown; }
      send timer, eShutdown;
      goto Over;
    }
  }
  state Over { ignore eTimeout, eLeader; }
}

machine Client {
  var servers: seq[Server];
  var view: View;
  var timer: Timer;
  var number: int;
  start state Init {
    entry (s: (servers: seq[Server], view: View)) {
      servers = s.servers; view = s.view;
      timer = new Timer(this);
      announce eWaiting;
      goto Asking;
    }
  }
  state Asking {
    entry {
      var s: Server;
      foreach (s in servers) { send s, eRequest, (client = this, number = number); }
      send timer, eStartTimer;
    }
    on eTimeout goto Asking;
    on eReply do (n: int) {
      if (n != number) { return; }
      announce eAnswered;
      number = number + 1;
      if (number == 3) {
        send timer, eShutdown;
        send view, eClientDone;
        goto Done;
      }
      announce eWaiting;
      goto Asking;
    }
  }
  state Done { ignore eReply, eTimeout; }
}

spec LeaderExists observes eBecomeLeader {
  start hot state NoLeader { on eBecomeLeader goto Leader; }
  cold state Leader { ignore eBecomeLeader; }
}

spec Progress observes eWaiting, eAnswered {
  start cold state Idle { on eWaiting goto Waiting; }
  hot state Waiting { on eAnswered goto Idle; }
}

test tcTimeouts [main=View]: assert LeaderExists, Progress in { View, Server, Client, Timer };
