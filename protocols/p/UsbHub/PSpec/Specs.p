// At most one device listens to address zero.
spec OneAtZero observes eAtZero, eOffZero {
  var devices: set[machine];

  start state Watching {
    on eAtZero do (device: machine) {
      devices += (device);
      assert sizeof(devices) == 1, "two devices listen to address zero";
    }
    on eOffZero do (device: machine) {
      devices -= device;
    }
  }
}

// No two devices have one address.
spec UniqueAddresses observes eHasAddress, eGone {
  var addresses: map[machine, int];

  start state Watching {
    on eHasAddress do (it: (device: machine, address: int)) {
      assert !(it.address in values(addresses)),
        format("two devices have the address {0}", it.address);
      addresses[it.device] = it.address;
    }
    on eGone do (device: machine) {
      addresses -= device;
    }
  }
}

// A device that is plugged in gets an address, unless it is pulled out.
spec EveryDeviceGetsAnAddress observes ePlugged, eHasAddress, eGone {
  var waiting: set[machine];

  start cold state Settled {
    on ePlugged goto Unsettled with (device: machine) { waiting += (device); }
    ignore eHasAddress, eGone;
  }

  hot state Unsettled {
    on ePlugged do (device: machine) { waiting += (device); }
    on eGone do Settle;
    on eHasAddress do (it: (device: machine, address: int)) { Settle(it.device); }
  }

  fun Settle(device: machine) {
    waiting -= device;
    if (sizeof(waiting) == 0) {
      goto Settled;
    }
  }
}
