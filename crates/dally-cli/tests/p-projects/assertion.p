// An assertion with a message of some length.
machine Main {
  start state S {
    entry {
      var n: int;
      assert n == 1, format("the number should be one, and it is {0}, which is not what anybody who reads this far would expect of it", n);
    }
  }
}

test tcAssertion [main=Main]: { Main };
