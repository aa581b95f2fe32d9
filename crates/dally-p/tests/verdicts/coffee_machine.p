// expect: pass exhaustive
// The coffee machine of the tutorial: a panel with states for warming, grinding and brewing, doors that
// open at any time, and a spec over several events of which each is allowed in some states alone.
event eOrder; event eDoorOpened; event eDoorClosed; event eWarm; event eGround; event eBrewed; event eReady;

machine Panel {
  var user: machine;
  start state Init { entry (whose: machine) { user = whose; goto Warming; } defer eOrder, eDoorOpened, eDoorClosed; }
  state Warming { entry { send this, eWarm; } on eWarm goto Ready; defer eOrder, eDoorOpened, eDoorClosed; }
  state Ready {
    entry { announce eReady; }
    on eOrder goto Grinding;
    on eDoorOpened goto Open;
    ignore eDoorClosed;
  }
  state Grinding { entry { send this, eGround; } on eGround goto Brewing; defer eDoorOpened, eDoorClosed, eOrder; }
  state Brewing {
    entry { send this, eBrewed; }
    on eBrewed goto Ready with { send user, eServed; }
    defer eDoorOpened, eDoorClosed, eOrder;
  }
  state Open { on eDoorClosed goto Warming; ignore eDoorOpened; defer eOrder; }
}
event eServed;
machine User {
  start state Ordering {
    entry {
      var panel: Panel;
      panel = new Panel(this);
      send panel, eOrder;
      if ($) { send panel, eDoorOpened; send panel, eDoorClosed; }
    }
    on eServed goto Happy;
  }
  state Happy { ignore eServed; }
}
spec Modes observes eOrder, eReady, eGround, eBrewed, eServed {
  start state Off { on eReady goto On; ignore eOrder; }
  hot state On { on eGround goto Ground; ignore eOrder, eReady; on eServed goto Done; }
  state Ground { on eBrewed goto On; ignore eOrder; }
  cold state Done { ignore eOrder, eReady; }
}
test tc [main=User]: assert Modes in { User, Panel };
