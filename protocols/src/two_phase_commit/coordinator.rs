//! Who asks, decides and remembers.

use std::collections::BTreeMap;
use std::time::Duration;

use dally::machine;
use dally::machines::{Addr, Cx};

use super::Decision::{Abort, Commit};
use super::{Begin, Bug, Client, Decided, Decision, Hello, Participant, Prepare, Query, Tx, Vote};

const PATIENCE: Duration = Duration::from_secs(1);

/// It has waited long enough for votes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Timeout;

/// What it has on disk.
pub(super) type Decisions = BTreeMap<Tx, Decision>;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Coordinator {
    client: Addr<Client>,
    participants: [Addr<Participant>; 3],
    decisions: Decisions,
    round: Option<Round>,
    bug: Option<Bug>,
}

/// The vote on one transaction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Round {
    tx: Tx,
    yes: Vec<Addr<Participant>>,
    asked_again: bool,
}

#[machine(states(Starting, Idle, Voting), durable = Decisions)]
impl Coordinator {
    pub(super) fn new(
        client: Addr<Client>,
        participants: [Addr<Participant>; 3],
        bug: Option<Bug>,
    ) -> Coordinator {
        Coordinator { client, participants, decisions: Decisions::new(), round: None, bug }
    }

    fn recover(self, durable: Option<Decisions>) -> Self {
        Coordinator { decisions: durable.unwrap_or_default(), ..self }
    }

    #[entry(Starting)]
    fn greet(&mut self, cx: &mut Cx<Self>) {
        for participant in self.participants {
            cx.send(participant, Hello { coordinator: cx.me() });
        }
        cx.send(self.client, Hello { coordinator: cx.me() });
        cx.goto(Idle);
    }

    #[on(Idle, Begin)]
    fn begin(&mut self, cx: &mut Cx<Self>, Begin { tx }: Begin) {
        if let Some(&decision) = self.decisions.get(&tx) {
            return cx.send(self.client, Decided { tx, decision });
        }
        self.round = Some(Round { tx, yes: Vec::new(), asked_again: false });
        self.ask(cx, tx);
        cx.goto(Voting);
    }

    fn ask(&mut self, cx: &mut Cx<Self>, tx: Tx) {
        for participant in self.participants {
            cx.send(participant, Prepare { tx, coordinator: cx.me() });
        }
        cx.after(PATIENCE, Timeout);
    }

    #[on(Idle | Voting, Vote)]
    fn vote(&mut self, cx: &mut Cx<Self>, Vote { tx, from, yes }: Vote) {
        let Some(round) = self.round.as_mut().filter(|round| round.tx == tx) else {
            return; // late: it is decided
        };
        if !yes {
            return self.decide(cx, tx, Abort);
        }
        if !round.yes.contains(&from) || self.bug == Some(Bug::CountsDuplicateVotes) {
            round.yes.push(from);
        }
        if round.yes.len() == self.participants.len() {
            self.decide(cx, tx, Commit);
        }
    }

    #[on(Voting, Timeout)]
    fn lose_patience(&mut self, cx: &mut Cx<Self>) {
        let Some(round) = &mut self.round else { return };
        let tx = round.tx;
        if round.asked_again {
            self.decide(cx, tx, Abort);
        } else {
            round.asked_again = true;
            self.ask(cx, tx);
        }
    }

    fn decide(&mut self, cx: &mut Cx<Self>, tx: Tx, decision: Decision) {
        self.decisions.insert(tx, decision);
        if self.bug != Some(Bug::ForgetsDecision) {
            cx.persist(self.decisions.clone());
        }
        for participant in self.participants {
            cx.send(participant, Decided { tx, decision });
        }
        cx.send(self.client, Decided { tx, decision });
        if self.bug == Some(Bug::ForgetsDecision) {
            cx.persist(self.decisions.clone());
        }
        if self.bug != Some(Bug::LeavesTimerRunning) {
            cx.cancel(&Timeout);
        }
        if self.bug != Some(Bug::CommitsAfterTimeout) || decision == Commit {
            self.round = None;
        }
        cx.goto(Idle);
    }

    #[on(Idle | Voting, Query)]
    fn answer(&mut self, cx: &mut Cx<Self>, Query { tx, from }: Query) {
        if self.round.as_ref().is_some_and(|round| round.tx == tx) {
            return; // it will hear
        }
        // Presumed abort: a commit would be on disk. So must this be, lest the client's next
        // attempt commits.
        let decision = *self.decisions.entry(tx).or_insert(Abort);
        cx.persist(self.decisions.clone());
        cx.send(from, Decided { tx, decision });
    }

    #[ignore(Voting, Begin)]
    const RULES: () = ();
}
