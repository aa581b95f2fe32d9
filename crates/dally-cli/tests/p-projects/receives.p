// A receive, a raise, a halt and a message to a machine that is gone: what P's traces name.
event eAsk: (from: machine, tags: seq[string]);
event eAnswer: int;
event eEnd;

machine Other {
  start state Up {
    on eAsk do (ask: (from: machine, tags: seq[string])) {
      send ask.from, eAnswer, sizeof(ask.tags);
      raise eEnd;
    }
    on eEnd do { raise halt; }
  }
}

machine Main {
  start state S {
    entry {
      var other: machine;
      var tags: seq[string];
      other = new Other();
      tags += (0, "a");
      send other, eAsk, (from = this, tags = tags);
      receive { case eAnswer: (n: int) { print format("{0} tag", n); } }
      send other, eEnd;
    }
  }
}

spec Asked observes eAsk, eAnswer {
  start cold state Quiet { on eAsk goto Open; ignore eAnswer; }
  hot state Open { on eAnswer goto Quiet; }
}

test tcReceives [main=Main]: assert Asked in { Main, Other };
