// expect: pass exhaustive
// `choose` of numbers, sequences, sets and maps, `$` and `$$`, and an enum that is drawn.
enum tColour { RED = 1, GREEN = 5 }
machine Main {
  start state S {
    entry {
      var colours: seq[tColour];
      var names: map[tColour, string];
      var picked: tColour;
      colours += (0, RED); colours += (1, GREEN);
      names[RED] = "red"; names[GREEN] = "green";
      picked = choose(colours);
      assert picked == RED || names[picked] == "green";
      picked = choose(names);
      assert choose(4) < 4 && choose(keys(names)) in names;
      if ($ && !$$) { goto S; }
    }
  }
}
test tc [main=Main]: { Main };
