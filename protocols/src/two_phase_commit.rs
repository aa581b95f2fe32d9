//! Two-phase commit with presumed abort: a coordinator, three participants and a client.
//!
//! The client begins a transaction. The coordinator asks every participant to prepare; each
//! writes its vote to disk and answers. If all vote yes in time the transaction commits, else
//! it aborts; the coordinator writes the decision to disk, then tells everybody. A participant
//! that voted yes is in doubt until it hears the decision, and asks for it again and again. A
//! coordinator that is asked about a transaction it knows nothing of, because it crashed before
//! it decided, aborts it. The client repeats its request until it has an answer.
//!
//! So the protocol survives the faults it runs with: a crash and restart of any participant or of
//! the coordinator, one lost message and one doubled message. [`Atomicity`] checks that nobody
//! commits what others abort, or what not everybody voted for; [`Progress`] that the client gets
//! its answer. See Bernstein, Hadzilacos and Goodman, "Concurrency Control and Recovery in
//! Database Systems", chapter 7. The planted bugs are in [`Bug`].

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
    /// The client asks only once, and waits for ever if the coordinator crashes.
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
    max_steps: 2000,
    program: |bug| Subject::Machines(program(bug.and_then(Bug::named))),
};

/// The protocol with its faults, with this bug or without any.
pub fn program(bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, bug)).faults(FAULTS)
}

/// Creates the machines and the monitors.
pub fn deploy(setup: &mut Setup, bug: Option<Bug>) {
    let participants = (0..PARTICIPANTS)
        .map(|_| setup.create(Participant { ledger: Ledger::new(), bug }))
        .collect();
    let coordinator =
        setup.create(Coordinator { participants, decisions: Decisions::new(), round: None, bug });
    setup.create(Client { coordinator, tx: 0, bug });
    setup.monitor(Atomicity::default());
    setup.monitor(Progress);
}

/// What goes wrong in every execution, at most.
pub const FAULTS: Faults = Faults { lose: 1, duplicate: 1, crash: 1 };

const PARTICIPANTS: usize = 3;
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

/// From the client: run this transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Begin {
    tx: Tx,
    client: Addr<Client>,
}

/// To the client: this is how it ended.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Outcome {
    tx: Tx,
    decision: Decision,
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

/// To a participant: this is the decision.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Decide {
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

/// A participant has waited long enough for the decision.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct InDoubt {
    tx: Tx,
}

/// The client has waited long enough for its answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Retry;

/// What the coordinator has on disk.
type Decisions = BTreeMap<Tx, Decision>;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Coordinator {
    participants: Vec<Addr<Participant>>,
    decisions: Decisions,
    round: Option<Round>,
    bug: Option<Bug>,
}

/// The votes on the transaction at hand.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Round {
    request: Begin,
    yes: Vec<Addr<Participant>>,
}

#[machine(states(Idle, Voting), durable = Decisions)]
impl Coordinator {
    fn recover(self, durable: Option<Decisions>) -> Self {
        Coordinator { decisions: durable.unwrap_or_default(), ..self }
    }

    #[on(Idle, Begin)]
    fn begin(&mut self, cx: &mut Cx<Self>, request: Begin) {
        let Begin { tx, client } = request;
        if let Some(&decision) = self.decisions.get(&tx) {
            return cx.send(client, Outcome { tx, decision });
        }
        self.round = Some(Round { request, yes: Vec::new() });
        for &participant in &self.participants {
            cx.send(participant, Prepare { tx, coordinator: cx.me() });
        }
        cx.after(PATIENCE, Timeout);
        cx.goto(Voting);
    }

    #[on(Voting, Vote)]
    fn vote(&mut self, cx: &mut Cx<Self>, Vote { tx, from, yes }: Vote) {
        let Some(round) = self.round.as_mut().filter(|round| round.request.tx == tx) else {
            return; // late, for an earlier transaction
        };
        if !yes {
            return self.decide(cx, Abort);
        }
        if !round.yes.contains(&from) || self.bug == Some(Bug::CountsDuplicateVotes) {
            round.yes.push(from);
        }
        if round.yes.len() == self.participants.len() {
            self.decide(cx, Commit);
        }
    }

    #[on(Voting, Timeout)]
    fn give_up(&mut self, cx: &mut Cx<Self>) {
        self.decide(cx, Abort);
    }

    fn decide(&mut self, cx: &mut Cx<Self>, decision: Decision) {
        let Some(Round { request: Begin { tx, client }, .. }) = self.round else { return };
        self.decisions.insert(tx, decision);
        if self.bug != Some(Bug::ForgetsDecision) {
            cx.persist(self.decisions.clone());
        }
        for &participant in &self.participants {
            cx.send(participant, Decide { tx, decision });
        }
        cx.send(client, Outcome { tx, decision });
        if self.bug == Some(Bug::ForgetsDecision) {
            cx.persist(self.decisions.clone());
        }
        if self.bug != Some(Bug::LeavesTimerRunning) {
            cx.cancel(&Timeout);
        }
        if self.bug != Some(Bug::CommitsAfterTimeout) || decision == Commit {
            self.round = None;
            cx.goto(Idle);
        }
    }

    #[on(Idle, Query)]
    fn answer(&mut self, cx: &mut Cx<Self>, Query { tx, from }: Query) {
        // Presumed abort: a decision to commit would be on disk. This one must be too, lest the
        // client's next attempt commits.
        let decision = *self.decisions.entry(tx).or_insert(Abort);
        cx.persist(self.decisions.clone());
        cx.send(from, Decide { tx, decision });
    }

    // Whoever asks while a vote is on will ask again.
    #[ignore(Voting, Begin, Query)]
    #[ignore(Idle, Vote)]
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

    // At the start there is nothing to do; after a crash there may be.
    #[entry(Working)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        for (&tx, standing) in &self.ledger {
            if let Prepared(_) = standing {
                cx.every(PATIENCE, InDoubt { tx });
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

    #[on(Working, Decide)]
    fn finish(&mut self, cx: &mut Cx<Self>, Decide { tx, decision }: Decide) {
        let prepared = self.ledger.contains_key(&tx);
        assert!(prepared || decision == Abort, "told to commit {tx}, which it has not prepared");
        self.record(cx, tx, Finished(decision));
    }

    #[on(Working, InDoubt)]
    fn ask(&mut self, cx: &mut Cx<Self>, InDoubt { tx }: InDoubt) {
        if let Some(&Prepared(coordinator)) = self.ledger.get(&tx) {
            cx.send(coordinator, Query { tx, from: cx.me() });
        }
    }

    fn record(&mut self, cx: &mut Cx<Self>, tx: Tx, standing: Standing) {
        if self.ledger.insert(tx, standing) == Some(standing) {
            return;
        }
        cx.persist(self.ledger.clone());
        match standing {
            Prepared(_) => cx.every(PATIENCE, InDoubt { tx }),
            Finished(decision) => {
                cx.cancel(&InDoubt { tx });
                cx.announce(Applied { tx, decision });
            }
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Client {
    coordinator: Addr<Coordinator>,
    tx: Tx,
    bug: Option<Bug>,
}

#[machine(states(Waiting, Satisfied))]
impl Client {
    #[entry(Waiting)]
    fn begin(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Begun);
        self.request(cx);
        if self.bug != Some(Bug::NeverRetries) {
            cx.every(PATIENCE, Retry);
        }
    }

    #[on(Waiting, Retry)]
    fn request(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.coordinator, Begin { tx: self.tx, client: cx.me() });
    }

    #[on(Waiting, Outcome)]
    fn answered(&mut self, cx: &mut Cx<Self>, Outcome { tx, decision }: Outcome) {
        if tx != self.tx {
            return; // a second answer to an earlier request
        }
        cx.announce(Answered { tx, decision });
        cx.cancel(&Retry);
        self.tx += 1;
        cx.goto(if self.tx < TRANSACTIONS { Waiting } else { Satisfied });
    }

    #[ignore(Satisfied, Outcome)]
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
