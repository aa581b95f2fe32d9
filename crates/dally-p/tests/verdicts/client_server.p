// expect: pass
// P's first tutorial: clients withdraw until the bank refuses; each request is answered in the end, which
// a spec that counts what is open tells by sets and maps.
type tRequest = (client: Client, id: int, amount: int);
event eWithdraw: tRequest;
event eAnswer: (id: int, balance: int, done: bool);

machine Bank {
  var balances: map[Client, int];
  start state Open {
    on eWithdraw do (it: tRequest) {
      if (!(it.client in balances)) { balances[it.client] = 20; }
      if (balances[it.client] - it.amount >= 10) {
        balances[it.client] = balances[it.client] - it.amount;
        send it.client, eAnswer, (id = it.id, balance = balances[it.client], done = true);
      } else {
        send it.client, eAnswer, (id = it.id, balance = balances[it.client], done = false);
      }
    }
  }
}

machine Client {
  var bank: Bank;
  var next: int;
  start state Init { entry (server: Bank) { bank = server; goto Ask; } }
  state Ask {
    entry {
      next = next + 1;
      send bank, eWithdraw, (client = this, id = next, amount = choose(5) + 1);
    }
    on eAnswer do (it: (id: int, balance: int, done: bool)) {
      assert it.balance >= 10, format("{0} left", it.balance);
      if (it.done) { goto Ask; } else { goto Finished; }
    }
  }
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
