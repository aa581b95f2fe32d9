// A foreign function for the crate that `dally p new-foreign` writes.
type Dice;
event eRolled: int;
fun NewDice(sides: int): Dice;
fun Roll(dice: Dice, at: int): int;

machine Player {
  var rolls: int;
  fun Luck(n: int): bool;
  start state S {
    entry (n: int) {
      var at: int;
      rolls = n;
      while (at < rolls) {
        if (Luck(at)) { send this, eRolled, Roll(NewDice(6), at); }
        at = at + 1;
      }
    }
    on eRolled do (n: int) { assert n < 6; }
  }
}

machine Nobody { start state S { entry { new Player(0); } } }


test tcNobodyRolls [main=Nobody]: { Nobody, Player };

