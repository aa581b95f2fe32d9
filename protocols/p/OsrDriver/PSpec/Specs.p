// The LEDs are set only while the device has power: after the entry to D0 and before its exit is
// completed.
spec OnlyWithPower observes eD0Entry, eD0Exit, eCompleted, eSetLeds {
  var leaving: bool;

  start state Off {
    on eD0Entry goto On with { leaving = false; }
    on eSetLeds do {
      assert false, "the LEDs are set without power";
    }
    ignore eCompleted;
  }

  state On {
    on eD0Exit do { leaving = true; }
    on eCompleted do {
      if (leaving) {
        goto Off;
      }
    }
    ignore eSetLeds;
  }
}

// Every request of the operating system is completed.
spec Completes observes eD0Entry, eD0Exit, eCompleted {
  start cold state Quiet {
    on eD0Entry, eD0Exit goto Pending;
    ignore eCompleted;
  }
  hot state Pending {
    on eCompleted goto Quiet;
  }
}
