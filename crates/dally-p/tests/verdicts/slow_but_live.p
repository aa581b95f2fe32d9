// expect: pass
// A token goes round many times before the work is done: hot for more than ten thousand steps.
event eToken: int; event eDone; event eNext: machine;
machine Node {
  var next: machine;
  start state S {
    on eNext do (m: machine) { next = m; }
    on eToken do (n: int) { if (n == 0) { announce eDone; } else { send next, eToken, n - 1; } }
  }
}
machine Main {
  start state S {
    entry {
      var a: Node; var b: Node; var c: Node;
      a = new Node(); b = new Node(); c = new Node();
      send a, eNext, b; send b, eNext, c; send c, eNext, a;
      send a, eToken, 6000;
    }
  }
}
spec Done observes eToken, eDone {
  start state Idle { on eToken goto Under; ignore eDone; }
  hot state Under { on eDone goto Over; ignore eToken; }
  cold state Over { ignore eToken, eDone; }
}
test tcSlow [main=Main]: assert Done in { Main, Node };
