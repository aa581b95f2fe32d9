// expect: pass exhaustive
// A module binds a machine to an interface; a scenario watches; a spec goes from hot to cold by `raise`.
event eHello: machine; event eBye; event eDone;
interface Greeter() receives eHello;
machine Polite { start state S { on eHello do (who: machine) { send who, eBye; } } }
machine Main {
  start state S {
    entry { var greeter: machine; greeter = new Greeter(); send greeter, eHello, this; }
    on eBye goto Over;
  }
  state Over { entry { announce eDone; } }
}
spec Ends observes eHello, eDone {
  start state Init { on eHello goto Waiting; }
  hot state Waiting { on eDone goto Over; }
  cold state Over { }
}
scenario Greets observes eHello, eBye {
  start state Init { on eHello goto Greeted; ignore eBye; }
  state Greeted { on eBye goto Answered; ignore eHello; }
  cold state Answered { ignore eHello, eBye; }
}
module Greeting = { Polite -> Greeter };
test tc [main=Main]: assert Ends in (union { Main }, Greeting);
