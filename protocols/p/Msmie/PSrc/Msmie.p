// MSMIE, the multiprocessor shared-memory information exchange of a reactor protection system
// (Bruns and Anderson, 1994): a slave processor publishes data in buffers, masters read the
// newest. The table of buffer states is changed atomically; the data are not, and need not be.

enum tStatus {
  // Of no use to anyone.
  IDLE,
  // Written by the slave.
  WRITING,
  // The latest complete data.
  NEWEST,
  // Read by one or more masters.
  ASSIGNED
}

type tBuffer = (status: tStatus, readers: int, low: int, high: int);

event eAcquireWrite: machine;
event eBuffer: int;
event eWriteLow: (buffer: int, val: int);
event eWriteHigh: (buffer: int, val: int);
event ePublish: int;
event eAcquireRead: machine;
event eNothing;
event eReadLow: (reader: machine, buffer: int);
event eReadHigh: (reader: machine, buffer: int);
event eWord: int;
event eReleaseRead: int;

enum tTableFlaw {
  NO_FLAW,
  // The first master that is done frees the buffer, although another still reads it.
  NO_READER_COUNT,
  // The slave may be given a buffer that a master still reads.
  OVERWRITES_ASSIGNED,
  // A released buffer becomes the newest even if newer data were published meanwhile.
  OLD_BECOMES_NEWEST,
  // A master joins the others at the buffer they read, whatever was published since; as in the
  // first version of the protocol, with three buffers.
  JOINS_READERS
}

machine Table {
  var flaw: tTableFlaw;
  var buffers: seq[tBuffer];

  start state Init {
    entry (config: (buffers: int, flaw: tTableFlaw)) {
      flaw = config.flaw;
      while (sizeof(buffers) < config.buffers) {
        buffers += (0, default(tBuffer));
      }
      goto Serving;
    }
    defer eAcquireWrite, eAcquireRead;
  }

  state Serving {
    on eAcquireWrite do (slave: machine) {
      var at: int;
      at = Find(IDLE);
      if (flaw == OVERWRITES_ASSIGNED && Find(ASSIGNED) >= 0) {
        at = Find(ASSIGNED);
      }
      assert at >= 0, "there is an idle buffer for the slave";
      buffers[at].status = WRITING;
      send slave, eBuffer, at;
    }

    on ePublish do MakeNewest;

    on eAcquireRead do (reader: machine) {
      var at: int;
      at = Find(NEWEST);
      if (at < 0 || (flaw == JOINS_READERS && Find(ASSIGNED) >= 0)) {
        at = Find(ASSIGNED);
      }
      if (at < 0) {
        send reader, eNothing;
        return;
      }
      buffers[at].status = ASSIGNED;
      buffers[at].readers = buffers[at].readers + 1;
      send reader, eBuffer, at;
    }

    on eReleaseRead do (at: int) {
      buffers[at].readers = buffers[at].readers - 1;
      if (buffers[at].readers > 0 && flaw != NO_READER_COUNT) {
        return;
      }
      if (Superseded(at) && flaw != OLD_BECOMES_NEWEST) {
        buffers[at].status = IDLE;
      } else {
        MakeNewest(at);
      }
    }

    on eWriteLow do (word: (buffer: int, val: int)) { buffers[word.buffer].low = word.val; }
    on eWriteHigh do (word: (buffer: int, val: int)) { buffers[word.buffer].high = word.val; }
    on eReadLow do (req: (reader: machine, buffer: int)) {
      send req.reader, eWord, buffers[req.buffer].low;
    }
    on eReadHigh do (req: (reader: machine, buffer: int)) {
      send req.reader, eWord, buffers[req.buffer].high;
    }
  }

  // This buffer, and no other, is the newest.
  fun MakeNewest(at: int) {
    var old: int;
    old = Find(NEWEST);
    if (old >= 0) {
      buffers[old].status = IDLE;
    }
    buffers[at].status = NEWEST;
  }

  // Whether complete data newer than those in this buffer exist.
  fun Superseded(at: int): bool {
    var buffer: tBuffer;
    foreach (buffer in buffers) {
      if ((buffer.status == NEWEST || buffer.status == ASSIGNED) && buffer.low > buffers[at].low) {
        return true;
      }
    }
    return false;
  }

  // The newest buffer with this status, or -1.
  fun Find(status: tStatus): int {
    var i: int;
    var found: int;
    found = -1;
    while (i < sizeof(buffers)) {
      if (buffers[i].status == status && (found < 0 || buffers[i].low > buffers[found].low)) {
        found = i;
      }
      i = i + 1;
    }
    return found;
  }
}

// Publishes 1, 2, ..., each as a low and a high word.
machine Slave {
  start state Writing {
    entry (config: (table: machine, times: int)) {
      var n: int;
      while (n < config.times) {
        n = n + 1;
        send config.table, eAcquireWrite, this;
        receive {
          case eBuffer: (at: int) {
            send config.table, eWriteLow, (buffer = at, val = n);
            send config.table, eWriteHigh, (buffer = at, val = n);
            announce ePublished, n;
            send config.table, ePublish, at;
          }
        }
      }
    }
  }
}

// Reads some times, or for ever if `times` is negative.
machine Master {
  var table: machine;
  var times: int;

  start state Init {
    entry (config: (table: machine, times: int)) {
      table = config.table;
      times = config.times;
      goto Reading;
    }
  }

  state Reading {
    entry {
      if (times == 0) {
        return;
      }
      if (times > 0) {
        times = times - 1;
      }
      send table, eAcquireRead, this;
      receive {
        case eNothing: { }
        case eBuffer: (at: int) {
          Read(at);
        }
      }
      goto Reading;
    }
  }

  fun Read(at: int) {
    var low: int;
    var high: int;
    low = Word(eReadLow, at);
    high = Word(eReadHigh, at);
    assert low == high, format("a master reads torn data: {0} and {1}", low, high);
    announce eRead, (reader = this, val = low);
    send table, eReleaseRead, at;
  }

  fun Word(which: event, at: int): int {
    var answer: int;
    send table, which, (reader = this, buffer = at);
    receive {
      case eWord: (word: int) { answer = word; }
    }
    return answer;
  }
}

module Msmie = { Table, Slave, Master };
