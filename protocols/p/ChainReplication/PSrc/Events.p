// Chain replication (van Renesse and Schneider, OSDI 2004): updates enter at the head, travel down
// the chain and are answered by the tail; reads go to the tail. A master takes failed nodes out.

type tWrite = (client: machine, id: int, val: int);

event eWrite: tWrite;
event eWritten: int;
event eRead: machine;
event eReadResp: int;

// Node to successor, and the acknowledgement on its way back.
event eForward: tWrite;
event eForwardAck: int;

// The master and the nodes.
event ePredecessor: machine;
event eSuccessor: machine;
event eBecomeHead;
event eBecomeTail;
event eFailed: machine;

// The master and the client.
event eEnds: (first: machine, last: machine);

// A node dies.
event eDie;

// Told to specs: a node has applied a write.
event eApplied: (node: machine, id: int);
