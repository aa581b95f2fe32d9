type tSystem = (length: int, writes: int, kill: bool, flaw: tNodeFlaw);

fun SetUp(system: tSystem) {
  var chain: seq[machine];
  var nodes: set[machine];
  var node: machine;
  var client: machine;
  var master: machine;
  var i: int;

  while (i < system.length) {
    node = new ChainNode((flaw = system.flaw, isHead = i == 0, isTail = i + 1 == system.length));
    chain += (i, node);
    nodes += (node);
    i = i + 1;
  }
  announce eSpecNodes, nodes;
  client = new ChainClient(system.writes);
  master = new Master((chain = chain, client = client));
  if (system.kill) {
    new Killer((nodes = nodes, master = master));
  }
}

machine NoFailure {
  start state Init {
    entry { SetUp((length = 3, writes = 2, kill = false, flaw = NO_FLAW)); }
  }
}

machine OneFailure {
  start state Init {
    entry { SetUp((length = 3, writes = 2, kill = true, flaw = NO_FLAW)); }
  }
}

machine AcksAtHead {
  start state Init {
    entry { SetUp((length = 2, writes = 1, kill = false, flaw = ACKS_AT_HEAD)); }
  }
}

machine NeverResends {
  start state Init {
    entry { SetUp((length = 3, writes = 1, kill = true, flaw = NEVER_RESENDS)); }
  }
}

machine AppliesDuplicates {
  start state Init {
    entry { SetUp((length = 3, writes = 1, kill = true, flaw = APPLIES_DUPLICATES)); }
  }
}

machine TailForgets {
  start state Init {
    entry { SetUp((length = 2, writes = 1, kill = true, flaw = TAIL_FORGETS_PENDING)); }
  }
}

machine HeadIsNotReady {
  start state Init {
    entry { SetUp((length = 2, writes = 1, kill = true, flaw = HEAD_TAKES_NO_FORWARD)); }
  }
}

module System = union Chain, Environment;

// expect: pass
test tcNoFailure [main=NoFailure]:
  assert InOrderOnce, AnsweredIsEverywhere, Answered in (union System, { NoFailure });

// expect: pass
test tcOneFailure [main=OneFailure]:
  assert InOrderOnce, AnsweredIsEverywhere, Answered in (union System, { OneFailure });

// expect: fail monitor: is answered before a live node has it
test tcAcksAtHead [main=AcksAtHead]:
  assert AnsweredIsEverywhere in (union System, { AcksAtHead });

// expect: fail hot-at-end: Answered
test tcNeverResends [main=NeverResends]:
  assert Answered in (union System, { NeverResends });

// expect: fail monitor: is applied after write
test tcAppliesDuplicates [main=AppliesDuplicates]:
  assert InOrderOnce in (union System, { AppliesDuplicates });

// expect: fail hot-at-end: Answered
test tcTailForgets [main=TailForgets]:
  assert Answered in (union System, { TailForgets });

// expect: fail unhandled-event: eBecomeTail
test tcHeadIsNotReady [main=HeadIsNotReady]:
  union System, { HeadIsNotReady };
