type tClientConfig = (bank: IBank, request: int, amount: int, impatient: bool);

// Withdraws once. An impatient client sends its request again before it is answered.
machine Client
receives eAnswer;
sends eWithdraw;
{
  var request: int;

  start state Init {
    entry (config: tClientConfig) {
      var req: tWithdraw;
      request = config.request;
      req = (client = this, request = config.request, account = 1, amount = config.amount);
      send config.bank, eWithdraw, req;
      if (config.impatient && $) {
        send config.bank, eWithdraw, req;
      }
    }
    on eAnswer do (answer: tAnswer) {
      assert answer.request == request, "the answer is to the question";
    }
  }
}

type tSystem = (clients: int, amount: int, impatient: bool, flaw: tFlaw);

// Ten coins are in the account.
fun SetUp(system: tSystem) {
  var bank: IBank;
  var balances: map[int, int];
  var i: int;
  balances[1] = 10;
  announce eDeposit, 10;
  bank = new IBank((database = new Database(balances), flaw = system.flaw));
  while (i < system.clients) {
    i = i + 1;
    new Client((bank = bank, request = i, amount = system.amount, impatient = system.impatient));
  }
}

machine TwoClients {
  start state Init {
    entry { SetUp((clients = 2, amount = 4, impatient = false, flaw = NO_FLAW)); }
  }
}
machine Impatient {
  start state Init { entry { SetUp((clients = 2, amount = 4, impatient = true, flaw = NO_FLAW)); } }
}
machine Interleaves {
  start state Init {
    entry { SetUp((clients = 2, amount = 4, impatient = false, flaw = INTERLEAVES)); }
  }
}
machine AllowsOverdraft {
  start state Init {
    entry { SetUp((clients = 2, amount = 7, impatient = false, flaw = ALLOWS_OVERDRAFT)); }
  }
}
machine ServesTwice {
  start state Init {
    entry { SetUp((clients = 1, amount = 4, impatient = true, flaw = SERVES_TWICE)); }
  }
}

// expect: pass
test tcTwoClients [main=TwoClients]:
  assert MoneyAddsUp, Answered in (union Bank, { Client, TwoClients });

// expect: pass
test tcImpatient [main=Impatient]:
  assert MoneyAddsUp, Answered in (union Bank, { Client, Impatient });

// expect: pass
test tcAbstractBank [main=Impatient]:
  assert MoneyAddsUp, Answered in (union Abstract, { Client, Impatient });

// expect: fail monitor: a withdrawal is lost
test tcInterleaves [main=Interleaves]:
  assert MoneyAddsUp in (union Bank, { Client, Interleaves });

// expect: fail monitor: the balance is -4
test tcAllowsOverdraft [main=AllowsOverdraft]:
  assert MoneyAddsUp in (union Bank, { Client, AllowsOverdraft });

// expect: fail monitor: is served twice
test tcServesTwice [main=ServesTwice]:
  assert MoneyAddsUp in (union Bank, { Client, ServesTwice });
