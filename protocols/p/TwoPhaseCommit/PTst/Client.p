type tClientConfig = (coordinator: machine, name: int, writes: int, reads: bool);

// Writes some values, one at a time, and reads back each that succeeded.
machine Client {
  start state Init {
    entry (config: tClientConfig) {
      var n: int;
      var trans: tTrans;
      var answer: tStatus;

      while (n < config.writes) {
        n = n + 1;
        trans = (
          id = config.name * 100 + n,
          key = format("{0}", choose(2)),
          val = config.name * 10 + n
        );
        send config.coordinator, eWriteReq, (client = this, trans = trans);
        receive {
          case eWriteResp: (resp: tWriteResp) {
            assert resp.id == trans.id, "the answer is to the question";
            answer = resp.status;
          }
        }
        if (config.reads) {
          send config.coordinator, eReadReq, (client = this, key = trans.key);
          receive {
            case eReadResp: (resp: tReadResp) { }
          }
        }
      }
    }
  }
}

module Clients = { Client };
