// Loads and stores at will, one at a time.
machine Processor {
  start state Init {
    entry (config: (cache: machine, times: int)) {
      var n: int;
      send config.cache, eProcessor, this;
      while (n < config.times) {
        if ($) {
          send config.cache, eLoad;
        } else {
          send config.cache, eStore;
        }
        receive {
          case eServed: { }
        }
        n = n + 1;
      }
    }
  }
}

fun SetUp(caches: int, times: int, flaw: tHomeFlaw) {
  var home: machine;
  var i: int;
  home = new Home(flaw);
  while (i < caches) {
    new Processor((cache = new Cache(home), times = times));
    i = i + 1;
  }
}

machine TwoCaches { start state Init { entry { SetUp(2, 2, NO_FLAW); } } }
machine ThreeCaches { start state Init { entry { SetUp(3, 3, NO_FLAW); } } }
machine GrantsEarly { start state Init { entry { SetUp(2, 1, GRANTS_EARLY); } } }
machine ForgetsOwner { start state Init { entry { SetUp(2, 1, FORGETS_OWNER); } } }
machine WaitsForOneAck { start state Init { entry { SetUp(3, 1, WAITS_FOR_ONE_ACK); } } }

// expect: pass
test tcTwoCaches [main=TwoCaches]:
  assert Coherence, Served in (union German, { TwoCaches, Processor });

// expect: pass sampled
test tcThreeCaches [main=ThreeCaches]:
  assert Coherence, Served in (union German, { ThreeCaches, Processor });

// expect: fail monitor: an exclusive copy is not the only one
test tcGrantsEarly [main=GrantsEarly]:
  assert Coherence in (union German, { GrantsEarly, Processor });

// expect: fail monitor: an exclusive copy is not the only one
test tcForgetsOwner [main=ForgetsOwner]:
  assert Coherence in (union German, { ForgetsOwner, Processor });

// expect: fail monitor: an exclusive copy is not the only one
test tcWaitsForOneAck [main=WaitsForOneAck]:
  assert Coherence in (union German, { WaitsForOneAck, Processor });

// expect: fail unhandled-event: eInvalidate
test tcImpatientCache [main=TwoCaches]:
  union GermanImpatient, { TwoCaches, Processor };

// expect: fail deadlock: Processor
test tcSilentCache [main=TwoCaches]:
  union GermanSilent, { TwoCaches, Processor };
