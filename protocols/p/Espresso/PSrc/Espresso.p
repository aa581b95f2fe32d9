// An espresso machine: a control panel drives the hardware, and people order, open the door and
// refill beans when they please.

enum tReason { NO_BEANS = 1, DOOR_OPEN = 2 }

// People and the panel.
event eOrder: machine;
event eCoffee;
event eRefused: tReason;
event eDoor: bool;
event eRefilled;

// The panel and the hardware.
event eHeat: machine;
event eHeated;
event eGrind: machine;
event eGround;
event eGrinderEmpty;
event eBrew: machine;
event eBrewed;

enum tFlaw {
  NO_FLAW,
  // Does not expect the door to be opened while it brews.
  EXPECTS_SHUT_DOOR,
  // Does not look at the door again when the beans are ground.
  BREWS_WITH_DOOR_OPEN,
  // Drops the order when the door is opened, and says nothing.
  FORGETS_ORDER,
  // Serves no more after the beans were refilled.
  STAYS_IN_TROUBLE
}

type tPanelConfig = (hardware: Hardware, flaw: tFlaw);

machine Panel {
  var flaw: tFlaw;
  var hardware: Hardware;
  var customer: machine;
  var doorOpen: bool;

  start state WarmingUp {
    entry (config: tPanelConfig) {
      flaw = config.flaw;
      hardware = config.hardware;
      send hardware, eHeat, this;
    }
    defer eOrder;
    on eDoor do Door;
    on eHeated goto Ready;
    ignore eRefilled;
  }

  state Ready {
    on eOrder do (who: machine) {
      customer = who;
      if (doorOpen) {
        Refuse(DOOR_OPEN);
        return;
      }
      goto Grinding;
    }
    on eDoor do Door;
    ignore eRefilled;
  }

  state Grinding {
    entry { send hardware, eGrind, this; }
    defer eOrder;
    on eDoor do Door;
    on eGround do {
      if (doorOpen && flaw == FORGETS_ORDER) {
        goto Ready;
      }
      if (doorOpen && flaw != BREWS_WITH_DOOR_OPEN) {
        Refuse(DOOR_OPEN);
        goto Ready;
      }
      if (flaw == EXPECTS_SHUT_DOOR) {
        goto BrewingBlind;
      }
      goto Brewing;
    }
    on eGrinderEmpty do {
      Refuse(NO_BEANS);
      if (flaw == STAYS_IN_TROUBLE) {
        goto TroubleForGood;
      }
      goto Trouble;
    }
    ignore eRefilled;
  }

  state Brewing {
    entry { send hardware, eBrew, this; }
    defer eOrder;
    on eDoor do Door;
    on eBrewed goto Ready with { send customer, eCoffee; }
    ignore eRefilled;
  }

  // Of a flawed panel.
  state BrewingBlind {
    entry { send hardware, eBrew, this; }
    defer eOrder;
    on eBrewed goto Ready with { send customer, eCoffee; }
    ignore eRefilled;
  }

  // Out of beans: orders wait until somebody has brought some.
  state Trouble {
    defer eOrder;
    on eDoor do Door;
    on eRefilled goto Ready;
  }

  // Of a flawed panel.
  state TroubleForGood {
    defer eOrder;
    on eDoor do Door;
    ignore eRefilled;
  }

  fun Door(isOpen: bool) {
    doorOpen = isOpen;
    announce eDoorSeen, isOpen;
  }

  fun Refuse(reason: tReason) {
    send customer, eRefused, reason;
  }
}

// Heater, grinder and pump. The grinder finds itself empty at most once.
machine Hardware {
  var ranOut: bool;

  start state Working {
    on eHeat do (panel: machine) { Answer(panel, eHeated); }
    on eGrind do (panel: machine) {
      if (!ranOut && $$) {
        ranOut = true;
        Answer(panel, eGrinderEmpty);
        return;
      }
      Answer(panel, eGround);
    }
    on eBrew do (panel: machine) { Answer(panel, eBrewed); }
  }

  fun Answer(panel: machine, what: event) {
    send panel, what;
  }
}

module Espresso = { Panel, Hardware };
