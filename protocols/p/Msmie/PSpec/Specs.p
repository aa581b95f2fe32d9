event ePublished: int;
event eRead: (reader: machine, val: int);

// A master never reads older data than it has read before.
spec NeverOlder observes eRead {
  var latest: map[machine, int];

  start state Watching {
    on eRead do (it: (reader: machine, val: int)) {
      if (it.reader in latest) {
        assert it.val >= latest[it.reader],
          format("a master reads {0} after {1}", it.val, latest[it.reader]);
      }
      latest[it.reader] = it.val;
    }
  }
}

// What is published is read in the end, or something newer is.
spec NewsArrives observes ePublished, eRead {
  var news: int;

  start cold state Known {
    on ePublished goto Unknown with (val: int) { news = val; }
    ignore eRead;
  }

  hot state Unknown {
    on ePublished do (val: int) { news = val; }
    on eRead do (it: (reader: machine, val: int)) {
      if (it.val >= news) {
        goto Known;
      }
    }
  }
}
