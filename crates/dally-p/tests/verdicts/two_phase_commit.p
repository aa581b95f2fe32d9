// expect: pass
// Two-phase commit as the tutorial has it: a coordinator with a timer that it starts and cancels, and
// a client that must hear of every transaction. A time-out aborts; late votes are ignored.
enum tVote { YES, NO }
event ePrepare: (round: int);
event eVote: (round: int, vote: tVote);
event eOutcome: (round: int, commit: bool);
event eWrite: Client;
event eWritten: bool;
event eStartTimer;
event eCancelTimer;
event eTimeOut;
event eDelayed;

machine Timer {
  var user: machine;
  start state Init { entry (whose: machine) { user = whose; goto Idle; } defer eStartTimer; ignore eCancelTimer; }
  state Idle { on eStartTimer goto Started; ignore eCancelTimer, eDelayed; }
  state Started {
    entry { if ($) { send user, eTimeOut; goto Idle; } else { send this, eDelayed; } }
    on eDelayed goto Started;
    on eCancelTimer goto Idle;
    defer eStartTimer;
  }
}

machine Coordinator {
  var participants: set[Participant];
  var timer: Timer;
  var client: Client;
  var round: int;
  var yes: int;
  start state Init {
    entry (all: set[Participant]) { participants = all; timer = new Timer(this); goto Waiting; }
    defer eWrite;
  }
  state Waiting {
    on eWrite goto Voting;
    ignore eVote, eTimeOut;
  }
  state Voting {
    entry (from: Client) {
      var p: Participant;
      client = from;
      round = round + 1;
      yes = 0;
      foreach (p in participants) { send p, ePrepare, (round = round,); }
      send timer, eStartTimer;
    }
    on eVote do (it: (round: int, vote: tVote)) {
      if (it.round != round) { return; }
      if (it.vote == NO) { Finish(false); goto Waiting; }
      yes = yes + 1;
      if (yes == sizeof(participants)) { Finish(true); goto Waiting; }
    }
    on eTimeOut do { Finish(false); goto Waiting; }
    defer eWrite;
  }
  fun Finish(commit: bool) {
    var p: Participant;
    send timer, eCancelTimer;
    foreach (p in participants) { send p, eOutcome, (round = round, commit = commit); }
    send client, eWritten, commit;
  }
}

machine Participant {
  var coordinator: machine;
  start state Serving {
    on ePrepare do (it: (round: int)) {
      send coordinator, eVote, (round = it.round, vote = choose(2) to tVote);
    }
    on eWrite do (it: Client) { }
    on eOutcome do (it: (round: int, commit: bool)) { }
    on eJoin do (it: machine) { coordinator = it; }
  }
}
event eJoin: machine;

machine Client {
  var coordinator: Coordinator;
  var left: int;
  start state Init { entry (it: Coordinator) { coordinator = it; left = 2; goto Write; } }
  state Write {
    entry { if (left > 0) { left = left - 1; send coordinator, eWrite, this; } }
    on eWritten do (commit: bool) { goto Write; }
  }
}

spec Progress observes eWrite, eWritten {
  var open: int;
  start cold state Quiet { on eWrite goto Pending with { open = open + 1; } }
  hot state Pending {
    on eWrite do { open = open + 1; }
    on eWritten do { open = open - 1; if (open == 0) { goto Quiet; } }
  }
}

machine Main {
  start state S {
    entry {
      var all: set[Participant];
      var p: Participant;
      var coordinator: Coordinator;
      all += (new Participant());
      all += (new Participant());
      coordinator = new Coordinator(all);
      foreach (p in all) { send p, eJoin, coordinator; }
      new Client(coordinator);
      new Client(coordinator);
    }
  }
}
test tc [main=Main]: assert Progress in { Main, Coordinator, Participant, Timer, Client };
