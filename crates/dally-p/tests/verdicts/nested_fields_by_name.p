// expect: pass exhaustive
// Tuples inside of sequences and maps pass through `any` with their fields in another order.
type tEntry = (term: int, key: string);
event eAppend: (entries: seq[tEntry], index: map[int, tEntry], from: machine);
machine Log {
  start state Serving {
    on eAppend do (it: (entries: seq[tEntry], index: map[int, tEntry], from: machine)) {
      assert it.entries[0].term == 1 && it.entries[0].key == "a";
      assert it.index[7].term == 2 && it.index[7].key == "b";
    }
  }
}
fun Broadcast(logs: seq[Log], what: event, payload: any) {
  var log: Log;
  foreach (log in logs) { send log, what, payload; }
}
machine Main {
  start state S {
    entry {
      var entries: seq[(key: string, term: int)];
      var index: map[int, (key: string, term: int)];
      var logs: seq[Log];
      logs += (0, new Log());
      entries += (0, (key = "a", term = 1));
      index[7] = (key = "b", term = 2);
      Broadcast(logs, eAppend, (from = this, index = index, entries = entries));
    }
  }
}
test tc [main=Main]: { Main, Log };
