// A bounded buffer as a monitor with one condition: who finds it full or empty waits until it is
// woken, and then looks again.

event ePut: (client: machine, val: int);
event eGet: machine;
event eDone: int;
event eWait;
event eWoken;

enum tFlaw {
  NO_FLAW,
  // Wakes one of those that wait, which may be one that cannot go on.
  WAKES_ONE,
  // A get wakes nobody.
  GET_WAKES_NOBODY,
  // Serves those that it wakes without looking whether they can go on.
  LOOKS_ONCE
}

machine Buffer {
  var flaw: tFlaw;
  var capacity: int;
  var items: seq[int];
  var waiting: seq[machine];
  // Clients that were woken; of use to a flawed buffer only.
  var served: set[machine];

  start state Serving {
    entry (config: (capacity: int, flaw: tFlaw)) {
      capacity = config.capacity;
      flaw = config.flaw;
    }

    on ePut do (req: (client: machine, val: int)) {
      if (sizeof(items) == capacity) {
        Suspend(req.client);
        return;
      }
      items += (sizeof(items), req.val);
      Wake();
      send req.client, eDone, req.val;
    }

    on eGet do (client: machine) {
      var val: int;
      if (sizeof(items) == 0 && (flaw != LOOKS_ONCE || !(client in served))) {
        Suspend(client);
        return;
      }
      val = items[0];
      items -= (0);
      if (flaw != GET_WAKES_NOBODY) {
        Wake();
      }
      send client, eDone, val;
    }
  }

  fun Suspend(client: machine) {
    waiting += (sizeof(waiting), client);
    send client, eWait;
  }

  fun Wake() {
    while (sizeof(waiting) > 0) {
      if (flaw == LOOKS_ONCE) {
        served += (waiting[0]);
      }
      send waiting[0], eWoken;
      waiting -= (0);
      if (flaw == WAKES_ONE) {
        return;
      }
    }
  }
}

module Buffers = { Buffer };
