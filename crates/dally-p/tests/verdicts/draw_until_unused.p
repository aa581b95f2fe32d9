// expect: pass exhaustive
// Draws numbers until it has an unused one, three times.
machine Main {
  var used: set[int];
  start state S {
    entry {
      var x: int;
      while (sizeof(used) < 3) {
        x = choose(4);
        while (x in used) { x = choose(4); }
        used += (x);
      }
      assert sizeof(used) == 3;
    }
  }
}
test tcDraw [main=Main]: { Main };
