event eEnter: machine;
event eLeave: machine;

// At most one client is in its critical section.
spec MutualExclusion observes eEnter, eLeave {
  var inside: machine;

  start state Empty {
    on eEnter goto Occupied with (client: machine) {
      inside = client;
    }
  }

  state Occupied {
    on eEnter do (client: machine) {
      assert false, "two clients are in the critical section";
    }
    on eLeave do (client: machine) {
      assert client == inside, "the client inside leaves";
      goto Empty;
    }
  }
}

// A client that asks enters in the end; seen for the client that the test names.
event eWatch: machine;

spec NoStarvation observes eWatch, eAcquire, eEnter {
  var watched: machine;

  start state Unset {
    on eWatch goto Content with (client: machine) {
      watched = client;
    }
    ignore eAcquire, eEnter;
  }

  cold state Content {
    on eAcquire do (client: machine) {
      if (client == watched) {
        goto Hungry;
      }
    }
    ignore eEnter;
  }

  hot state Hungry {
    on eEnter do (client: machine) {
      if (client == watched) {
        goto Content;
      }
    }
    ignore eAcquire;
  }
}
