// expect: pass exhaustive
// A payload passes through `any`, with its fields in another order and one too many.
event ePair: (a: int, b: int);
event eNested: (x: (a: int, b: int), all: seq[(a: int, b: int)]);
fun Pass(whom: machine, what: event, load: any) { send whom, what, load; }
machine Main {
  var seen: int;
  start state S {
    entry {
      var pair: any;
      var cast: (a: int, b: int);
      var some: seq[(b: int, a: int)];
      pair = (b = 1, a = 2);
      cast = pair as (a: int, b: int);
      assert cast.a == 2 && cast.b == 1;
      some += (0, (b = 3, a = 4));
      Pass(this, ePair, (b = 1, a = 2));
      Pass(this, ePair, (b = 1, c = "more", a = 2));
      Pass(this, eNested, (all = some, x = (b = 5, a = 6)));
    }
    on ePair do (p: (a: int, b: int)) { assert p.a == 2 && p.b == 1; seen = seen + 1; }
    on eNested do (p: (x: (a: int, b: int), all: seq[(a: int, b: int)])) {
      assert p.x.a == 6 && p.x.b == 5 && p.all[0].a == 4 && seen == 2;
    }
  }
}
test tcFields [main=Main]: { Main };
