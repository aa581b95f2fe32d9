machine Small { start state Init { entry { SetUp(1, 2, NO_FLAW); } } }
machine Larger { start state Init { entry { SetUp(2, 3, NO_FLAW); } } }
machine DoesNotDefer { start state Init { entry { SetUp(1, 1, DOES_NOT_DEFER); } } }
machine LeavesTimer { start state Init { entry { SetUp(1, 1, LEAVES_TIMER_RUNNING); } } }
machine PowersDownEarly { start state Init { entry { SetUp(1, 1, POWERS_DOWN_EARLY); } } }
machine WaitsForTimer { start state Init { entry { SetUp(1, 1, WAITS_FOR_FIRED_TIMER); } } }

module System = union OsrDriver, Environment;

// expect: pass
test tcSmall [main=Small]:
  assert OnlyWithPower, Completes in (union System, { Small });

// expect: pass
test tcLarger [main=Larger]:
  assert OnlyWithPower, Completes in (union System, { Larger });

// expect: fail unhandled-event: eD0Exit
test tcDoesNotDefer [main=DoesNotDefer]:
  assert OnlyWithPower in (union System, { DoesNotDefer });

// expect: fail unhandled-event: eTimerFired
test tcLeavesTimer [main=LeavesTimer]:
  assert OnlyWithPower in (union System, { LeavesTimer });

// expect: fail monitor: the LEDs are set without power
test tcPowersDownEarly [main=PowersDownEarly]:
  assert OnlyWithPower in (union System, { PowersDownEarly });

// expect: fail deadlock: PowerManager
test tcWaitsForTimer [main=WaitsForTimer]:
  union System, { WaitsForTimer };
