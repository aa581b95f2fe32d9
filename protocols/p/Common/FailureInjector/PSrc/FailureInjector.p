// Stops some nodes, any of them, at any moment: the schedule decides when this machine runs, and
// `choose` decides whom it stops.

event eShutDown;

type tFailures = (nodes: set[machine], count: int);

machine FailureInjector
sends eShutDown;
{
  start state Init {
    entry (failures: tFailures) {
      var alive: set[machine];
      var left: int;
      var victim: machine;

      alive = failures.nodes;
      left = failures.count;
      while (left > 0 && sizeof(alive) > 0) {
        victim = choose(alive);
        send victim, eShutDown;
        alive -= victim;
        left = left - 1;
      }
      raise halt;
    }
  }
}

module Failures = { FailureInjector };
