type tSystem = (buffers: int, masters: int, writes: int, reads: int, flaw: tTableFlaw);

fun SetUp(system: tSystem) {
  var table: machine;
  var i: int;
  table = new Table((buffers = system.buffers, flaw = system.flaw));
  new Slave((table = table, times = system.writes));
  while (i < system.masters) {
    new Master((table = table, times = system.reads));
    i = i + 1;
  }
}

machine OneMaster {
  start state Init {
    entry { SetUp((buffers = 3, masters = 1, writes = 3, reads = 2, flaw = NO_FLAW)); }
  }
}

machine TwoMasters {
  start state Init {
    entry { SetUp((buffers = 4, masters = 2, writes = 2, reads = 1, flaw = NO_FLAW)); }
  }
}

machine ForEver {
  start state Init {
    entry { SetUp((buffers = 4, masters = 2, writes = 2, reads = -1, flaw = NO_FLAW)); }
  }
}

machine NoReaderCount {
  start state Init {
    entry { SetUp((buffers = 3, masters = 2, writes = 3, reads = 1, flaw = NO_READER_COUNT)); }
  }
}

machine OverwritesAssigned {
  start state Init {
    entry { SetUp((buffers = 3, masters = 1, writes = 2, reads = 1, flaw = OVERWRITES_ASSIGNED)); }
  }
}

machine OldBecomesNewest {
  start state Init {
    entry { SetUp((buffers = 4, masters = 2, writes = 2, reads = 2, flaw = OLD_BECOMES_NEWEST)); }
  }
}

machine JoinsReaders {
  start state Init {
    entry { SetUp((buffers = 3, masters = 2, writes = 2, reads = -1, flaw = JOINS_READERS)); }
  }
}

machine ThreeBuffers {
  start state Init {
    entry { SetUp((buffers = 3, masters = 2, writes = 4, reads = 1, flaw = NO_FLAW)); }
  }
}

// expect: pass
test tcOneMaster [main=OneMaster]:
  assert NeverOlder in (union Msmie, { OneMaster });

// expect: pass
test tcTwoMasters [main=TwoMasters]:
  assert NeverOlder in (union Msmie, { TwoMasters });

// expect: pass
test tcForEver [main=ForEver]:
  assert NewsArrives in (union Msmie, { ForEver });

// expect: fail assertion: a master reads torn data
test tcNoReaderCount [main=NoReaderCount]:
  union Msmie, { NoReaderCount };

// expect: fail assertion: a master reads torn data
test tcOverwritesAssigned [main=OverwritesAssigned]:
  union Msmie, { OverwritesAssigned };

// expect: fail monitor: a master reads
test tcOldBecomesNewest [main=OldBecomesNewest]:
  assert NeverOlder in (union Msmie, { OldBecomesNewest });

// expect: fail livelock: NewsArrives
test tcJoinsReaders [main=JoinsReaders]:
  assert NewsArrives in (union Msmie, { JoinsReaders });

// Each of two masters may keep a buffer, so with three the slave has none left.
// expect: fail assertion: there is an idle buffer for the slave
test tcThreeBuffers [main=ThreeBuffers]:
  union Msmie, { ThreeBuffers };
