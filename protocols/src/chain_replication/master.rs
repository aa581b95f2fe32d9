//! Who sets up the chain and repairs it.

use std::collections::BTreeSet;

use dally::machine;
use dally::machines::{Addr, Cx};

use super::{Bug, Client, Configure, Ping, Pong, Ready, Refused, Route, Server};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Master {
    /// Who is not known to have failed, from head to tail.
    chain: Vec<Addr<Server>>,
    clients: Vec<Addr<Client>>,
    /// Who has not answered yet.
    silent: BTreeSet<Addr<Server>>,
    /// How many rounds of pings are left.
    rounds: u32,
    bug: Option<Bug>,
}

#[machine(states(Starting, Resting, Pinging, Retired))]
impl Master {
    pub(super) fn new(
        chain: Vec<Addr<Server>>,
        clients: Vec<Addr<Client>>,
        rounds: u32,
        bug: Option<Bug>,
    ) -> Master {
        Master { chain, clients, silent: BTreeSet::new(), rounds, bug }
    }

    #[entry(Starting)]
    fn set_up(&mut self, cx: &mut Cx<Self>) {
        for place in 0..self.chain.len() {
            self.configure(cx, place);
        }
        self.silent = self.chain.iter().copied().collect();
    }

    #[on(Starting, Ready)]
    fn ready(&mut self, cx: &mut Cx<Self>, Ready { server }: Ready) {
        self.heard_of(cx, server);
    }

    #[on(Starting, Refused)]
    fn refused_at_start(&mut self, cx: &mut Cx<Self>, Refused { server }: Refused) {
        if let Some(place) = self.take_out(server) {
            self.relink(cx, place);
        }
        self.heard_of(cx, server);
    }

    fn heard_of(&mut self, cx: &mut Cx<Self>, server: Addr<Server>) {
        self.silent.remove(&server);
        if self.silent.is_empty() {
            cx.hint("stable");
            self.route(cx);
            cx.goto(Resting);
        }
    }

    #[default(Resting)]
    fn ping(&mut self, cx: &mut Cx<Self>) {
        // The last server does not fail.
        if self.rounds == 0 || self.chain.len() == 1 {
            return cx.goto(Retired);
        }
        self.rounds -= 1;
        for &server in &self.chain {
            cx.send(server, Ping { master: cx.me() });
        }
        self.silent = self.chain.iter().copied().collect();
        cx.goto(Pinging);
    }

    #[on(Pinging, Pong)]
    fn pong(&mut self, cx: &mut Cx<Self>, Pong { server }: Pong) {
        self.answered(cx, server);
    }

    #[on(Pinging, Refused)]
    fn refused(&mut self, cx: &mut Cx<Self>, Refused { server }: Refused) {
        self.repair(cx, server);
        self.answered(cx, server);
    }

    fn answered(&mut self, cx: &mut Cx<Self>, server: Addr<Server>) {
        self.silent.remove(&server);
        if self.silent.is_empty() {
            cx.goto(Resting);
        }
    }

    #[on(Resting | Retired, Refused)]
    fn refused_out_of_turn(&mut self, cx: &mut Cx<Self>, Refused { server }: Refused) {
        self.repair(cx, server);
    }

    /// Repairs the chain that clients use.
    fn repair(&mut self, cx: &mut Cx<Self>, failed: Addr<Server>) {
        let Some(place) = self.take_out(failed) else { return };
        let at_an_end = place == 0 || place == self.chain.len();
        if self.bug == Some(Bug::RoutesFirst) && at_an_end {
            self.route(cx);
        }
        self.relink(cx, place);
        if self.bug != Some(Bug::RoutesFirst) && at_an_end {
            self.route(cx);
        }
    }

    /// Where a server was that is taken out of the chain, if it was still there.
    fn take_out(&mut self, failed: Addr<Server>) -> Option<usize> {
        let place = self.chain.iter().position(|&server| server == failed)?;
        self.chain.remove(place);
        Some(place)
    }

    /// Makes neighbours of the servers before and after a place where one was taken out.
    fn relink(&self, cx: &mut Cx<Self>, place: usize) {
        // The successor first, so that it knows whom to answer when it is sent things again.
        if place < self.chain.len() {
            self.configure(cx, place);
        }
        if place > 0 {
            self.configure(cx, place - 1);
        }
    }

    fn configure(&self, cx: &mut Cx<Self>, place: usize) {
        let neighbours = Configure {
            master: cx.me(),
            predecessor: place.checked_sub(1).map(|before| self.chain[before]),
            successor: self.chain.get(place + 1).copied(),
        };
        cx.send(self.chain[place], neighbours);
    }

    fn route(&self, cx: &mut Cx<Self>) {
        if let [head, ..] = self.chain[..]
            && let [.., tail] = self.chain[..]
        {
            for &client in &self.clients {
                cx.send(client, Route { head, tail });
            }
        }
    }
}
