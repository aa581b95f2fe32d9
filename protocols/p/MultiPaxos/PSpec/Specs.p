// One command is chosen for a slot.
spec OneCommandPerSlot observes eChosen {
  var chosen: map[int, int];

  start state Watching {
    on eChosen do (it: (slot: int, command: int)) {
      assert !(it.slot in chosen) || chosen[it.slot] == it.command,
        format("two commands are chosen for slot {0}", it.slot);
      chosen[it.slot] = it.command;
    }
  }
}

// Commands are applied in the order of their slots, each once.
spec AppliedInOrderOnce observes eApplied {
  var latest: int;
  var commands: set[int];

  start state Watching {
    on eApplied do (it: (slot: int, command: int)) {
      assert it.slot > latest, format("slot {0} is applied after slot {1}", it.slot, latest);
      assert !(it.command in commands), format("command {0} is applied twice", it.command);
      latest = it.slot;
      commands += (it.command);
    }
  }
}
