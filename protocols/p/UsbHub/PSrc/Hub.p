// The enumeration of USB devices: a device that is reset listens to address zero until it is given
// an address of its own, so the hub lets one port at a time enumerate. Devices come and go at
// will.

// Device and port.
event eAttached: machine;
event eDetached;
event eReset: machine;
event eResetDone;
event eSetAddress: int;
event eAddressed;

// Port and hub.
event eAskTurn: machine;
event eTurn: int;
event eTurnOver: (port: machine, configured: bool);
event eAddressFree: int;

// Told to specs.
event eAtZero: machine;
event eOffZero: machine;
event eHasAddress: (device: machine, address: int);
event eGone: machine;
event ePlugged: machine;

enum tFlaw {
  NO_FLAW,
  // A port resets its device without asking for its turn.
  NO_TURNS,
  // A port whose device is pulled out while it is being reset keeps its turn for ever.
  KEEPS_TURN,
  // A port does not expect its device to be pulled out while it waits for its turn.
  EXPECTS_PATIENCE,
  // The next address is one more than the number of devices, whatever addresses are taken.
  COUNTS_DEVICES
}

// Gives turns and addresses.
machine Hub {
  var flaw: tFlaw;
  var taken: set[int];
  var offered: int;

  start state Init {
    entry (f: tFlaw) {
      flaw = f;
      goto Free;
    }
    defer eAskTurn;
  }

  state Free {
    on eAskTurn do (port: machine) {
      offered = NextAddress();
      send port, eTurn, offered;
      goto Busy;
    }
    on eAddressFree do (address: int) { taken -= address; }
  }

  state Busy {
    defer eAskTurn;
    on eTurnOver goto Free with (it: (port: machine, configured: bool)) {
      if (it.configured) {
        taken += (offered);
      }
    }
    on eAddressFree do (address: int) { taken -= address; }
  }

  fun NextAddress(): int {
    var address: int;
    if (flaw == COUNTS_DEVICES) {
      return sizeof(taken) + 1;
    }
    address = 1;
    while (address in taken) {
      address = address + 1;
    }
    return address;
  }
}

machine Port {
  var flaw: tFlaw;
  var hub: Hub;
  var device: machine;
  var address: int;

  start state Init {
    entry (config: (hub: Hub, flaw: tFlaw)) {
      hub = config.hub;
      flaw = config.flaw;
      goto Empty;
    }
    defer eAttached, eDetached;
  }

  state Empty {
    on eAttached do (who: machine) {
      device = who;
      if (flaw == NO_TURNS) {
        address = 1;
        goto Resetting;
      }
      send hub, eAskTurn, this;
      if (flaw == EXPECTS_PATIENCE) {
        goto WaitingPatiently;
      }
      goto Waiting;
    }
  }

  state Waiting {
    on eTurn goto Resetting with (offered: int) { address = offered; }
    on eDetached goto Declining;
  }

  // Of a flawed port.
  state WaitingPatiently {
    on eTurn goto Resetting with (offered: int) { address = offered; }
  }

  // The device is gone, but a turn was asked for: pass it on.
  state Declining {
    on eTurn goto Empty with { EndTurn(false); }
    defer eAttached;
  }

  state Resetting {
    entry { send device, eReset, this; }
    on eResetDone goto Addressing;
    on eDetached goto Empty with {
      if (flaw != KEEPS_TURN) {
        EndTurn(false);
      }
    }
  }

  state Addressing {
    entry { send device, eSetAddress, address; }
    on eAddressed goto Configured with { EndTurn(true); }
    on eDetached goto Empty with { EndTurn(false); }
  }

  state Configured {
    on eDetached goto Empty with { send hub, eAddressFree, address; }
  }

  fun EndTurn(configured: bool) {
    if (flaw != NO_TURNS) {
      send hub, eTurnOver, (port = this, configured = configured);
    }
  }
}

module Usb = { Hub, Port };
