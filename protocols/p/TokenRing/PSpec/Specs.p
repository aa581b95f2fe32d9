spec MutualExclusion observes eEnter, eLeave {
  start state Empty {
    on eEnter goto Occupied;
  }
  state Occupied {
    on eEnter do (id: int) {
      assert false, format("node {0} enters while another works", id);
    }
    on eLeave goto Empty;
  }
}

// A token that was lost is replaced in the end.
spec Recovers observes eLost, eEnter {
  start cold state Turning {
    on eLost goto Stopped;
    ignore eEnter;
  }
  hot state Stopped {
    on eEnter goto Turning;
  }
}
