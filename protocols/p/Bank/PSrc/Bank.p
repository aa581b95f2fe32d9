// A bank whose server keeps the balances in a database that answers later: reading and writing one
// account are two messages.

type tWithdraw = (client: machine, request: int, account: int, amount: int);
type tAnswer = (request: int, ok: bool, balance: int);

event eWithdraw: tWithdraw;
event eAnswer: tAnswer;
event eReadBalance: (server: machine, account: int);
event eBalance: (account: int, balance: int);
event eWriteBalance: (account: int, balance: int);

enum tFlaw {
  NO_FLAW,
  // Takes the next request before the one at hand is written.
  INTERLEAVES,
  // Checks the balance as it was, not as it will be.
  ALLOWS_OVERDRAFT,
  // Does not know a request that is sent again.
  SERVES_TWICE
}

interface IBank((database: Database, flaw: tFlaw)) receives eWithdraw, eBalance;

machine BankServer
receives eWithdraw, eBalance;
sends eAnswer, eReadBalance, eWriteBalance;
{
  var database: Database;
  var flaw: tFlaw;
  var open: seq[tWithdraw];
  var answered: map[(machine, int), tAnswer];

  start state Init {
    entry (config: (database: Database, flaw: tFlaw)) {
      database = config.database;
      flaw = config.flaw;
      goto Ready;
    }
    defer eWithdraw;
  }

  state Ready {
    on eWithdraw do (req: tWithdraw) {
      if ((req.client, req.request) in answered && flaw != SERVES_TWICE) {
        send req.client, eAnswer, answered[(req.client, req.request)];
        return;
      }
      Begin(req);
      goto Reading;
    }
  }

  state Reading {
    on eWithdraw do (req: tWithdraw) {
      // Only one request may be at work; but a machine cannot defer now and then, so it keeps the
      // others itself.
      if (flaw == INTERLEAVES) {
        Begin(req);
      } else {
        open += (sizeof(open), req);
      }
    }
    on eBalance do (it: (account: int, balance: int)) {
      Serve(open[0], it.balance);
      open -= (0);
      if (sizeof(open) == 0) {
        goto Ready;
      }
      if (flaw != INTERLEAVES) {
        Resume();
      }
    }
  }

  fun Begin(req: tWithdraw) {
    open += (sizeof(open), req);
    send database, eReadBalance, (server = this, account = req.account);
  }

  // Goes on with the next request that was kept.
  fun Resume() {
    var req: tWithdraw;
    while (sizeof(open) > 0) {
      req = open[0];
      if (!((req.client, req.request) in answered) || flaw == SERVES_TWICE) {
        send database, eReadBalance, (server = this, account = req.account);
        return;
      }
      send req.client, eAnswer, answered[(req.client, req.request)];
      open -= (0);
    }
    goto Ready;
  }

  fun Serve(req: tWithdraw, balance: int) {
    var answer: tAnswer;
    if (balance - req.amount >= 0 || (flaw == ALLOWS_OVERDRAFT && balance > 0)) {
      send database, eWriteBalance, (account = req.account, balance = balance - req.amount);
      answer = (request = req.request, ok = true, balance = balance - req.amount);
    } else {
      answer = (request = req.request, ok = false, balance = balance);
    }
    answered[(req.client, req.request)] = answer;
    send req.client, eAnswer, answer;
  }
}

machine Database
receives eReadBalance, eWriteBalance;
sends eBalance;
{
  var balances: map[int, int];

  start state Serving {
    entry (initial: map[int, int]) {
      balances = initial;
    }
    on eReadBalance do (req: (server: machine, account: int)) {
      assert req.account in balances, "the account exists";
      send req.server, eBalance, (account = req.account, balance = balances[req.account]);
    }
    on eWriteBalance do (it: (account: int, balance: int)) {
      balances[it.account] = it.balance;
    }
  }
}

// What the clients may rely on, and no more: serves each request at once, in one place.
machine AbstractBank
receives eWithdraw, eBalance;
sends eAnswer, eReadBalance, eWriteBalance;
{
  var left: int;
  var answered: map[(machine, int), tAnswer];

  start state Serving {
    entry (config: (database: Database, flaw: tFlaw)) {
      left = 10;
    }
    on eWithdraw do (req: tWithdraw) {
      var ok: bool;
      if (!((req.client, req.request) in answered)) {
        ok = left >= req.amount;
        if (ok) {
          left = left - req.amount;
        }
        answered[(req.client, req.request)] = (request = req.request, ok = ok, balance = left);
      }
      send req.client, eAnswer, answered[(req.client, req.request)];
    }
  }
}

module Bank = compose { BankServer -> IBank }, { Database };
module Abstract = union { AbstractBank -> IBank }, { Database };
