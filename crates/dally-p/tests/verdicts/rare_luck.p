// expect: cut
// Twenty heads in a row end it. Even coins take two million flips for that, and since flips are counted no
// state comes back; but a coin that mostly comes up heads is as fair, so nobody is to blame.
event eFlip;
event eStarted;
event eDone;

machine Main {
  var row: int;
  var flips: int;
  start state Flipping {
    entry { announce eStarted; send this, eFlip; }
    on eFlip do {
      flips = flips + 1;
      if ($) { row = row + 1; } else { row = 0; }
      if (row == 20) { announce eDone; } else { send this, eFlip; }
    }
  }
}

spec Ends observes eStarted, eDone {
  start state Quiet { on eStarted goto Waiting; }
  hot state Waiting { on eDone goto Over; }
  cold state Over { }
}

test tcLuck [main=Main]: assert Ends in { Main };
