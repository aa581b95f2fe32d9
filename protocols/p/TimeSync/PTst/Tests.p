fun Group(clocks: seq[int], rounds: int, flaw: tFlaw) {
  var nodes: set[machine];
  var clock: int;
  foreach (clock in clocks) {
    nodes += (new TimeNode((clock = clock, flaw = flaw)));
  }
  new TimeMaster((nodes = nodes, clock = 0, rounds = rounds, flaw = flaw));
}

fun Clocks(first: int, second: int): seq[int] {
  var clocks: seq[int];
  clocks += (0, first);
  clocks += (1, second);
  return clocks;
}

fun OneClock(first: int): seq[int] {
  var clocks: seq[int];
  clocks += (0, first);
  return clocks;
}

fun Elect(count: int, withdraws: bool) {
  var nodes: set[machine];
  var node: machine;
  var others: set[machine];
  var i: int;
  while (i < count) {
    i = i + 1;
    nodes += (new Elector((id = i, withdraws = withdraws)));
  }
  foreach (node in nodes) {
    others = nodes;
    others -= node;
    send node, eOthers, others;
  }
  foreach (node in nodes) {
    new Alarm(node);
  }
}

// Tells a node that there is no master, when the node finds that out.
machine Alarm {
  start state Init {
    entry (node: machine) {
      send node, eNoMaster;
    }
  }
}

machine OneNode { start state Init { entry { Group(OneClock(6), 3, NO_FLAW); } } }
machine TwoNodes { start state Init { entry { Group(Clocks(6, -4), 2, NO_FLAW); } } }
machine BrokenClock { start state Init { entry { Group(Clocks(6, 100), 1, NO_FLAW); } } }
machine KeepsOutliers { start state Init { entry { Group(Clocks(6, 100), 1, KEEPS_OUTLIERS); } } }
machine TakesStaleTimes { start state Init { entry { Group(OneClock(6), 3, TAKES_STALE_TIMES); } } }
machine SetsBack { start state Init { entry { Group(OneClock(6), 1, SETS_BACK); } } }
machine NoTimeout { start state Init { entry { Group(OneClock(6), 1, EXPECTS_NO_TIMEOUT); } } }
machine Elections { start state Init { entry { Elect(3, true); } } }
machine NoWithdrawal { start state Init { entry { Elect(3, false); } } }

// expect: pass
test tcOneNode [main=OneNode]:
  assert NeverBack, ToTheMean in (union TimeSync, { OneNode });

// expect: pass
test tcTwoNodes [main=TwoNodes]:
  assert NeverBack, ToTheMean in (union TimeSync, { TwoNodes });

// expect: pass
test tcBrokenClock [main=BrokenClock]:
  assert NeverBack, ToTheMean in (union TimeSync, { BrokenClock });

// expect: pass
test tcElections [main=Elections]:
  assert OneMaster, SomeMaster in (union Election, { Elections, Alarm });

// expect: fail monitor: the time jumps
test tcKeepsOutliers [main=KeepsOutliers]:
  assert ToTheMean in (union TimeSync, { KeepsOutliers });

// expect: fail monitor: which is no mean
test tcTakesStaleTimes [main=TakesStaleTimes]:
  assert ToTheMean in (union TimeSync, { TakesStaleTimes });

// expect: fail monitor: a clock goes back
test tcSetsBack [main=SetsBack]:
  assert NeverBack in (union TimeSync, { SetsBack });

// expect: fail unhandled-event: eTimeOut
test tcNoTimeout [main=NoTimeout]:
  union TimeSync, { NoTimeout };

// expect: fail monitor: is a second master
test tcNoWithdrawal [main=NoWithdrawal]:
  assert OneMaster in (union Election, { NoWithdrawal, Alarm });
