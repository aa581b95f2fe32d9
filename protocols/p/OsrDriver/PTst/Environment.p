// The operating system: powers the device up and down some times.
machine PowerManager {
  start state Init {
    entry (config: (driver: machine, cycles: int)) {
      var n: int;
      while (n < config.cycles) {
        send config.driver, eD0Entry, this;
        receive { case eCompleted: { } }
        send config.driver, eD0Exit, this;
        receive { case eCompleted: { } }
        n = n + 1;
      }
    }
  }
}

// Somebody plays with the switches.
machine Switches {
  start state Init {
    entry (config: (driver: machine, changes: int)) {
      var n: int;
      while (n < config.changes) {
        n = n + 1;
        send config.driver, eSwitches, n;
      }
    }
  }
}

machine Leds {
  start state Ready {
    on eSetLeds do (it: (driver: machine, val: int)) {
      send it.driver, eLedsSet;
    }
  }
}

fun SetUp(cycles: int, changes: int, flaw: tFlaw) {
  var driver: machine;
  driver = new Driver((leds = new Leds(), timer = new Timer(), flaw = flaw));
  new PowerManager((driver = driver, cycles = cycles));
  new Switches((driver = driver, changes = changes));
}

module Environment = { PowerManager, Switches, Leds };
