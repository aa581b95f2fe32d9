// A machine with states that are not reached, for diagrams and coverage.
event eNext;
event eBreak;
event eOdd;

machine Light {
  start state Red { on eNext goto Green; ignore eOdd; }
  state Green { on eNext do { goto Red; } on eBreak goto Broken; defer eOdd; }
  state Broken { entry { goto Dark; } }
  state Dark { on eNext do { } }
}

machine Main {
  start state S {
    entry {
      var light: machine;
      light = new Light();
      send light, eNext;
      send light, eNext;
    }
  }
}

spec Works observes eNext, eBreak {
  start cold state Fine { ignore eNext; on eBreak goto Out; }
  hot state Out { ignore eNext, eBreak; }
}

test tcLights [main=Main]: assert Works in { Main, Light };
