type tClientConfig = (stores: int, writes: int, kill: bool, flaw: tStoreFlaw);

// Sets the system up, kills one replica if it is to, writes and reads back what was committed.
machine TransactionClient {
  var config: tClientConfig;
  var stores: seq[IStore];
  var manager: machine;
  var victims: set[machine];

  start state SettingUp {
    entry (asked: tClientConfig) {
      var all: set[sStore];
      config = asked;
      while (sizeof(stores) < config.stores) {
        stores += (sizeof(stores), new IStore((observer = this, flaw = config.flaw)));
        all += (stores[sizeof(stores) - 1]);
        receive {
          case eReplicas: (replicas: set[machine]) { victims = replicas; }
        }
      }
      manager = new Manager(all);
      if (config.kill) {
        // Of the store that was set up last.
        new Killer((replicas = victims, store = stores[sizeof(stores) - 1]));
      }
      goto Working;
    }
  }

  state Working {
    entry {
      var n: int;
      var last: int;
      while (n < config.writes) {
        n = n + 1;
        send manager, eBegin, (client = this, write = (id = n, val = 10 * n));
        receive {
          case eOutcome: (it: (id: int, committed: bool)) {
            assert it.id == n, "the outcome is of the transaction that was begun";
            if (it.committed) {
              last = 10 * n;
            }
          }
        }
      }
      send stores[sizeof(stores) - 1], eFetch, this;
      receive {
        case eFetched: (val: any) {
          assert val as int == last, format("a client reads {0} and not {1}", val, last);
        }
      }
    }
  }
}

// Kills one of the replicas, and then the store hears of it.
machine Killer {
  start state Init {
    entry (config: (replicas: set[machine], store: IStore)) {
      var victim: machine;
      victim = choose(config.replicas);
      send victim, eDie;
      send config.store, eReplicaDown, victim;
    }
  }
}

fun SetUp(stores: int, writes: int, kill: bool, flaw: tStoreFlaw) {
  new TransactionClient((stores = stores, writes = writes, kill = kill, flaw = flaw));
}

machine TwoPlain { start state Init { entry { SetUp(2, 2, false, NO_FLAW); } } }
machine TwoReplicated { start state Init { entry { SetUp(2, 1, false, NO_FLAW); } } }
machine OneDies { start state Init { entry { SetUp(1, 2, true, NO_FLAW); } } }
machine VotesEarly { start state Init { entry { SetUp(1, 1, true, VOTES_EARLY); } } }
machine ForgetsTheDead { start state Init { entry { SetUp(1, 1, true, FORGETS_THE_DEAD); } } }
machine AsksTheDead { start state Init { entry { SetUp(1, 1, true, ASKS_THE_DEAD); } } }

module Environment = { TransactionClient, Killer };

// expect: pass
test tcTwoPlain [main=TwoPlain]:
  assert AllSaidYes, Ends in (union Managers, Plain, Environment, { TwoPlain });

// expect: pass sampled
test tcTwoReplicated [main=TwoReplicated]:
  assert AllSaidYes, Ends in (union Managers, Replicated, Environment, { TwoReplicated });

// expect: pass
test tcOneDies [main=OneDies]:
  assert AllSaidYes, CopiedEverywhere, Ends in
    (union Managers, Replicated, Environment, { OneDies });

// expect: fail monitor: before all of its replicas have it
test tcVotesEarly [main=VotesEarly]:
  assert CopiedEverywhere in (union Managers, Replicated, Environment, { VotesEarly });

// expect: fail deadlock: TransactionClient
test tcForgetsTheDead [main=ForgetsTheDead]:
  assert Ends in (union Managers, Replicated, Environment, { ForgetsTheDead });

// expect: fail deadlock: TransactionClient
test tcAsksTheDead [main=AsksTheDead]:
  union Managers, Replicated, Environment, { AsksTheDead };

// expect: fail assertion: a store commits what it has prepared
test tcCountingManager [main=TwoPlain]:
  union CountingManagers, Plain, Environment, { TwoPlain };
