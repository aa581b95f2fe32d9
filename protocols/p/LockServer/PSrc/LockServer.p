// A lock server: grants one lock to one client at a time, in the order of the requests. Clients
// and server are separate modules that meet at interfaces, so that `compose` can check their
// borders.

event eAcquire: machine;
event eGranted;
event eRelease: machine;

interface ILockServer() receives eAcquire, eRelease;

machine LockServer
receives eAcquire, eRelease;
sends eGranted;
{
  var waiting: seq[machine];
  var holder: machine;

  start state Free {
    on eAcquire goto Held with (client: machine) {
      holder = client;
      send client, eGranted;
    }
  }

  state Held {
    on eAcquire do (client: machine) {
      waiting += (sizeof(waiting), client);
    }

    on eRelease do (client: machine) {
      assert client == holder, "only the holder releases the lock";
      if (sizeof(waiting) == 0) {
        holder = default(machine);
        goto Free;
      }
      holder = waiting[0];
      waiting -= (0);
      send holder, eGranted;
    }
  }
}

// Wrong: after a release it goes back to Free even if it has just granted the lock to a waiter.
machine DoubleGrantServer
receives eAcquire, eRelease;
sends eGranted;
{
  var waiting: seq[machine];

  start state Free {
    on eAcquire goto Held with (client: machine) {
      send client, eGranted;
    }
    ignore eRelease;
  }

  state Held {
    on eAcquire do (client: machine) {
      waiting += (sizeof(waiting), client);
    }
    on eRelease do (client: machine) {
      if (sizeof(waiting) > 0) {
        send waiting[0], eGranted;
        waiting -= (0);
      }
      goto Free;
    }
  }
}

// Wrong: remembers one waiter only; a third client that asks overwrites it and its wake-up is
// lost.
machine OneWaiterServer
receives eAcquire, eRelease;
sends eGranted;
{
  var waiter: machine;

  start state Free {
    on eAcquire goto Held with (client: machine) {
      send client, eGranted;
    }
  }

  state Held {
    on eAcquire do (client: machine) {
      waiter = client;
    }
    on eRelease do (client: machine) {
      var next: machine;
      if (waiter == null) {
        goto Free;
      }
      next = waiter;
      waiter = default(machine);
      send next, eGranted;
    }
  }
}

// Wrong: serves the latest waiter first, so an early one may wait for ever.
machine StackServer
receives eAcquire, eRelease;
sends eGranted;
{
  var waiting: seq[machine];

  start state Free {
    on eAcquire goto Held with (client: machine) {
      send client, eGranted;
    }
  }

  state Held {
    on eAcquire do (client: machine) {
      waiting += (sizeof(waiting), client);
    }
    on eRelease do (client: machine) {
      var last: machine;
      if (sizeof(waiting) == 0) {
        goto Free;
      }
      last = waiting[sizeof(waiting) - 1];
      waiting -= (sizeof(waiting) - 1);
      send last, eGranted;
    }
  }
}

// Wrong: has no way to keep a request that comes while the lock is held.
machine ForgetsToDefer
receives eAcquire, eRelease;
sends eGranted;
{
  start state Free {
    on eAcquire goto Held with (client: machine) {
      send client, eGranted;
    }
  }

  state Held {
    on eRelease goto Free;
  }
}

module Server = { LockServer -> ILockServer };
module ServerDoubleGrant = { DoubleGrantServer -> ILockServer };
module ServerOneWaiter = { OneWaiterServer -> ILockServer };
module ServerStack = { StackServer -> ILockServer };
module ServerForgetsToDefer = { ForgetsToDefer -> ILockServer };
