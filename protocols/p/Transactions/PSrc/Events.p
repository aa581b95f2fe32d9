// A transaction manager over stores that are replicated: two-phase commit between the stores, and
// inside each of them a primary copy and a backup. The replicas of a store are its own business:
// its module hides them and the events that they exchange.

type tWrite = (id: int, val: int);

// Clients and the manager.
event eBegin: (client: machine, write: tWrite);
event eOutcome: (id: int, committed: bool);

// The manager and the stores.
event ePrepare: (manager: machine, write: tWrite);
event eVote: (store: machine, id: int, yes: bool);
event eCommit: int;
event eAbort: int;
event eFetch: machine;
event eFetched: any;

// A store and its replicas.
event eCopy: (store: machine, write: tWrite);
event eCopied: (replica: machine, id: int);
event eApply: int;
event eDrop: int;
event eLook: machine;
event eSeen: int;

// Failures.
event eReplicas: set[machine];
event eDie;
event eReplicaDown: machine;

// What may be asked of a store.
eventset sStore = { ePrepare, eCommit, eAbort, eFetch, eReplicaDown, eCopied, eSeen };

interface IStore((observer: machine, flaw: tStoreFlaw))
  receives ePrepare, eCommit, eAbort, eFetch, eReplicaDown, eCopied, eSeen;
interface IReplica() receives eCopy, eApply, eDrop, eLook, eDie;
