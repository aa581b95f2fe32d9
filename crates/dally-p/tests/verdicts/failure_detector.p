// expect: pass
// A detector pings two nodes, one of which is shut down; that is noticed after some rounds without an
// answer. The rounds are driven by a timer that delays.
event ePing: machine; event ePong: machine; event eTick; event eTimeOut; event eStart; event eShutDown; event eDetected: machine;
machine Timer {
  var client: machine;
  start state Idle {
    entry (who: machine) { client = who; }
    on eStart goto On;
    ignore eTick;
  }
  state On {
    entry { Go(); }
    on eTick do { Go(); }
    defer eStart;
  }
  fun Go() { if ($) { send client, eTimeOut; goto Again; } else { send this, eTick; } }
  state Again { on eStart goto On; ignore eTick; }
}
machine Node {
  start state Up {
    on ePing do (who: machine) { send who, ePong, this; }
    on eShutDown do { raise halt; }
  }
}
machine Detector {
  var nodes: set[machine];
  var missed: map[machine, int];
  var answered: set[machine];
  var timer: Timer;
  start state Init {
    entry (all: set[machine]) {
      var n: machine;
      nodes = all;
      foreach (n in nodes) { missed[n] = 0; }
      timer = new Timer(this);
      goto Round;
    }
    defer ePong;
  }
  state Round {
    entry {
      var n: machine;
      answered = default(set[machine]);
      foreach (n in nodes) { send n, ePing, this; }
      send timer, eStart;
    }
    on ePong do (n: machine) { answered += (n); missed[n] = 0; }
    on eTimeOut do {
      var n: machine;
      foreach (n in keys(missed)) {
        if (!(n in answered)) {
          missed[n] = missed[n] + 1;
          if (missed[n] == 3) { announce eDetected, n; }
        }
      }
      goto Round;
    }
  }
}
machine Main {
  start state S {
    entry {
      var all: set[machine];
      var a: machine;
      var b: machine;
      a = new Node(); b = new Node();
      all += (a); all += (b);
      new Detector(all);
      send a, eShutDown;
    }
  }
}
spec Notices observes eShutDown, eDetected {
  start state Up { on eShutDown goto Down; ignore eDetected; }
  hot state Down { on eDetected goto Known; }
  cold state Known { ignore eDetected; }
}
test tcDetector [main=Main]: assert Notices in { Main, Detector, Node, Timer };
