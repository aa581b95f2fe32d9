// Brewing starts only with the door shut, as far as the panel has been told.
spec NoBrewingWithDoorOpen observes eDoorSeen, eBrew {
  start state Shut {
    on eDoorSeen do (isOpen: bool) {
      if (isOpen) {
        goto Open;
      }
    }
    ignore eBrew;
  }
  state Open {
    on eDoorSeen do (isOpen: bool) {
      if (!isOpen) {
        goto Shut;
      }
    }
    on eBrew do {
      assert false, "brewing starts with the door open";
    }
  }
}

event eDoorSeen: bool;

// Every order is served or refused.
spec OrdersAreAnswered observes eOrder, eCoffee, eRefused {
  var open: int;

  start cold state Quiet {
    on eOrder goto Waiting with { open = 1; }
  }
  hot state Waiting {
    on eOrder do { open = open + 1; }
    on eCoffee, eRefused do Answered;
  }

  fun Answered() {
    open = open - 1;
    if (open == 0) {
      goto Quiet;
    }
  }
}

// Somebody got a coffee after a refusal.
scenario CoffeeInTheEnd observes eRefused, eCoffee {
  start state Nothing {
    on eRefused goto Refused;
    ignore eCoffee;
  }
  state Refused {
    on eCoffee goto Drinking;
    ignore eRefused;
  }
  cold state Drinking {
    ignore eRefused, eCoffee;
  }
}
