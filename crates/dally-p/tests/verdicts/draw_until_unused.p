// expect: pass exhaustive
// Draws numbers until it has an unused one, five times.
machine Main {
  var used: set[int];
  start state S {
    entry {
      var x: int;
      while (sizeof(used) < 5) {
        x = choose(6);
        while (x in used) { x = choose(6); }
        used += (x);
      }
      assert sizeof(used) == 5;
    }
  }
}
test tcDraw [main=Main]: { Main };
