// A driver for the OSR learning kit, a USB board with switches and LEDs: it shows the switches on
// the LEDs once they have been quiet for a while, and takes part in the power management of the
// operating system.

// The operating system and the driver.
event eD0Entry: machine;
event eD0Exit: machine;
event eCompleted;

// The switches and the driver.
event eSwitches: int;

// The driver and the LEDs.
event eSetLeds: (driver: machine, val: int);
event eLedsSet;

// The driver and its timer.
event eStartTimer;
event eStopTimer;
event eTimerFired;
event eStopped;
event eStoppedTooLate;

enum tFlaw {
  NO_FLAW,
  // Does not keep a request to power down that comes while the LEDs are being set.
  DOES_NOT_DEFER,
  // Powers down and leaves its timer running.
  LEAVES_TIMER_RUNNING,
  // Powers down at once although the LEDs are about to be set.
  POWERS_DOWN_EARLY,
  // Waits for a timer that fired before it could be stopped, having ignored that it fired.
  WAITS_FOR_FIRED_TIMER
}

type tDriverConfig = (leds: machine, timer: Timer, flaw: tFlaw);

machine Driver {
  var flaw: tFlaw;
  var leds: machine;
  var timer: Timer;
  var os: machine;
  var switches: int;

  start state Init {
    entry (config: tDriverConfig) {
      flaw = config.flaw;
      leds = config.leds;
      timer = config.timer;
      send timer, eOwner, this;
      goto PoweredDown;
    }
    defer eD0Entry, eSwitches;
  }

  state PoweredDown {
    on eD0Entry goto Waiting with (who: machine) {
      os = who;
      send os, eCompleted;
    }
    // Nobody looks at the LEDs now.
    ignore eSwitches;
  }

  state Waiting {
    on eSwitches goto Debouncing with Note;
    on eD0Exit goto PoweringDown;
  }

  // Switches bounce: their last value counts, when the timer fires.
  state Debouncing {
    entry {
      send timer, eStartTimer;
    }
    on eSwitches do Note;
    on eTimerFired goto Updating;
    on eD0Exit do {
      if (flaw == LEAVES_TIMER_RUNNING) {
        goto PoweringDown;
      }
      if (flaw == POWERS_DOWN_EARLY) {
        send os, eCompleted;
        goto Updating;
      }
      if (flaw == WAITS_FOR_FIRED_TIMER) {
        goto StoppingTwice;
      }
      goto Stopping;
    }
  }

  state Stopping {
    entry { send timer, eStopTimer; }
    // That it fired is known from eStoppedTooLate.
    ignore eSwitches, eTimerFired;
    on eStopped, eStoppedTooLate goto PoweringDown;
  }

  // Of a flawed driver.
  state StoppingTwice {
    entry { send timer, eStopTimer; }
    ignore eSwitches, eTimerFired;
    on eStopped goto PoweringDown;
    on eStoppedTooLate goto WaitingForTimer;
  }

  state WaitingForTimer {
    ignore eSwitches;
    on eTimerFired goto PoweringDown;
  }

  state Updating {
    entry {
      send leds, eSetLeds, (driver = this, val = switches);
      if (flaw == DOES_NOT_DEFER) {
        goto UpdatingOpen;
      }
    }
    defer eSwitches, eD0Exit, eD0Entry, eTimerFired;
    on eLedsSet goto Waiting;
  }

  state UpdatingOpen {
    defer eSwitches;
    on eLedsSet goto Waiting;
  }

  state PoweringDown {
    entry {
      send os, eCompleted;
      goto PoweredDown;
    }
  }

  fun Note(val: int) {
    switches = val;
  }
}

event eOwner: Driver;

// A timer that is asked to stop says whether it was in time.
machine Timer {
  var owner: Driver;

  start state Init {
    on eOwner goto Idle with (who: Driver) { owner = who; }
    defer eStartTimer, eStopTimer;
  }

  state Idle {
    on eStartTimer goto Armed;
    on eStopTimer do { send owner, eStoppedTooLate; }
  }

  state Armed {
    on null do {
      send owner, eTimerFired;
      goto Idle;
    }
    on eStopTimer goto Idle with { send owner, eStopped; }
    ignore eStartTimer;
  }
}

module OsrDriver = { Driver, Timer };
