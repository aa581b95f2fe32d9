machine Producer {
  start state Init {
    entry (config: (buffer: machine, first: int, count: int)) {
      var n: int;
      var done: bool;
      while (n < config.count) {
        announce eProduced, config.first + n;
        done = false;
        while (!done) {
          send config.buffer, ePut, (client = this, val = config.first + n);
          done = Answered();
        }
        n = n + 1;
      }
    }
  }

  fun Answered(): bool {
    var done: bool;
    receive {
      case eDone: (val: int) { done = true; }
      case eWait: {
        receive { case eWoken: { } }
      }
    }
    return done;
  }
}

machine Consumer {
  start state Init {
    entry (config: (buffer: machine, count: int)) {
      var n: int;
      while (n < config.count) {
        send config.buffer, eGet, this;
        receive {
          case eDone: (val: int) {
            announce eConsumed, val;
            n = n + 1;
          }
          case eWait: {
            receive { case eWoken: { } }
          }
        }
      }
    }
  }
}

type tSystem = (consumers: int, gets: int, flaw: tFlaw);

// One producer makes what all consumers together take.
fun SetUp(system: tSystem) {
  var buffer: machine;
  var i: int;
  buffer = new Buffer((capacity = 1, flaw = system.flaw));
  while (i < system.consumers) {
    new Consumer((buffer = buffer, count = system.gets));
    i = i + 1;
  }
  new Producer((buffer = buffer, first = 10, count = system.consumers * system.gets));
}

machine TwoConsumers {
  start state Init { entry { SetUp((consumers = 2, gets = 1, flaw = NO_FLAW)); } }
}
machine TwoConsumersTwice {
  start state Init { entry { SetUp((consumers = 2, gets = 2, flaw = NO_FLAW)); } }
}
machine WakesOne {
  start state Init { entry { SetUp((consumers = 2, gets = 1, flaw = WAKES_ONE)); } }
}
machine GetWakesNobody {
  start state Init { entry { SetUp((consumers = 1, gets = 2, flaw = GET_WAKES_NOBODY)); } }
}
machine LooksOnce {
  start state Init { entry { SetUp((consumers = 2, gets = 1, flaw = LOOKS_ONCE)); } }
}

module System = union Buffers, { Producer, Consumer };

// expect: pass
test tcTwoConsumers [main=TwoConsumers]:
  assert NothingLostOrMade, AllConsumed in (union System, { TwoConsumers });

// expect: pass
test tcTwoConsumersTwice [main=TwoConsumersTwice]:
  assert NothingLostOrMade, AllConsumed in (union System, { TwoConsumersTwice });

// expect: fail deadlock: Consumer
test tcWakesOne [main=WakesOne]:
  union System, { WakesOne };

// expect: fail deadlock: Producer
test tcGetWakesNobody [main=GetWakesNobody]:
  union System, { GetWakesNobody };

// The index is out of range.
// expect: fail assertion: index
test tcLooksOnce [main=LooksOnce]:
  union System, { LooksOnce };
