// expect: pass
// A small Raft: five servers elect a leader, a view service times them out one after the other, and a
// client keeps asking until it has its answers. The timer is the one that ticks again by a message to
// itself. Election is live under every fair schedule; the queues of the servers get long.
event eStart: (id: int, all: seq[Server], view: View);
event eStartTimer;
event eTick;
event eTimeout;
event eElect;
event eHeartbeat;
event eShutdown;
event eVote: (term: int, of: Server);
event eVoted: (term: int, yes: bool);
event eAppend: (term: int, of: Server);
event eLeader: Server;
event eBecomeLeader: int;
event eRequest: (client: Client, number: int);
event eReply: int;
event eClientDone: Client;
event eFinished;

machine Timer {
  var owner: machine;
  start state Init {
    entry (who: machine) { owner = who; goto Idle; }
    ignore eTick, eStartTimer, eShutdown;
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
  var me: int;
  var all: seq[Server];
  var view: View;
  var term: int;
  var votedIn: int;
  var votes: int;
  var leader: bool;

  start state Init {
    on eStart do (s: (id: int, all: seq[Server], view: View)) {
      me = s.id; all = s.all; view = s.view;
      goto Working;
    }
    defer eVote, eElect, eRequest, eHeartbeat, eAppend;
    ignore eVoted, eShutdown;
  }
  state Working {
    on eElect do {
      var s: Server;
      leader = false;
      term = term + 1;
      votedIn = term;
      votes = 1;
      foreach (s in all) { if (s != this) { send s, eVote, (term = term, of = this); } }
    }
    on eVote do (v: (term: int, of: Server)) {
      if (v.term > term) { term = v.term; leader = false; }
      if (v.term == term && votedIn < term) {
        votedIn = term;
        send v.of, eVoted, (term = term, yes = true);
      } else {
        send v.of, eVoted, (term = v.term, yes = false);
      }
    }
    on eVoted do (v: (term: int, yes: bool)) {
      if (v.term == term && v.yes && !leader) {
        votes = votes + 1;
        if (votes * 2 > sizeof(all)) {
          leader = true;
          announce eBecomeLeader, term;
          send view, eLeader, this;
        }
      }
    }
    on eHeartbeat do {
      var s: Server;
      if (leader) { foreach (s in all) { if (s != this) { send s, eAppend, (term = term, of = this); } } }
    }
    on eAppend do (a: (term: int, of: Server)) {
      if (a.term > term) { term = a.term; leader = false; }
    }
    on eRequest do (r: (client: Client, number: int)) {
      if (leader) { send r.client, eReply, r.number; }
    }
    on eShutdown goto Down;
  }
  state Down { ignore eVote, eVoted, eElect, eHeartbeat, eAppend, eRequest; }
}

machine View {
  var servers: seq[Server];
  var timer: Timer;
  var rounds: int;
  var known: bool;
  start state Init {
    entry {
      var i: int;
      var s: Server;
      while (i < 5) { s = new Server(); servers += (i, s); i = i + 1; }
      i = 0;
      foreach (s in servers) { send s, eStart, (id = i, all = servers, view = this); i = i + 1; }
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
      if (!known && rounds % 5 == 0) { send choose(servers), eElect; }
      if (known) { foreach (s in servers) { send s, eHeartbeat; } }
      send timer, eStartTimer;
    }
    on eLeader do (s: Server) { known = true; }
    on eClientDone do (c: Client) {
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
      number = number + 1;
      if (number == 3) {
        announce eFinished;
        send timer, eShutdown;
        send view, eClientDone, this;
        goto Done;
      }
      goto Asking;
    }
  }
  state Done { ignore eReply, eTimeout; }
}

spec LeaderExists observes eBecomeLeader {
  start hot state NoLeader { on eBecomeLeader goto Leader; }
  cold state Leader { ignore eBecomeLeader; }
}

spec ClientDone observes eRequest, eFinished {
  start state Idle { on eRequest goto Waiting; ignore eFinished; }
  hot state Waiting { on eFinished goto Finished; ignore eRequest; }
  cold state Finished { ignore eRequest, eFinished; }
}

test tcRaft [main=View]: assert LeaderExists, ClientDone in { View, Server, Client, Timer };
