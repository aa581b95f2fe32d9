//! Two-phase commit with presumed abort: a coordinator, three participants and a client.
//!
//! The client begins a transaction. The coordinator asks every participant to prepare; each
//! writes its vote to disk and answers. If all vote yes the transaction commits; if one votes no,
//! or does not answer even when asked again, it aborts. The coordinator writes the decision to
//! disk, then tells everybody. A participant that voted yes is in doubt until it hears the
//! decision.
//!
//! Messages arrive unless their receiver is down. So whoever restarts makes up for what it
//! missed: a participant asks for the decisions it is in doubt about, and the coordinator greets
//! everybody, whereupon participants ask and the client repeats its request. A coordinator that
//! is asked about a transaction it has no record of has crashed before it decided, and aborts it.
//!
//! [`Atomicity`] checks that nobody commits what somebody aborts, [`Progress`] that the client
//! gets its answers, while one machine crashes and one message is doubled. See Bernstein,
//! Hadzilacos and Goodman, "Concurrency Control and Recovery in Database Systems" (1987), chapter
//! 7. The planted bugs are in [`Bug`].

use std::collections::BTreeMap;
use std::time::Duration;

use dally::machines::{Addr, Cx, Faults, MachineProgram, MonitorCx, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol, Subject};

/// A mistake in an implementation of two-phase commit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// A participant sends its yes and only then writes it to disk. If it crashes in between,
    /// it does not know the transaction that the others commit.
    VoteBeforePersist,
    /// The coordinator tells its decision and only then writes it to disk. If it crashes in
    /// between, it presumes an abort after it has told some of the participants to commit.
    ForgetsDecision,
    /// The coordinator counts votes and not voters, so a doubled vote stands for a missing one.
    CountsDuplicateVotes,
    /// The coordinator goes on counting after it has timed out and aborted.
    CommitsAfterTimeout,
    /// The coordinator does not cancel its timer when it has decided, and the timeout reaches it
    /// in a state where nobody expects one.
    LeavesTimerRunning,
    /// The client asks only once, and waits for ever if the coordinator forgets its request in a
    /// crash.
    NeverRetries,
}

impl Bug {
    /// All of them.
    pub const ALL: [Bug; 6] = [
        Bug::VoteBeforePersist,
        Bug::ForgetsDecision,
        Bug::CountsDuplicateVotes,
        Bug::CommitsAfterTimeout,
        Bug::LeavesTimerRunning,
        Bug::NeverRetries,
    ];

    fn named(name: &str) -> Option<Bug> {
        Bug::ALL.into_iter().find(|bug| bug.planted().name == name)
    }

    const fn planted(self) -> PlantedBug {
        let (name, summary) = match self {
            Bug::VoteBeforePersist => {
                ("vote-before-persist", "a participant votes yes before the vote is on disk")
            }
            Bug::ForgetsDecision => {
                ("forgets-decision", "the coordinator tells its decision before it is on disk")
            }
            Bug::CountsDuplicateVotes => {
                ("counts-duplicate-votes", "the coordinator counts votes and not voters")
            }
            Bug::CommitsAfterTimeout => {
                ("commits-after-timeout", "a late vote turns an abort into a commit")
            }
            Bug::LeavesTimerRunning => {
                ("leaves-timer-running", "the coordinator does not cancel its timer")
            }
            Bug::NeverRetries => ("never-retries", "the client sends its request only once"),
        };
        PlantedBug { name, summary }
    }
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "two-phase-commit",
    summary: "a coordinator and three participants commit or abort together, despite crashes",
    bugs: &[
        Bug::VoteBeforePersist.planted(),
        Bug::ForgetsDecision.planted(),
        Bug::CountsDuplicateVotes.planted(),
        Bug::CommitsAfterTimeout.planted(),
        Bug::LeavesTimerRunning.planted(),
        Bug::NeverRetries.planted(),
    ],
    max_steps: 500,
    program: |bug| Subject::Machines(program(bug.and_then(Bug::named))),
};

/// The protocol with its faults, with this bug or without any.
pub fn program(bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, bug)).faults(FAULTS)
}

/// Creates the machines and the monitors.
pub fn deploy(setup: &mut Setup, bug: Option<Bug>) {
    let client = setup.create(Client { coordinator: None, tx: 0, bug });
    let participants = [(); 3].map(|()| setup.create(Participant { ledger: Ledger::new(), bug }));
    let decisions = Decisions::new();
    setup.create(Coordinator { client, participants, decisions, round: None, bug });
    setup.monitor(Atomicity::default());
    setup.monitor(Progress);
}

/// What goes wrong in an execution, at most.
pub const FAULTS: Faults = Faults { lose: 0, duplicate: 1, crash: 1 };

const TRANSACTIONS: Tx = 2;
const PATIENCE: Duration = Duration::from_secs(1);

/// The number of a transaction.
pub type Tx = u32;

/// How a transaction ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Decision {
    /// Everybody makes it permanent.
    Commit,
    /// Everybody forgets it.
    Abort,
}
use Decision::{Abort, Commit};

/// To everybody: the coordinator is up, for the first time or again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Hello {
    coordinator: Addr<Coordinator>,
}

/// From the client: run this transaction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Begin {
    tx: Tx,
}

/// To a participant: can you commit?
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Prepare {
    tx: Tx,
    coordinator: Addr<Coordinator>,
}

/// From a participant: yes or no.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Vote {
    tx: Tx,
    from: Addr<Participant>,
    yes: bool,
}

/// To participants and client: the transaction ends like this.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Decided {
    tx: Tx,
    decision: Decision,
}

/// From a participant in doubt: what was the decision?
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Query {
    tx: Tx,
    from: Addr<Participant>,
}

/// The coordinator has waited long enough for votes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Timeout;

/// What the coordinator has on disk.
type Decisions = BTreeMap<Tx, Decision>;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Coordinator {
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

/// What a participant has on disk.
type Ledger = BTreeMap<Tx, Standing>;

/// How far a participant is with a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Standing {
    /// It voted yes and waits for the decision of this coordinator.
    Prepared(Addr<Coordinator>),
    /// It did as was decided.
    Finished(Decision),
}
use Standing::{Finished, Prepared};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Participant {
    ledger: Ledger,
    bug: Option<Bug>,
}

#[machine(states(Working), durable = Ledger)]
impl Participant {
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

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Client {
    coordinator: Option<Addr<Coordinator>>,
    tx: Tx,
    bug: Option<Bug>,
}

#[machine(states(Idle, Waiting, Satisfied))]
impl Client {
    #[on(Idle, Hello)]
    fn start(&mut self, cx: &mut Cx<Self>, Hello { coordinator }: Hello) {
        self.coordinator = Some(coordinator);
        cx.goto(Waiting);
    }

    #[entry(Waiting)]
    fn begin(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Begun);
        self.request(cx);
    }

    #[on(Waiting, Hello)]
    fn begin_again(&mut self, cx: &mut Cx<Self>) {
        if self.bug != Some(Bug::NeverRetries) {
            self.request(cx);
        }
    }

    fn request(&mut self, cx: &mut Cx<Self>) {
        if let Some(coordinator) = self.coordinator {
            cx.send(coordinator, Begin { tx: self.tx });
        }
    }

    #[on(Waiting, Decided)]
    fn answered(&mut self, cx: &mut Cx<Self>, Decided { tx, decision }: Decided) {
        if tx != self.tx {
            return; // a second answer to an earlier request
        }
        cx.announce(Answered { tx, decision });
        self.tx += 1;
        cx.goto(if self.tx < TRANSACTIONS { Waiting } else { Satisfied });
    }

    #[ignore(Satisfied, Hello, Decided)]
    const RULES: () = ();
}

/// Announced by a participant that has committed or aborted.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Applied {
    /// What.
    pub tx: Tx,
    /// How.
    pub decision: Decision,
}

/// Announced by the client before its request.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Begun;

/// Announced by the client when it has its answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Answered {
    /// To which request.
    pub tx: Tx,
    /// What the answer is.
    pub decision: Decision,
}

/// Safety: all participants end a transaction in the same way, and the client is told which.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Atomicity {
    ended: Decisions,
}

#[monitor(states(Watching))]
impl Atomicity {
    #[on(Watching, Applied)]
    fn applied(&mut self, _: &mut MonitorCx<Self>, Applied { tx, decision }: Applied) {
        self.check(tx, decision);
    }

    #[on(Watching, Answered)]
    fn answered(&mut self, _: &mut MonitorCx<Self>, Answered { tx, decision }: Answered) {
        self.check(tx, decision);
    }

    fn check(&mut self, tx: Tx, decision: Decision) {
        let first = *self.ended.entry(tx).or_insert(decision);
        assert_eq!(first, decision, "transaction {tx} is both committed and aborted");
    }
}

/// Liveness: the client has its answer in the end.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Progress;

#[monitor(states(Quiet, hot Waiting))]
impl Progress {
    #[goto(Quiet, Begun => Waiting)]
    #[goto(Waiting, Answered => Quiet)]
    const RULES: () = ();
}
