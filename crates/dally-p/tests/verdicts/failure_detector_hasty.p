// expect: fail monitor Reliable
// The detector gives up after one round without an answer, however slow the node is.
event ePing: machine; event ePong; event eTimer; event eShutDown; event eDown;
machine Node { start state Up { on ePing do (from: machine) { send from, ePong; } } }
machine Detector {
  var node: Node;
  start state Round {
    entry { if (node == default(Node)) { node = new Node(); } send node, ePing, this; send this, eTimer; }
    on ePong goto Trusting;
    on eTimer do { announce eDown; goto Over; }
  }
  state Trusting { ignore eTimer, ePong; }
  state Over { ignore ePong, eTimer; }
}
spec Reliable observes eShutDown, eDown {
  var shut: bool;
  start state Watching {
    on eShutDown do { shut = true; }
    on eDown do { assert shut, "a node that is up is called down"; }
  }
}
test tc [main=Detector]: assert Reliable in { Detector, Node };
