// expect: pass
test tcThreeWorkers [main=ThreeWorkers]:
  assert MutualExclusion in (compose Server, Workers);

// expect: pass
test tcTwoClients [main=TwoTimesTwice]:
  assert MutualExclusion, NoStarvation in (compose Server, TwoClients);

// expect: pass
test tcThreeForEver [main=ThreeForEver]:
  assert MutualExclusion, NoStarvation in (compose Server, ForEver);

// expect: fail monitor: two clients are in the critical section
test tcDoubleGrant [main=ThreeWorkers]:
  assert MutualExclusion in (compose ServerDoubleGrant, Workers);

// expect: fail deadlock: LockClient
test tcOneWaiter [main=ThreeClients]:
  assert MutualExclusion in (compose ServerOneWaiter, AllClients);

// expect: fail livelock: NoStarvation
test tcStack [main=ThreeForEver]:
  assert NoStarvation in (compose ServerStack, ForEver);

// expect: fail unhandled-event: eAcquire
test tcForgetsToDefer [main=ThreeClients]:
  assert MutualExclusion in (compose ServerForgetsToDefer, AllClients);
