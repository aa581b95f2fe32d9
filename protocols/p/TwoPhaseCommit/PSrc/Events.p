// Two-phase commit: a coordinator makes all participants apply a write, or none of them.

enum tStatus { SUCCESS, ERROR, TIMEOUT }

type tTrans = (id: int, key: string, val: int);
type tWriteReq = (client: machine, trans: tTrans);
type tWriteResp = (id: int, status: tStatus);
type tReadReq = (client: machine, key: string);
type tReadResp = (key: string, val: int, status: tStatus);
type tVote = (participant: machine, id: int, status: tStatus);

// Clients and the coordinator.
event eWriteReq: tWriteReq;
event eWriteResp: tWriteResp;
event eReadReq: tReadReq;
event eReadResp: tReadResp;

// The coordinator and its participants.
event ePrepare: tTrans;
event eVote: tVote;
event eCommit: int;
event eAbort: int;
