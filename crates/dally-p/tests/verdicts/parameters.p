// expect: pass exhaustive
// A test with parameters, of which an assumption leaves some out: one run for each.
param nodes, rounds: int;
event eRound: int;
machine Node { var seen: int; start state S { on eRound do (n: int) { assert n == seen; seen = n + 1; assert seen <= rounds; } } }
machine Main {
  start state S {
    entry {
      var all: seq[Node];
      var node: Node;
      var round: int;
      while (sizeof(all) < nodes) { all += (sizeof(all), new Node()); }
      while (round < rounds) { foreach (node in all) { send node, eRound, round; } round = round + 1; }
    }
  }
}
test param (nodes in [1, 2], rounds in [0, 1, 2]) assume (nodes + rounds > 1) tc [main=Main]: { Main, Node };
