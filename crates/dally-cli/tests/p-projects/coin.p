// A foreign function that a file of stubs gives a body.
fun Coin(): bool;
fun Pick(from: seq[int], most: int): int;

machine Main {
  start state S {
    entry {
      var numbers: seq[int];
      numbers += (0, 10);
      numbers += (1, 20);
      if (Coin()) { assert Pick(numbers, 1) == 10, "twenty was picked"; }
    }
  }
}

test tcCoin [main=Main]: { Main };
