// How many nodes there are, and how far their numbers are turned against their order in the ring.
param nodes, turn: int;
// Whether the numbers rise or fall along the ring.
param rising: bool;

fun SetUp(count: int, shift: int, up: bool, flaw: tFlaw) {
  var ring: seq[machine];
  var i: int;
  var id: int;
  while (i < count) {
    id = 1 + (i + shift) % count;
    if (!up) {
      id = count + 1 - id;
    }
    ring += (i, new RingNode((id = id, flaw = flaw)));
    i = i + 1;
  }
  announce eElecting;
  i = 0;
  while (i < count) {
    send ring[i], eNext, ring[(i + 1) % count];
    i = i + 1;
  }
}

machine AnyRing { start state Init { entry { SetUp(nodes, turn, rising, NO_FLAW); } } }
machine PassesAll { start state Init { entry { SetUp(3, 0, true, PASSES_ALL); } } }
machine StopsAll { start state Init { entry { SetUp(2, 0, true, STOPS_ALL); } } }
machine WinsEarly { start state Init { entry { SetUp(3, 0, true, WINS_EARLY); } } }

// expect: pass
test param (nodes in [2, 3], turn in [0, 1], rising in [true, false]) tcAnyRing [main=AnyRing]:
  assert OneLeader, SomeLeader in (union Ring, { AnyRing });

// expect: pass
test param (nodes in [2, 3, 4], turn in [0, 2], rising in [true, false])
  pairwise tcLargerRings [main=AnyRing]:
  assert OneLeader in (union Ring, { AnyRing });

// expect: fail monitor: is a second leader
test tcPassesAll [main=PassesAll]:
  assert OneLeader in (union Ring, { PassesAll });

// expect: fail hot-at-end: SomeLeader
test tcStopsAll [main=StopsAll]:
  assert SomeLeader in (union Ring, { StopsAll });

// expect: fail monitor: is a second leader
test tcWinsEarly [main=WinsEarly]:
  assert OneLeader in (union Ring, { WinsEarly });
