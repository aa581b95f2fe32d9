// expect: pass exhaustive
// Le Lann, Chang and Roberts on a ring of three: numbers go round, the greatest wins, once.
event eNext: machine; event eNumber: int; event eLeader: int;
machine Node {
  var next: machine;
  var number: int;
  start state Init {
    entry (n: int) { number = n; }
    on eNext do (it: machine) { next = it; send next, eNumber, number; goto Electing; }
    defer eNumber;
  }
  state Electing {
    on eNumber do (n: int) {
      if (n > number) { send next, eNumber, n; } else if (n == number) { announce eLeader, n; }
    }
  }
}
spec OneLeader observes eLeader {
  start hot state Waiting { on eLeader do (n: int) { assert n == 3; goto Elected; } }
  cold state Elected { }
}
machine Main {
  start state S {
    entry {
      var nodes: seq[machine];
      var i: int;
      while (i < 3) { nodes += (i, new Node(i + 1)); i = i + 1; }
      i = 0;
      while (i < 3) { send nodes[i], eNext, nodes[(i + 1) % 3]; i = i + 1; }
    }
  }
}
test tc [main=Main]: assert OneLeader in { Main, Node };
