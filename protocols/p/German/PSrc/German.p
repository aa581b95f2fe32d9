// German's cache coherence protocol: a home directory serves one request at a time; before it
// grants an exclusive copy, or any copy while one is exclusive, it has the other copies given up.

event eAskShared: machine;
event eAskExclusive: machine;
event eGrantShared;
event eGrantExclusive;
event eInvalidate;
event eInvalidated: machine;

// A processor and its cache.
event eLoad;
event eStore;
event eServed;
event eProcessor: machine;

// Told to specs.
event eHolds: (cache: machine, copy: tCopy);

enum tCopy { NONE, SHARED, EXCLUSIVE }

enum tHomeFlaw {
  NO_FLAW,
  // Grants an exclusive copy when the invalidations are sent, not when they are acknowledged.
  GRANTS_EARLY,
  // Does not ask the owner of an exclusive copy to give it up before it grants shared ones.
  FORGETS_OWNER,
  // Takes the first acknowledgement for all of them.
  WAITS_FOR_ONE_ACK
}

machine Home {
  var flaw: tHomeFlaw;
  var sharers: set[machine];
  var exclusive: bool;
  var asker: machine;
  var wantsExclusive: bool;
  var owed: int;

  start state Init {
    entry (f: tHomeFlaw) {
      flaw = f;
      goto Idle;
    }
    defer eAskShared, eAskExclusive;
  }

  state Idle {
    on eAskShared do (cache: machine) {
      asker = cache;
      wantsExclusive = false;
      if (exclusive && flaw != FORGETS_OWNER) {
        Invalidate();
        goto Invalidating;
      }
      Grant();
    }

    on eAskExclusive do (cache: machine) {
      asker = cache;
      wantsExclusive = true;
      Invalidate();
      if (owed > 0 && flaw != GRANTS_EARLY) {
        goto Invalidating;
      }
      Grant();
    }

    // Only a flawed home is still owed anything here.
    on eInvalidated do (cache: machine) {
      sharers -= cache;
    }
  }

  state Invalidating {
    defer eAskShared, eAskExclusive;

    on eInvalidated do (cache: machine) {
      sharers -= cache;
      owed = owed - 1;
      if (owed == 0 || flaw == WAITS_FOR_ONE_ACK) {
        Grant();
        goto Idle;
      }
    }
  }

  fun Invalidate() {
    var cache: machine;
    owed = 0;
    foreach (cache in sharers) {
      owed = owed + 1;
      send cache, eInvalidate;
    }
  }

  fun Grant() {
    sharers += (asker);
    exclusive = wantsExclusive;
    if (wantsExclusive) {
      send asker, eGrantExclusive;
    } else {
      send asker, eGrantShared;
    }
  }
}

machine Cache {
  var home: machine;
  var processor: machine;

  start state Init {
    entry (who: machine) {
      home = who;
    }
    on eProcessor goto Invalid with (who: machine) {
      processor = who;
    }
  }

  state Invalid {
    entry { announce eHolds, (cache = this, copy = NONE); }
    on eLoad goto Asking with { send home, eAskShared, this; }
    on eStore goto Asking with { send home, eAskExclusive, this; }
  }

  state Asking {
    on eGrantShared goto Shared with { send processor, eServed; }
    on eGrantExclusive goto Exclusive with { send processor, eServed; }
    // The copy that is being upgraded is wanted back first.
    on eInvalidate do GiveUp;
  }

  state Shared {
    entry { announce eHolds, (cache = this, copy = SHARED); }
    on eLoad do { send processor, eServed; }
    on eStore goto Asking with { send home, eAskExclusive, this; }
    on eInvalidate goto Invalid with GiveUp;
  }

  state Exclusive {
    entry { announce eHolds, (cache = this, copy = EXCLUSIVE); }
    on eLoad, eStore do { send processor, eServed; }
    on eInvalidate goto Invalid with GiveUp;
  }

  fun GiveUp() {
    announce eHolds, (cache = this, copy = NONE);
    send home, eInvalidated, this;
  }
}

// Wrong: does not expect its copy to be wanted back while it asks for more.
machine ImpatientCache {
  var home: machine;
  var processor: machine;

  start state Init {
    entry (who: machine) {
      home = who;
    }
    on eProcessor goto Invalid with (who: machine) {
      processor = who;
    }
  }

  state Invalid {
    on eLoad goto Asking with { send home, eAskShared, this; }
    on eStore goto Asking with { send home, eAskExclusive, this; }
  }

  state Asking {
    on eGrantShared goto Shared with { send processor, eServed; }
    on eGrantExclusive goto Exclusive with { send processor, eServed; }
  }

  state Shared {
    on eLoad do { send processor, eServed; }
    on eStore goto Asking with { send home, eAskExclusive, this; }
    on eInvalidate goto Invalid with { send home, eInvalidated, this; }
  }

  state Exclusive {
    on eLoad, eStore do { send processor, eServed; }
    on eInvalidate goto Invalid with { send home, eInvalidated, this; }
  }
}

// Wrong: evicts a shared copy in silence, and then sees no reason to acknowledge an invalidation.
machine SilentCache {
  var home: machine;
  var processor: machine;

  start state Init {
    entry (who: machine) {
      home = who;
    }
    on eProcessor goto Invalid with (who: machine) {
      processor = who;
    }
  }

  state Invalid {
    on eLoad goto Asking with { send home, eAskShared, this; }
    on eStore goto Asking with { send home, eAskExclusive, this; }
    ignore eInvalidate;
  }

  state Asking {
    on eGrantShared goto Invalid with { send processor, eServed; }
    on eGrantExclusive goto Exclusive with { send processor, eServed; }
    ignore eInvalidate;
  }

  state Exclusive {
    on eLoad, eStore do { send processor, eServed; }
    on eInvalidate goto Invalid with { send home, eInvalidated, this; }
  }
}

module German = { Home, Cache };
module GermanImpatient = { Home, ImpatientCache -> Cache };
module GermanSilent = { Home, SilentCache -> Cache };
