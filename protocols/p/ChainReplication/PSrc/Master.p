// Knows the chain, hears of failures and tells the neighbours and the client.
machine Master {
  var chain: seq[machine];
  var client: machine;

  start state Init {
    entry (config: (chain: seq[machine], client: machine)) {
      var i: int;
      chain = config.chain;
      client = config.client;
      while (i + 1 < sizeof(chain)) {
        send chain[i], eSuccessor, chain[i + 1];
        send chain[i + 1], ePredecessor, chain[i];
        i = i + 1;
      }
      send client, eEnds, (first = chain[0], last = chain[sizeof(chain) - 1]);
      goto Watching;
    }
  }

  state Watching {
    on eFailed do (node: machine) {
      var at: int;
      at = Position(node);
      chain -= (at);
      assert sizeof(chain) > 0, "a node is left";
      if (at == 0) {
        send chain[0], eBecomeHead;
      } else if (at == sizeof(chain)) {
        send chain[at - 1], eBecomeTail;
      } else {
        send chain[at], ePredecessor, chain[at - 1];
        send chain[at - 1], eSuccessor, chain[at];
      }
      send client, eEnds, (first = chain[0], last = chain[sizeof(chain) - 1]);
    }
  }

  fun Position(node: machine): int {
    var i: int;
    while (chain[i] != node) {
      i = i + 1;
    }
    return i;
  }
}

module Chain = { ChainNode, Master };
