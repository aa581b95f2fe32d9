//! A server of the cluster: follower, candidate or leader.

use std::collections::BTreeMap;
use std::hash::Hash;

use dally::machine;
use dally::machines::{Addr, Cx};

use super::cluster::{Manager, NewLeader, Request, Response};
use super::log::{Entry, Log};
use super::messages::{AppendRequest, AppendResponse, VoteRequest, VoteResponse};
use super::timers::{ElectionTimeout, ElectionTimer, PeriodicTimeout, PeriodicTimer, Start, Stop};
use super::{Bug, Elected};

/// Tells a server who is in the cluster, itself included.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Configure {
    pub servers: Vec<Addr<Server>>,
}

/// The work is done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ShutDown;

/// A Raft server, after Figure 2 of Ongaro and Ousterhout, "In Search of an Understandable
/// Consensus Algorithm".
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Server {
    manager: Addr<Manager>,
    depth: u32,
    bug: Option<Bug>,
    others: Vec<Addr<Server>>,
    timers: Option<Timers>,
    term: u32,
    voted_for: Option<Addr<Server>>,
    leader: Option<Addr<Server>>,
    log: Log,
    /// As candidate: who voted for it, itself included.
    votes: Vec<Addr<Server>>,
    /// As leader: how much of its log it believes that each other server has.
    next: BTreeMap<Addr<Server>, usize>,
    /// As leader: how much of its log it knows that each other server has.
    matched: BTreeMap<Addr<Server>, usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Timers {
    election: Addr<ElectionTimer>,
    periodic: Addr<PeriodicTimer>,
}

#[machine(states(Unconfigured, Follower, Candidate, Leader))]
impl Server {
    /// A server that knows nobody yet, with an election timer of this depth.
    pub fn new(manager: Addr<Manager>, depth: u32, bug: Option<Bug>) -> Server {
        Server {
            manager,
            depth,
            bug,
            others: Vec::new(),
            timers: None,
            term: 0,
            voted_for: None,
            leader: None,
            log: Log::default(),
            votes: Vec::new(),
            next: BTreeMap::new(),
            matched: BTreeMap::new(),
        }
    }

    #[observe]
    fn standing(&self) -> impl Hash {
        (self.term, self.voted_for, self.leader, self.votes.len(), &self.log)
    }

    #[on(Unconfigured, Configure)]
    fn configure(&mut self, cx: &mut Cx<Self>, Configure { servers }: Configure) {
        let (server, depth) = (cx.me(), self.depth);
        self.others = servers.into_iter().filter(|&other| other != server).collect();
        self.timers = Some(Timers {
            election: cx.create(ElectionTimer { server, depth, counted: 0 }),
            periodic: cx.create(PeriodicTimer { server }),
        });
        cx.goto(Follower);
    }

    #[entry(Follower)]
    fn start_election_timer(&mut self, cx: &mut Cx<Self>) {
        if let Some(timers) = self.timers {
            cx.send(timers.election, Start);
        }
    }

    #[entry(Candidate)]
    fn campaign(&mut self, cx: &mut Cx<Self>) {
        self.adopt(self.term + 1);
        self.voted_for = Some(cx.me());
        self.votes = vec![cx.me()];
        self.start_election_timer(cx);
        self.ask_for_votes(cx);
    }

    #[on(Candidate, PeriodicTimeout)]
    fn ask_for_votes(&mut self, cx: &mut Cx<Self>) {
        if let Some(timers) = self.timers {
            cx.send(timers.periodic, Start);
        }
        for &other in &self.others {
            let (term, last) = (self.term, self.log.end());
            cx.send(other, VoteRequest { term, candidate: cx.me(), last });
        }
    }

    #[on(Follower, VoteRequest)]
    fn vote_as_follower(&mut self, cx: &mut Cx<Self>, request: VoteRequest) {
        self.adopt(request.term);
        self.vote(cx, request);
    }

    #[on(Candidate | Leader, VoteRequest)]
    fn vote_as_rival(&mut self, cx: &mut Cx<Self>, request: VoteRequest) {
        let outdated = self.adopt(request.term);
        self.vote(cx, request);
        if outdated {
            cx.goto(Follower);
        }
    }

    fn vote(&mut self, cx: &mut Cx<Self>, request: VoteRequest) {
        let VoteRequest { term, candidate, last } = request;
        let mine = self.log.end();
        let granted = term >= self.term
            && self.voted_for.is_none_or(|other| other == candidate)
            && mine.length <= last.length
            && mine.term <= last.term;
        if granted {
            self.voted_for = Some(candidate);
        }
        cx.send(candidate, VoteResponse { term: self.term, voter: cx.me(), granted });
    }

    #[on(Candidate, VoteResponse)]
    fn count_vote(&mut self, cx: &mut Cx<Self>, response: VoteResponse) {
        let VoteResponse { term, voter, granted } = response;
        if self.adopt(term) {
            return cx.goto(Follower);
        }
        if term < self.term || !granted {
            return;
        }
        if !self.votes.contains(&voter) || self.bug == Some(Bug::DuplicateVotes) {
            self.votes.push(voter);
        }
        if self.votes.len() >= self.majority() {
            cx.goto(Leader);
        }
    }

    #[entry(Leader)]
    fn lead(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Elected { term: self.term });
        cx.send(self.manager, NewLeader { leader: cx.me(), term: self.term });
        self.next = self.others.iter().map(|&other| (other, self.log.end().length)).collect();
        self.matched = self.others.iter().map(|&other| (other, 0)).collect();
        self.replicate(cx);
    }

    #[on(Leader, Request)]
    fn append(&mut self, cx: &mut Cx<Self>, request: Request) {
        self.log.push(Entry { term: self.term, request });
        self.replicate(cx);
    }

    #[on(Follower | Candidate, Request)]
    fn redirect(&mut self, cx: &mut Cx<Self>, request: Request) {
        match self.leader {
            Some(leader) => cx.send(leader, request),
            None => cx.send(self.manager, request),
        }
    }

    fn replicate(&mut self, cx: &mut Cx<Self>) {
        for &other in &self.others {
            self.replicate_to(cx, other);
        }
    }

    fn replicate_to(&self, cx: &mut Cx<Self>, other: Addr<Server>) {
        let next = self.next[&other];
        let request = AppendRequest {
            term: self.term,
            leader: cx.me(),
            previous: self.log.position(next),
            entries: self.log.entries_after(next),
            committed: self.log.committed(),
        };
        cx.send(other, request);
    }

    #[on(Follower, AppendRequest)]
    fn append_as_follower(&mut self, cx: &mut Cx<Self>, request: AppendRequest) {
        self.adopt(request.term);
        self.append_entries(cx, request);
    }

    /// The original of Mukherjee et al., "Learning-Based Controlled Concurrency Testing" gives up a
    /// campaign only for a newer term, not for the leader of its own. That is safe, since such a
    /// campaign is lost, and it is kept, since it makes two leaders likelier where votes are
    /// counted twice.
    #[on(Candidate | Leader, AppendRequest)]
    fn append_as_rival(&mut self, cx: &mut Cx<Self>, request: AppendRequest) {
        let outdated = self.adopt(request.term);
        self.append_entries(cx, request);
        if outdated {
            cx.goto(Follower);
        }
    }

    fn append_entries(&mut self, cx: &mut Cx<Self>, request: AppendRequest) {
        let AppendRequest { term, leader, previous, entries, committed } = request;
        let mut matched = None;
        if term == self.term {
            self.leader = Some(leader);
            matched = self.log.replicate(previous, entries);
            self.log.commit(committed.min(matched.unwrap_or(0)));
        }
        cx.send(leader, AppendResponse { term: self.term, server: cx.me(), matched });
    }

    #[on(Leader, AppendResponse)]
    fn appended(&mut self, cx: &mut Cx<Self>, response: AppendResponse) {
        let AppendResponse { term, server, matched } = response;
        if self.adopt(term) {
            return cx.goto(Follower);
        }
        if term < self.term {
            return;
        }
        let Some(length) = matched else {
            // The logs differ there: try one entry earlier. All agree before the first.
            let next = self.next[&server].saturating_sub(1);
            self.next.insert(server, next);
            return self.replicate_to(cx, server);
        };
        self.next.insert(server, length);
        self.matched.insert(server, length);
        for entry in self.log.commit(self.replicated()) {
            cx.send(entry.request.client, Response);
        }
    }

    /// How much of the log a majority has, as far as this leader may commit it: an entry of an
    /// earlier term is committed only along with one of its own (section 5.4.2 of the paper).
    fn replicated(&self) -> usize {
        let mut lengths: Vec<usize> = self.matched.values().copied().collect();
        lengths.push(self.log.end().length);
        lengths.sort_unstable();
        let length = lengths[lengths.len() - self.majority()];
        if self.log.position(length).term == self.term { length } else { self.log.committed() }
    }

    #[on(Follower | Leader, VoteResponse)]
    fn late_vote(&mut self, cx: &mut Cx<Self>, response: VoteResponse) {
        if self.adopt(response.term) {
            cx.goto(Follower);
        }
    }

    #[on(Follower | Candidate, AppendResponse)]
    fn late_append(&mut self, cx: &mut Cx<Self>, response: AppendResponse) {
        if self.adopt(response.term) {
            cx.goto(Follower);
        }
    }

    #[on(_, ShutDown)]
    fn shut_down(&mut self, cx: &mut Cx<Self>) {
        if let Some(timers) = self.timers {
            cx.send(timers.election, Stop);
            cx.send(timers.periodic, Stop);
        }
        cx.halt();
    }

    /// Takes over a newer term, in which it has not voted and knows no leader. Answers whether
    /// the term was newer.
    fn adopt(&mut self, term: u32) -> bool {
        let newer = term > self.term;
        if newer {
            self.term = term;
            self.voted_for = None;
            self.leader = None;
        }
        newer
    }

    fn majority(&self) -> usize {
        let servers = self.others.len() + 1;
        servers / 2 + 1
    }

    #[goto(Follower | Candidate, ElectionTimeout => Candidate)]
    #[ignore(Leader, ElectionTimeout)]
    #[ignore(Follower | Leader, PeriodicTimeout)]
    #[defer(Unconfigured, VoteRequest, AppendRequest, Request)]
    const RULES: () = ();
}
