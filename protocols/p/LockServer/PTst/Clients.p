type tClientConfig = (server: ILockServer, times: int);

// Enters its critical section some times, or for ever if `times` is negative.
machine LockClient
receives eGranted;
sends eAcquire, eRelease, eEnter, eLeave;
{
  var server: ILockServer;
  var times: int;

  start state Init {
    entry (config: tClientConfig) {
      server = config.server;
      times = config.times;
      if (times != 0) {
        goto Asking;
      }
    }
  }

  state Asking {
    entry {
      send server, eAcquire, this;
      receive {
        case eGranted: { }
      }
      goto Inside;
    }
  }

  state Inside {
    entry {
      announce eEnter, this;
      announce eLeave, this;
      send server, eRelease, this;
      if (times > 0) {
        times = times - 1;
      }
      if (times == 0) {
        raise halt;
      }
      goto Asking;
    }
  }
}

// Does its work between entering and leaving, so that others can be seen inside.
event eWork;

machine Worker
receives eGranted, eWork;
sends eAcquire, eRelease, eEnter, eLeave, eWork;
{
  var server: ILockServer;

  start state Init {
    entry (config: tClientConfig) {
      server = config.server;
      send server, eAcquire, this;
    }
    on eGranted goto Inside;
  }

  state Inside {
    entry {
      announce eEnter, this;
      send this, eWork;
    }
    on eWork do {
      announce eLeave, this;
      send server, eRelease, this;
      raise halt;
    }
  }
}

machine ThreeWorkers
receives;
sends;
{
  start state Init {
    entry {
      var server: ILockServer;
      server = new ILockServer();
      new Worker((server = server, times = 1));
      new Worker((server = server, times = 1));
      new Worker((server = server, times = 1));
    }
  }
}

machine TwoTimesTwice
receives;
sends eWatch;
{
  start state Init {
    entry {
      var server: ILockServer;
      var client: LockClient;
      server = new ILockServer();
      client = new LockClient((server = server, times = 2));
      announce eWatch, client;
      new LockClient((server = server, times = 2));
    }
  }
}

machine ThreeClients
receives;
sends;
{
  start state Init {
    entry {
      var server: ILockServer;
      server = new ILockServer();
      new LockClient((server = server, times = 1));
      new LockClient((server = server, times = 1));
      new LockClient((server = server, times = 1));
    }
  }
}

machine ThreeForEver
receives;
sends eWatch;
{
  start state Init {
    entry {
      var server: ILockServer;
      var client: LockClient;
      server = new ILockServer();
      client = new LockClient((server = server, times = 1));
      announce eWatch, client;
      new LockClient((server = server, times = -1));
      new LockClient((server = server, times = -1));
    }
  }
}

module Workers = { ThreeWorkers, Worker };
module TwoClients = { TwoTimesTwice, LockClient };
module AllClients = { ThreeClients, LockClient };
module ForEver = { ThreeForEver, LockClient };
