// expect: fail livelock Enters, exhaustive
// A token ring in which the nodes poll for a token that nobody sends any more.
event eToken; event ePoll; event eWants; event eEnters;
machine Node {
  start state Waiting {
    entry (has: bool) { announce eWants; if (has) { if ($) { send this, eToken; } } send this, ePoll; }
    on ePoll do { send this, ePoll; }
    on eToken do { announce eEnters; goto Done; }
  }
  state Done { ignore ePoll, eToken; }
}
spec Enters observes eWants, eEnters {
  start cold state Quiet { on eWants goto Wanting; }
  hot state Wanting { on eEnters goto Quiet; ignore eWants; }
}
machine Main { start state S { entry { new Node(true); } } }
test tc [main=Main]: assert Enters in { Main, Node };
