// Choices by `$`, of a number and of an element.
machine Main {
  start state S {
    entry {
      var names: seq[string];
      var n: int;
      names += (0, "left");
      names += (1, "right");
      n = choose(3);
      assert !($ && n == 2 && choose(names) == "right"), "that one";
    }
  }
}

test tcChoices [main=Main]: { Main };
