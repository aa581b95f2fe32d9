// expect: pass exhaustive
// Nodes halt while they are sent to: what comes too late is dropped, and the specs see it all the same.
event ePing: machine; event ePong;
machine Node { start state Up { on ePing do (from: machine) { send from, ePong; raise halt; } } }
machine Main {
  var pongs: int;
  start state S {
    entry { var node: Node; node = new Node(); send node, ePing, this; send node, ePing, this; send node, halt; }
    on ePong do { pongs = pongs + 1; assert pongs == 1; }
  }
}
spec Seen observes ePing {
  var pings: int;
  start hot state Counting { on ePing do { pings = pings + 1; if (pings == 2) { goto Both; } } }
  cold state Both { }
}
test tc [main=Main]: assert Seen in { Main, Node };
