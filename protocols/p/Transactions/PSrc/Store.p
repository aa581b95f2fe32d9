enum tStoreFlaw {
  NO_FLAW,
  // Votes when the first replica has the write.
  VOTES_EARLY,
  // Does not think of a replica that dies while its copy is waited for.
  FORGETS_THE_DEAD,
  // Always asks its first replica for the value, alive or not.
  ASKS_THE_DEAD
}

// A store with a primary and a backup that votes yes when all replicas that live have the write.
machine ReplicatedStore
receives ePrepare, eCommit, eAbort, eFetch, eReplicaDown, eCopied, eSeen;
sends eVote, eFetched, eCopy, eApply, eDrop, eLook, eReplicas;
{
  var flaw: tStoreFlaw;
  var replicas: seq[machine];
  var first: machine;
  var manager: machine;
  var current: tWrite;
  var copied: set[machine];
  var reader: machine;

  start state Init {
    entry (config: (observer: machine, flaw: tStoreFlaw)) {
      var all: set[machine];
      flaw = config.flaw;
      replicas += (0, new IReplica());
      replicas += (1, new IReplica());
      first = replicas[0];
      all += (replicas[0]);
      all += (replicas[1]);
      send config.observer, eReplicas, all;
      goto Ready;
    }
    defer ePrepare, eReplicaDown, eFetch;
  }

  state Ready {
    on ePrepare do (req: (manager: machine, write: tWrite)) {
      manager = req.manager;
      current = req.write;
      goto Copying;
    }
    on eCommit do (id: int) { Tell(eApply, id); }
    on eAbort do (id: int) { Tell(eDrop, id); }
    on eFetch do (who: machine) {
      reader = who;
      Look();
    }
    on eSeen do (val: int) {
      if (reader != null) {
        send reader, eFetched, val;
        reader = default(machine);
      }
    }
    on eReplicaDown do (replica: machine) {
      Down(replica);
      // It may have died over the answer.
      if (reader != null) {
        Look();
      }
    }
    // Sent before its replica died, or after the vote of a flawed store.
    ignore eCopied;
  }

  state Copying {
    entry {
      copied = default(set[machine]);
      Tell(eCopy, (store = this, write = current));
    }
    on eCopied do (it: (replica: machine, id: int)) {
      copied += (it.replica);
      Vote();
    }
    on eReplicaDown do (replica: machine) {
      Down(replica);
      if (flaw != FORGETS_THE_DEAD) {
        Vote();
      }
    }
    // The manager may have heard a no from another store.
    on eAbort do (id: int) {
      Tell(eDrop, id);
      goto Ready;
    }
    defer ePrepare, eFetch;
  }

  fun Vote() {
    var replica: machine;
    foreach (replica in replicas) {
      if (!(replica in copied) && flaw != VOTES_EARLY) {
        return;
      }
    }
    send manager, eVote, (store = this, id = current.id, yes = true);
    goto Ready;
  }

  fun Look() {
    if (flaw == ASKS_THE_DEAD) {
      send first, eLook, this;
    } else {
      send replicas[0], eLook, this;
    }
  }

  fun Tell(what: event, payload: any) {
    var replica: machine;
    foreach (replica in replicas) {
      send replica, what, payload;
    }
  }

  fun Down(replica: machine) {
    var i: int;
    while (i < sizeof(replicas)) {
      if (replicas[i] != replica) {
        i = i + 1;
        continue;
      }
      replicas -= (i);
    }
  }
}

machine Replica
receives eCopy, eApply, eDrop, eLook, eDie;
sends eCopied, eSeen;
{
  var prepared: map[int, int];
  var val: int;

  start state Serving {
    on eCopy do (it: (store: machine, write: tWrite)) {
      prepared[it.write.id] = it.write.val;
      send it.store, eCopied, (replica = this, id = it.write.id);
    }
    on eApply do (id: int) {
      assert id in prepared, format("a replica has write {0} when it is to apply it", id);
      val = prepared[id];
      prepared -= id;
    }
    on eDrop do (id: int) { prepared -= id; }
    on eLook do (store: machine) { send store, eSeen, val; }
    on eDie do { raise halt; }
  }
}

// A store of one copy that never fails, and refuses at will: what a manager must cope with.
machine PlainStore
receives ePrepare, eCommit, eAbort, eFetch, eReplicaDown, eCopied, eSeen;
sends eVote, eFetched, eReplicas;
{
  var prepared: map[int, int];
  var val: int;

  start state Serving {
    entry (config: (observer: machine, flaw: tStoreFlaw)) {
      send config.observer, eReplicas, default(set[machine]);
    }
    on ePrepare do (req: (manager: machine, write: tWrite)) {
      var yes: bool;
      yes = choose();
      if (yes) {
        prepared += (req.write.id, req.write.val);
      }
      send req.manager, eVote, (store = this, id = req.write.id, yes = yes);
    }
    on eCommit do (id: int) {
      assert id in prepared, "a store commits what it has prepared";
      val = prepared[id];
      prepared -= id;
    }
    on eAbort do (id: int) { prepared -= id; }
    on eFetch do (client: machine) { send client, eFetched, val; }
  }
}

module Replicated =
  hidei IReplica in (compose { ReplicatedStore -> IStore }, { Replica -> IReplica });
module Plain = { PlainStore -> IStore };
