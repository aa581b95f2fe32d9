//! What servers say to each other.

use dally::machines::Addr;

use super::log::{Entry, Position};
use super::server::Server;

/// A candidate asks for a vote.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VoteRequest {
    pub term: u32,
    pub candidate: Addr<Server>,
    pub last: Position,
}

/// The answer to a [`VoteRequest`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VoteResponse {
    pub term: u32,
    pub voter: Addr<Server>,
    pub granted: bool,
}

/// The leader replicates the entries that follow `previous` in its log.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AppendRequest {
    pub term: u32,
    pub leader: Addr<Server>,
    pub previous: Position,
    pub entries: Vec<Entry>,
    pub committed: usize,
}

/// The answer to an [`AppendRequest`]: how much of the leader's log the server has now, or
/// nothing if the logs differ at `previous`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AppendResponse {
    pub term: u32,
    pub server: Addr<Server>,
    pub matched: Option<usize>,
}
