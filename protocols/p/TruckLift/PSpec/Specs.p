// A lift moves only when all are in its mode, and no two are more than a step apart.
spec Together observes eLifts, eMode, eMoved {
  var modes: map[int, tMode];
  var heights: map[int, int];

  start state Init {
    on eLifts goto Watching with (n: int) {
      var i: int;
      while (i < n) {
        i = i + 1;
        modes[i] = STANDBY;
        heights[i] = 0;
      }
    }
  }

  state Watching {
    on eMode do (it: (lift: int, mode: tMode)) {
      modes[it.lift] = it.mode;
    }
    on eMoved do (it: (lift: int, mode: tMode, height: int)) {
      var mode: tMode;
      var height: int;
      foreach (mode in values(modes)) {
        assert mode == it.mode,
          format("lift {0} moves and another lift does not go with it", it.lift);
      }
      heights[it.lift] = it.height;
      foreach (height in values(heights)) {
        assert height - it.height <= 1 && it.height - height <= 1,
          "the lifts are a step apart at most";
      }
    }
  }
}

// All lifts are in standby in the end.
spec Rests observes eMode {
  var busy: set[int];

  start cold state Resting {
    on eMode do Note;
  }

  hot state Busy {
    on eMode do Note;
  }

  fun Note(it: (lift: int, mode: tMode)) {
    if (it.mode == STANDBY) {
      busy -= it.lift;
    } else {
      busy += (it.lift);
    }
    if (sizeof(busy) == 0) {
      goto Resting;
    }
    goto Busy;
  }
}
