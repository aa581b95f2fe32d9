// A device that is plugged into a port, and maybe pulled out again at any moment.
machine Device {
  var port: machine;

  start state Plugged {
    entry (config: (port: machine, leaves: bool)) {
      port = config.port;
      announce ePlugged, this;
      send port, eAttached, this;
      if (config.leaves) {
        new Hand(this);
      }
    }
    on eReset do {
      announce eAtZero, this;
      send port, eResetDone;
    }
    on eSetAddress do (address: int) {
      announce eOffZero, this;
      announce eHasAddress, (device = this, address = address);
      send port, eAddressed;
    }
    on ePull goto Pulled;
  }

  state Pulled {
    entry {
      announce eOffZero, this;
      announce eGone, this;
      send port, eDetached;
      raise halt;
    }
  }
}

event ePull;

// Pulls a device out, sooner or later.
machine Hand {
  start state Init {
    entry (device: machine) {
      send device, ePull;
      raise halt;
    }
  }
}

type tSystem = (ports: int, leaving: int, flaw: tFlaw);

fun SetUp(system: tSystem) {
  var hub: Hub;
  var port: Port;
  var i: int;
  hub = new Hub(system.flaw);
  while (i < system.ports) {
    port = new Port((hub = hub, flaw = system.flaw));
    new Device((port = port, leaves = i < system.leaving));
    i = i + 1;
  }
}

machine TwoStay {
  start state Init { entry { SetUp((ports = 2, leaving = 0, flaw = NO_FLAW)); } }
}
machine OneLeaves {
  start state Init { entry { SetUp((ports = 2, leaving = 1, flaw = NO_FLAW)); } }
}
machine ThreePorts {
  start state Init { entry { SetUp((ports = 3, leaving = 1, flaw = NO_FLAW)); } }
}
machine NoTurns {
  start state Init { entry { SetUp((ports = 2, leaving = 0, flaw = NO_TURNS)); } }
}
machine KeepsTurn {
  start state Init { entry { SetUp((ports = 2, leaving = 1, flaw = KEEPS_TURN)); } }
}
machine ExpectsPatience {
  start state Init { entry { SetUp((ports = 2, leaving = 1, flaw = EXPECTS_PATIENCE)); } }
}
machine CountsDevices {
  start state Init { entry { SetUp((ports = 3, leaving = 1, flaw = COUNTS_DEVICES)); } }
}

module System = union Usb, { Device, Hand };

// expect: pass
test tcTwoStay [main=TwoStay]:
  assert OneAtZero, UniqueAddresses, EveryDeviceGetsAnAddress in (union System, { TwoStay });

// expect: pass
test tcOneLeaves [main=OneLeaves]:
  assert OneAtZero, UniqueAddresses, EveryDeviceGetsAnAddress in (union System, { OneLeaves });

// expect: pass sampled
test tcThreePorts [main=ThreePorts]:
  assert OneAtZero, UniqueAddresses, EveryDeviceGetsAnAddress in (union System, { ThreePorts });

// expect: fail monitor: two devices listen to address zero
test tcNoTurns [main=NoTurns]:
  assert OneAtZero in (union System, { NoTurns });

// expect: fail hot-at-end: EveryDeviceGetsAnAddress
test tcKeepsTurn [main=KeepsTurn]:
  assert EveryDeviceGetsAnAddress in (union System, { KeepsTurn });

// expect: fail unhandled-event: eDetached
test tcExpectsPatience [main=ExpectsPatience]:
  assert OneAtZero in (union System, { ExpectsPatience });

// expect: fail monitor: two devices have the address
test tcCountsDevices [main=CountsDevices]:
  assert UniqueAddresses in (union System, { CountsDevices });
