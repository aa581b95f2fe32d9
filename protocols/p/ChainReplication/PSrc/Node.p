enum tNodeFlaw {
  NO_FLAW,
  // The head answers the client before the rest of the chain has the write.
  ACKS_AT_HEAD,
  // A new successor is not sent the writes that the dead one may have swallowed.
  NEVER_RESENDS,
  // A write that comes twice, since it was sent again, is applied twice.
  APPLIES_DUPLICATES,
  // A node that becomes the tail does not answer the writes that its dead successor had.
  TAIL_FORGETS_PENDING,
  // The head has no handler for what only the other nodes were meant to be told.
  HEAD_TAKES_NO_FORWARD
}

machine ChainNode {
  var flaw: tNodeFlaw;
  var pred: machine;
  var succ: machine;
  var isHead: bool;
  var isTail: bool;
  var val: int;
  var applied: seq[int];
  var pending: seq[tWrite];

  start state Init {
    entry (config: (flaw: tNodeFlaw, isHead: bool, isTail: bool)) {
      flaw = config.flaw;
      isHead = config.isHead;
      isTail = config.isTail;
      if (flaw == HEAD_TAKES_NO_FORWARD && isHead) {
        goto HeadOnly;
      }
      goto Serving;
    }
  }

  state Serving {
    on eWrite do (write: tWrite) {
      assert isHead, "writes enter at the head";
      Take(write);
    }
    on eForward do Take;
    on eForwardAck do Acked;
    on eRead do Read;
    on ePredecessor do (node: machine) { pred = node; }
    on eSuccessor do (node: machine) {
      var write: tWrite;
      succ = node;
      if (flaw != NEVER_RESENDS) {
        foreach (write in pending) {
          send succ, eForward, write;
        }
      }
    }
    on eBecomeHead do { isHead = true; }
    on eBecomeTail do {
      var write: tWrite;
      isTail = true;
      if (flaw != TAIL_FORGETS_PENDING) {
        foreach (write in pending) {
          Answer(write);
        }
      }
      pending = default(seq[tWrite]);
    }
    on eDie do { raise halt; }
  }

  // Of a flawed head: nobody thought of it as the last node left.
  state HeadOnly {
    on eWrite do Take;
    on eForwardAck do Acked;
    on ePredecessor do (node: machine) { pred = node; }
    on eSuccessor do (node: machine) { succ = node; }
    on eDie do { raise halt; }
  }

  fun Take(write: tWrite) {
    if (write.id in applied && flaw != APPLIES_DUPLICATES) {
      // The client asks again, or the predecessor sends again: make sure that it is answered.
      if (isTail) {
        Answer(write);
      } else {
        Pass(write);
      }
      return;
    }
    val = write.val;
    applied += (sizeof(applied), write.id);
    announce eApplied, (node = this, id = write.id);
    if (isTail) {
      Answer(write);
    } else {
      pending += (sizeof(pending), write);
      Pass(write);
      if (flaw == ACKS_AT_HEAD && isHead) {
        send write.client, eWritten, write.id;
      }
    }
  }

  fun Pass(write: tWrite) {
    if (succ != null) {
      send succ, eForward, write;
    }
  }

  fun Answer(write: tWrite) {
    send write.client, eWritten, write.id;
    if (!isHead && pred != null) {
      send pred, eForwardAck, write.id;
    }
  }

  fun Acked(id: int) {
    var i: int;
    while (i < sizeof(pending)) {
      if (pending[i].id == id) {
        pending -= (i);
        break;
      }
      i = i + 1;
    }
    if (!isHead && pred != null) {
      send pred, eForwardAck, id;
    }
  }

  fun Read(client: machine) {
    assert isTail, "reads go to the tail";
    send client, eReadResp, val;
  }
}
