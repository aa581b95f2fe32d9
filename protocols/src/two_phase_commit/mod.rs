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

mod client;
mod coordinator;
mod participant;

use std::sync::Arc;

use dally::machines::{Addr, Faults, MachineProgram, MonitorCx, Setup};
use dally::monitor;

use crate::registry::{PlantedBug, Protocol};
use client::Client;
use coordinator::{Coordinator, Decisions};
use participant::Participant;

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
    program: |bug| Arc::new(program(bug.and_then(Bug::named))),
};

/// The protocol with its faults, with this bug or without any.
pub fn program(bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, bug)).faults(FAULTS)
}

/// Creates the machines and the monitors.
pub fn deploy(setup: &mut Setup, bug: Option<Bug>) {
    let client = setup.create(Client::new(bug));
    let participants = [(); 3].map(|()| setup.create(Participant::new(bug)));
    setup.create(Coordinator::new(client, participants, bug));
    setup.monitor(Atomicity::default());
    setup.monitor(Progress);
}

/// What goes wrong in an execution, at most.
pub const FAULTS: Faults = Faults { lose: 0, duplicate: 1, crash: 1 };

const TRANSACTIONS: Tx = 2;

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
