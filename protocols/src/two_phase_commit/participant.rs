//! Who votes and does as is decided.

use std::collections::BTreeMap;

use dally::machine;
use dally::machines::{Addr, Cx};

use super::Decision::Abort;
use super::{Applied, Bug, Coordinator, Decided, Decision, Hello, Prepare, Query, Tx, Vote};

/// What it has on disk.
type Ledger = BTreeMap<Tx, Standing>;

/// How far a participant is with a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Standing {
    /// It voted yes and waits for the decision of this coordinator.
    Prepared(Addr<Coordinator>),
    /// It did as was decided.
    Finished(Decision),
}
use Standing::{Finished, Prepared};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Participant {
    ledger: Ledger,
    bug: Option<Bug>,
}

#[machine(states(Working), durable = Ledger)]
impl Participant {
    pub(super) fn new(bug: Option<Bug>) -> Participant {
        Participant { ledger: Ledger::new(), bug }
    }

    fn recover(self, durable: Option<Ledger>) -> Self {
        Participant { ledger: durable.unwrap_or_default(), ..self }
    }

    // When it starts there is no doubt, when it restarts there may be.
    #[entry(Working)]
    #[on(Working, Hello)]
    fn resolve_doubts(&mut self, cx: &mut Cx<Self>) {
        for (&tx, standing) in &self.ledger {
            if let &Prepared(coordinator) = standing {
                cx.send(coordinator, Query { tx, from: cx.me() });
            }
        }
    }

    #[on(Working, Prepare)]
    fn prepare(&mut self, cx: &mut Cx<Self>, Prepare { tx, coordinator }: Prepare) {
        // A vote is given once and for all: asked again, it says the same.
        let standing = match self.ledger.get(&tx) {
            Some(&standing) => standing,
            None if cx.flip() => Prepared(coordinator),
            None => Finished(Abort),
        };
        let vote = Vote { tx, from: cx.me(), yes: standing == Prepared(coordinator) };
        if self.bug == Some(Bug::VoteBeforePersist) {
            cx.send(coordinator, vote);
            self.record(cx, tx, standing);
        } else {
            self.record(cx, tx, standing);
            cx.send(coordinator, vote);
        }
    }

    #[on(Working, Decided)]
    fn finish(&mut self, cx: &mut Cx<Self>, Decided { tx, decision }: Decided) {
        let prepared = self.ledger.contains_key(&tx);
        assert!(prepared || decision == Abort, "told to commit {tx}, which it has not prepared");
        self.record(cx, tx, Finished(decision));
    }

    fn record(&mut self, cx: &mut Cx<Self>, tx: Tx, standing: Standing) {
        if self.ledger.insert(tx, standing) == Some(standing) {
            return;
        }
        cx.persist(self.ledger.clone());
        if let Finished(decision) = standing {
            cx.announce(Applied { tx, decision });
        }
    }
}
