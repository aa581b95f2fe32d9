//! What is around the servers: the manager that builds the cluster, and its client.

use dally::machine;
use dally::machines::{Addr, Cx};

use super::server::{Configure, Server, ShutDown};
use super::{Answered, Bug};

const SERVERS: usize = 5;

/// A command for the replicated log, sent to the manager and on to the leader.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Request {
    pub client: Addr<Client>,
    pub command: usize,
}

/// The command of the client is in the log of a majority.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Response;

/// A server tells the manager that it leads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NewLeader {
    pub leader: Addr<Server>,
    pub term: u32,
}

/// The cluster is set up: the client may send its request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ready;

/// Builds the cluster, hands requests to the leader, and shuts all down in the end.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Manager {
    depth: u32,
    bug: Option<Bug>,
    servers: Vec<Addr<Server>>,
    leader: Option<NewLeader>,
}

#[machine(states(Building, Leaderless, Available))]
impl Manager {
    /// A manager whose servers have election timers of this depth.
    pub fn new(depth: u32, bug: Option<Bug>) -> Manager {
        Manager { depth, bug, servers: Vec::new(), leader: None }
    }

    #[entry(Building)]
    fn build(&mut self, cx: &mut Cx<Self>) {
        for _ in 0..SERVERS {
            self.servers.push(cx.create(Server::new(cx.me(), self.depth, self.bug)));
        }
        let client = cx.create(Client { manager: cx.me() });
        for &server in &self.servers {
            cx.send(server, Configure { servers: self.servers.clone() });
        }
        cx.send(client, Ready);
        cx.goto(Leaderless);
    }

    #[on(Leaderless, NewLeader)]
    fn first_leader(&mut self, cx: &mut Cx<Self>, leader: NewLeader) {
        self.leader = Some(leader);
        cx.goto(Available);
    }

    #[on(Available, NewLeader)]
    fn next_leader(&mut self, _: &mut Cx<Self>, new: NewLeader) {
        if self.leader.is_none_or(|leader| leader.term < new.term) {
            self.leader = Some(new);
        }
    }

    #[on(Available, Request)]
    fn request(&mut self, cx: &mut Cx<Self>, request: Request) {
        if let Some(NewLeader { leader, .. }) = self.leader {
            cx.send(leader, request);
        }
    }

    #[on(Available, ShutDown)]
    fn shut_down(&mut self, cx: &mut Cx<Self>) {
        for &server in &self.servers {
            cx.send(server, ShutDown);
        }
        cx.halt();
    }

    #[defer(Leaderless, Request)]
    const RULES: () = ();
}

/// Sends one request, and ends the cluster when it is answered.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Client {
    manager: Addr<Manager>,
}

#[machine(states(Waiting))]
impl Client {
    #[on(Waiting, Ready)]
    fn ask(&mut self, cx: &mut Cx<Self>) {
        let request = Request { client: cx.me(), command: cx.choose(5) };
        cx.send(self.manager, request);
    }

    #[on(Waiting, Response)]
    fn answered(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Answered);
        cx.send(self.manager, ShutDown);
        cx.halt();
    }
}
