type tCustomerConfig = (panel: machine, orders: int);

// Orders, and brings beans if there are none.
machine Customer {
  start state Init {
    entry (config: tCustomerConfig) {
      var n: int;
      while (n < config.orders) {
        n = n + 1;
        send config.panel, eOrder, this;
        receive {
          case eCoffee: {
            print format("coffee number {0}", n);
          }
          case eRefused: (reason: tReason) {
            if (reason == NO_BEANS) {
              send config.panel, eRefilled;
            }
          }
        }
      }
    }
  }
}

// Opens the door and shuts it again.
machine Child {
  start state Init {
    entry (config: (panel: machine, times: int)) {
      var n: int;
      while (n < config.times) {
        send config.panel, eDoor, true;
        send config.panel, eDoor, false;
        n = n + 1;
      }
    }
  }
}

fun SetUp(orders: int, doors: int, flaw: tFlaw) {
  var panel: machine;
  panel = new Panel((hardware = new Hardware(), flaw = flaw));
  new Customer((panel = panel, orders = orders));
  if (doors > 0) {
    new Child((panel = panel, times = doors));
  }
}

machine TwoOrders { start state Init { entry { SetUp(2, 1, NO_FLAW); } } }
machine ManyOrders { start state Init { entry { SetUp(4, 3, NO_FLAW); } } }
machine ExpectsShutDoor { start state Init { entry { SetUp(1, 1, EXPECTS_SHUT_DOOR); } } }
machine BrewsWithDoorOpen { start state Init { entry { SetUp(1, 1, BREWS_WITH_DOOR_OPEN); } } }
machine ForgetsOrder { start state Init { entry { SetUp(1, 1, FORGETS_ORDER); } } }
machine StaysInTrouble { start state Init { entry { SetUp(2, 0, STAYS_IN_TROUBLE); } } }

module System = union Espresso, { Customer, Child };

// expect: pass
test tcTwoOrders [main=TwoOrders]:
  assert NoBrewingWithDoorOpen, OrdersAreAnswered in (union System, { TwoOrders });

// expect: pass
test tcManyOrders [main=ManyOrders]:
  assert NoBrewingWithDoorOpen, OrdersAreAnswered in (union System, { ManyOrders });

// expect: fail unhandled-event: eDoor
test tcExpectsShutDoor [main=ExpectsShutDoor]:
  assert OrdersAreAnswered in (union System, { ExpectsShutDoor });

// expect: fail monitor: brewing starts with the door open
test tcBrewsWithDoorOpen [main=BrewsWithDoorOpen]:
  assert NoBrewingWithDoorOpen in (union System, { BrewsWithDoorOpen });

// expect: fail deadlock: Customer
test tcForgetsOrder [main=ForgetsOrder]:
  union System, { ForgetsOrder };

// expect: fail deadlock: Customer
test tcStaysInTrouble [main=StaysInTrouble]:
  assert OrdersAreAnswered in (union System, { StaysInTrouble });
