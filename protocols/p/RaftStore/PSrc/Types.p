// A key-value store replicated by Raft (Ongaro and Ousterhout, 2014), written as tutorials write it: long
// handlers, maps for every peer and client, payloads with pieces of logs, and a line for the
// reader at every turn.

type tPut = (client: machine, number: int, key: string, val: int);
type tEntry = (term: int, put: tPut);
type tDone = (number: int, key: string, val: int);

type tVoteReq = (term: int, candidate: Replica, lastIndex: int, lastTerm: int);
type tVoteResp = (term: int, voter: Replica, granted: bool);
type tAppend = (term: int, leader: Replica, before: int, beforeTerm: int, entries: seq[tEntry], commit: int);
type tAppendResp = (term: int, follower: Replica, success: bool, matched: int);

event eCluster: set[Replica];
event ePut: tPut;
event eDone: tDone;
event eVoteReq: tVoteReq;
event eVoteResp: tVoteResp;
event eAppend: tAppend;
event eAppendResp: tAppendResp;
event eElection;
event eHeartbeat;
event eLogAt: (replica: Replica, time: int, log: seq[tEntry]);
event eClientDone: machine;
event eShutDown;

// Told to specs.
event eLeads: (term: int, leader: Replica, log: seq[tEntry]);
event eApplied: (index: int, item: tEntry);

enum tMistake {
  NONE,
  // Takes what it has for committed without asking whether a majority has it too.
  COMMITS_ALONE,
  // Appends what the leader sends without a look at what comes before it.
  APPENDS_BLINDLY,
  // Applies a command again that a client sent twice.
  NO_CACHE
}
