// expect: fail hot-at-end Answered, exhaustive
// The bank answers no request that comes while it writes, which it should have deferred.
event eWithdraw: machine;
event eAnswer;
event eWritten;

machine Bank {
  start state Open { on eWithdraw goto Writing; ignore eWritten; }
  state Writing {
    entry (client: machine) { send client, eAnswer; send this, eWritten; }
    on eWritten goto Open;
    ignore eWithdraw;
  }
}
machine Client {
  start state Ask { entry (bank: machine) { send bank, eWithdraw, this; } on eAnswer goto Finished; }
  state Finished { }
}
spec Answered observes eWithdraw, eAnswer {
  var open: int;
  start cold state Quiet { on eWithdraw goto Pending with { open = open + 1; } }
  hot state Pending {
    on eWithdraw do { open = open + 1; }
    on eAnswer do { open = open - 1; if (open == 0) { goto Quiet; } }
  }
}
machine Main {
  start state S { entry { var bank: Bank; bank = new Bank(); new Client(bank); new Client(bank); } }
}
test tc [main=Main]: assert Answered in { Main, Bank, Client };
