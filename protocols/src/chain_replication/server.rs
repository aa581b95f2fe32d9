//! Who keeps the updates.

use std::collections::BTreeSet;

use dally::machine;
use dally::machines::{Addr, Cx};

use super::{
    Answer, Applied, Bug, Configure, Fail, Failed as HasFailed, Forward, Made, Ping, Pong, Query,
    Ready, Refused, Request, Stored, Update,
};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Server {
    /// Which of the servers it is, from 1.
    number: u32,
    predecessor: Option<Addr<Server>>,
    successor: Option<Addr<Server>>,
    /// All updates, in order.
    history: Vec<Update>,
    /// The places of those that the tail is not known to have.
    sent: BTreeSet<usize>,
    bug: Option<Bug>,
}

#[machine(states(Starting, Relaying, Answering, Failed))]
impl Server {
    pub(super) fn new(number: u32, bug: Option<Bug>) -> Server {
        Server {
            number,
            predecessor: None,
            successor: None,
            history: Vec::new(),
            sent: BTreeSet::new(),
            bug,
        }
    }

    #[on(Starting, Configure)]
    fn join(&mut self, cx: &mut Cx<Self>, configure: Configure) {
        self.predecessor = configure.predecessor;
        self.successor = configure.successor;
        cx.send(configure.master, Ready { server: cx.me() });
        cx.goto(if self.successor.is_some() { Relaying } else { Answering });
    }

    #[on(Relaying, Configure)]
    fn relink(&mut self, cx: &mut Cx<Self>, configure: Configure) {
        self.predecessor = configure.predecessor;
        if self.successor == configure.successor {
            return;
        }
        self.successor = configure.successor;
        if self.successor.is_none() || self.bug == Some(Bug::AcknowledgesEarly) {
            for &place in &self.sent {
                acknowledge(cx, self.history[place]);
            }
        }
        if self.successor.is_some() {
            self.resend(cx);
        } else {
            if let Some(&last) = self.sent.last() {
                self.stored(cx, Stored { place: last });
            }
            cx.goto(Answering);
        }
    }

    fn resend(&mut self, cx: &mut Cx<Self>) {
        if self.bug == Some(Bug::ForgetsToResend) {
            return;
        }
        for &place in &self.sent {
            self.forward(cx, place);
        }
        if self.bug == Some(Bug::TwoNeighbours) {
            self.sent.clear();
        }
    }

    #[on(Answering, Configure)]
    fn new_predecessor(&mut self, _: &mut Cx<Self>, configure: Configure) {
        self.predecessor = configure.predecessor;
    }

    #[on(Relaying | Answering, Request)]
    fn request(&mut self, cx: &mut Cx<Self>, Request { update }: Request) {
        let repeated = self.history.contains(&update);
        if !repeated || self.bug == Some(Bug::TrustsRetries) {
            self.apply(cx, update);
        }
    }

    #[on(Relaying | Answering, Forward)]
    fn next(&mut self, cx: &mut Cx<Self>, Forward { place, update }: Forward) {
        let repeated = place < self.history.len();
        if !repeated || self.bug == Some(Bug::AppliesTwice) {
            self.apply(cx, update);
        } else if !self.sent.contains(&place) {
            // The predecessor was not told, since whoever should have told it has failed.
            self.tell_predecessor(cx, place);
        }
    }

    fn apply(&mut self, cx: &mut Cx<Self>, update: Update) {
        let place = self.history.len();
        self.history.push(update);
        cx.announce(Applied { server: self.number, update });
        if self.successor.is_some() {
            self.sent.insert(place);
            self.forward(cx, place);
        } else {
            acknowledge(cx, update);
            self.tell_predecessor(cx, place);
        }
    }

    fn forward(&self, cx: &mut Cx<Self>, place: usize) {
        if let Some(successor) = self.successor {
            cx.send(successor, Forward { place, update: self.history[place] });
        }
    }

    #[on(Relaying, Stored)]
    fn stored(&mut self, cx: &mut Cx<Self>, Stored { place }: Stored) {
        self.sent.retain(|&sent| sent > place);
        self.tell_predecessor(cx, place);
    }

    fn tell_predecessor(&self, cx: &mut Cx<Self>, place: usize) {
        if let Some(predecessor) = self.predecessor {
            cx.send(predecessor, Stored { place });
        }
    }

    #[on(Answering, Query)]
    fn query(&mut self, cx: &mut Cx<Self>, Query { after }: Query) {
        cx.send(after.client, Answer { after, history: self.history.clone() });
    }

    #[on(Relaying | Answering, Ping)]
    fn ping(&mut self, cx: &mut Cx<Self>, Ping { master }: Ping) {
        cx.send(master, Pong { server: cx.me() });
    }

    #[on(Starting | Relaying | Answering, Fail)]
    fn fail(&mut self, cx: &mut Cx<Self>) {
        cx.announce(HasFailed { server: self.number });
        // Nobody will see what it had.
        *self = Server::new(self.number, self.bug);
        cx.goto(Failed);
    }

    #[on(Failed, Ping)]
    fn refuse_ping(&mut self, cx: &mut Cx<Self>, Ping { master }: Ping) {
        cx.send(master, Refused { server: cx.me() });
    }

    #[on(Failed, Configure)]
    fn refuse(&mut self, cx: &mut Cx<Self>, Configure { master, .. }: Configure) {
        cx.send(master, Refused { server: cx.me() });
    }

    #[ignore(Failed, Request, Forward, Stored, Query)]
    const RULES: () = ();
}

fn acknowledge(cx: &mut Cx<Server>, update: Update) {
    cx.send(update.client, Made { update });
}
