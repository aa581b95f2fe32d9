// Foreign functions of all kinds of results, and one that a spec uses.
enum Answer { Yes = 1, No = 2, Maybe = 7 }
type Blob;
event eTold: int;
fun Coin(): bool;
fun Ask(n: int): Answer;
fun Both(): (a: bool, b: Answer);
fun Number(): int;
fun Make(): Blob;
fun Log(what: string);
fun Limit(): bool;

machine Main {
  start state S {
    entry {
      var both: (a: bool, b: Answer);
      Log("begins");
      announce eTold, Number();
      both = Both();
      if (Coin() && Ask(1) == Maybe && both.a) {
        assert both.b != No, "the wrong answer";
      }
    }
  }
}

spec Watches observes eTold {
  start state S { on eTold do (n: int) { assert !Limit() && n == 0; } }
}

test tcAutomatic [main=Main]: assert Watches in { Main };
