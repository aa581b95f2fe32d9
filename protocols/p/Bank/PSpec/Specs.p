event eDeposit: int;

// The balances that clients are told add up: money leaves the account once for every request that
// succeeds, and never more than there is.
spec MoneyAddsUp observes eDeposit, eAnswer {
  var left: int;
  var withdrawn: map[int, int];

  start state Empty {
    on eDeposit goto Open with (amount: int) { left = amount; }
  }

  state Open {
    on eAnswer do (answer: tAnswer) {
      assert answer.balance >= 0, format("the balance is {0}", answer.balance);
      if (!answer.ok) {
        return;
      }
      if (answer.request in withdrawn) {
        assert withdrawn[answer.request] == answer.balance,
          format("request {0} is served twice", answer.request);
        return;
      }
      assert answer.balance < left, format("a withdrawal is lost: {0} is left", answer.balance);
      left = answer.balance;
      withdrawn[answer.request] = answer.balance;
    }
  }
}

// Every request is answered.
spec Answered observes eWithdraw, eAnswer {
  var open: set[int];

  start cold state Quiet {
    on eWithdraw goto Waiting with (req: tWithdraw) { open += (req.request); }
    ignore eAnswer;
  }
  hot state Waiting {
    on eWithdraw do (req: tWithdraw) { open += (req.request); }
    on eAnswer do (answer: tAnswer) {
      open -= answer.request;
      if (sizeof(open) == 0) {
        goto Quiet;
      }
    }
  }
}
