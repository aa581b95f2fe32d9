// Agreement: no second value is ever learned.
spec OneValue observes eLearned {
  var chosen: int;

  start state Nothing {
    on eLearned goto Chosen with (val: int) {
      chosen = val;
    }
  }

  state Chosen {
    on eLearned do (val: int) {
      assert val == chosen, format("a second value is learned: {0} after {1}", val, chosen);
    }
  }
}

// Validity: what is learned was proposed.
spec Validity observes eAccept, eLearned {
  var proposed: set[int];

  start state Watching {
    on eAccept do (req: tAccept) {
      proposed += (req.proposal.val);
    }
    on eLearned do (val: int) {
      assert val in proposed, "what is learned was proposed";
    }
  }
}

// Covered when a value was learned although two proposers were at work.
scenario SomethingIsLearned observes eLearned {
  start state Nothing {
    on eLearned goto Learned;
  }
  cold state Learned {
    ignore eLearned;
  }
}
