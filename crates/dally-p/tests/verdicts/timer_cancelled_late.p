// expect: pass exhaustive
// A timer that is cancelled when it has just fired: the user waits for either answer.
event eStart; event eCancel; event eTimeOut; event eCancelled; event eTooLate;
machine Timer {
  var user: machine;
  start state Init { entry (whose: machine) { user = whose; } on eStart goto Armed; defer eCancel; }
  state Armed {
    on null do { send user, eTimeOut; goto Fired; }
    on eCancel do { send user, eCancelled; goto Fired; }
  }
  state Fired { on eCancel do { send user, eTooLate; } }
}
machine Main {
  var timer: Timer;
  start state S {
    entry { timer = new Timer(this); send timer, eStart; send timer, eCancel; }
    on eTimeOut goto Late;
    on eCancelled goto Finished;
  }
  state Late { on eTooLate goto Finished; }
  state Finished { }
}
test tc [main=Main]: { Main, Timer };
