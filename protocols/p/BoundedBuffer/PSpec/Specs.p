event eProduced: int;
event eConsumed: int;

// What is consumed was produced, and is consumed once.
spec NothingLostOrMade observes eProduced, eConsumed {
  var inside: set[int];

  start state Watching {
    on eProduced do (val: int) { inside += (val); }
    on eConsumed do (val: int) {
      assert val in inside, format("the item {0} is consumed but is not there", val);
      inside -= val;
    }
  }
}

// What is produced is consumed.
spec AllConsumed observes eProduced, eConsumed {
  var inside: int;

  start cold state Empty {
    on eProduced goto Holding with { inside = inside + 1; }
    ignore eConsumed;
  }
  hot state Holding {
    on eProduced do { inside = inside + 1; }
    on eConsumed do {
      inside = inside - 1;
      if (inside == 0) {
        goto Empty;
      }
    }
  }
}
