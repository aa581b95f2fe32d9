// expect: fail unhandled-event eDoorOpened, exhaustive
// The panel does not expect the door while it brews.
event eOrder; event eDoorOpened; event eBrewed;
machine Panel {
  start state Ready { on eOrder goto Brewing; ignore eDoorOpened; }
  state Brewing { entry { send this, eBrewed; } on eBrewed goto Ready; defer eOrder; }
}
machine Main {
  start state S { entry { var panel: Panel; panel = new Panel(); send panel, eOrder; send panel, eDoorOpened; } }
}
test tc [main=Main]: { Main, Panel };
