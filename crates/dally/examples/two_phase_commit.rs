//! Two-phase commit: a client asks a coordinator for transactions, the coordinator asks its
//! participants, and all of them commit or none does.
//!
//! `cargo run -p dally --example two_phase_commit --features host` checks it and then runs it on
//! tokio; with `-- --bug` the coordinator does not wait for all votes, and the check says so.

use std::collections::BTreeMap;
use std::time::Duration;

use dally::machines::{Addr, Cx, MachineProgram, MonitorCx};
use dally::{machine, monitor};

/// Client to coordinator: run a transaction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Begin(u32, Addr<Client>);
/// Coordinator to participants: can you commit?
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Prepare(u32, Addr<Coordinator>);
/// Participant to coordinator.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Vote {
    tx: u32,
    yes: bool,
}
/// Coordinator to participants and client.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Decision {
    tx: u32,
    commit: bool,
}
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Timeout;

/// Commits a transaction if all participants vote yes in time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Coordinator {
    participants: Vec<Addr<Participant>>,
    /// How many votes commit a transaction: those of all participants, or there is a bug.
    needed: usize,
    open: Option<Begin>,
    votes: usize,
}

#[machine(states(Idle, Voting))]
impl Coordinator {
    #[on(Idle, Begin)]
    fn begin(&mut self, cx: &mut Cx<Self>, begin: Begin) {
        for &participant in &self.participants {
            cx.send(participant, Prepare(begin.0, cx.me()));
        }
        cx.after(Duration::from_secs(1), Timeout);
        (self.open, self.votes) = (Some(begin), 0);
        cx.goto(Voting);
    }

    #[on(Voting, Vote)]
    fn vote(&mut self, cx: &mut Cx<Self>, vote: Vote) {
        if self.open.as_ref().is_none_or(|open| open.0 != vote.tx) {
            return; // A late vote on a transaction that timed out.
        }
        self.votes += 1;
        if !vote.yes || self.votes == self.needed {
            self.decide(cx, vote.yes);
        }
    }

    #[on(Voting, Timeout)]
    fn give_up(&mut self, cx: &mut Cx<Self>) {
        self.decide(cx, false);
    }

    fn decide(&mut self, cx: &mut Cx<Self>, commit: bool) {
        let Some(Begin(tx, client)) = self.open.take() else { return };
        for &participant in &self.participants {
            cx.send(participant, Decision { tx, commit });
        }
        cx.send(client, Decision { tx, commit });
        cx.cancel(&Timeout);
        cx.goto(Idle);
    }

    #[defer(Voting, Begin)] // One transaction at a time.
    #[ignore(Idle, Vote)] // It came too late.
    const RULES: () = ();
}

/// Votes on transactions, and does what was decided.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Participant;

#[machine(states(Working))]
impl Participant {
    #[on(Working, Prepare)]
    fn prepare(&mut self, cx: &mut Cx<Self>, Prepare(tx, coordinator): Prepare) {
        let yes = cx.flip(); // Both answers are explored.
        if !yes {
            cx.announce(Decision { tx, commit: false }); // It need not wait for the others.
        }
        cx.send(coordinator, Vote { tx, yes });
    }

    #[on(Working, Decision)]
    fn decided(&mut self, cx: &mut Cx<Self>, decision: Decision) {
        cx.announce(decision);
    }
}

/// Asks for a few transactions, one after another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Client {
    coordinator: Addr<Coordinator>,
    left: u32,
}

#[machine(states(Waiting))]
impl Client {
    #[entry(Waiting)]
    fn ask(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.coordinator, Begin(self.left, cx.me()));
    }

    #[on(Waiting, Decision)]
    fn answered(&mut self, cx: &mut Cx<Self>) {
        self.left -= 1;
        if self.left == 0 { cx.halt() } else { cx.goto(Waiting) }
    }
}

/// Never is a transaction committed by one participant and aborted by another.
#[derive(Clone, Hash, Debug, Default)]
struct Atomicity {
    committed: BTreeMap<u32, bool>,
}

#[monitor(states(Watching))]
impl Atomicity {
    #[on(Watching, Decision)]
    fn decision(&mut self, _: &mut MonitorCx<Self>, &Decision { tx, commit }: &Decision) {
        let first = *self.committed.entry(tx).or_insert(commit);
        assert_eq!(first, commit, "participants disagree on transaction {tx}");
    }
}

/// The same machines for every execution; `needed` is 2, or there is a bug.
fn program(needed: usize) -> MachineProgram {
    MachineProgram::new("two-phase-commit", move |setup| {
        let participants = (0..2).map(|_| setup.create(Participant)).collect();
        let coordinator = setup.create(Coordinator { participants, needed, open: None, votes: 0 });
        setup.create(Client { coordinator, left: 2 });
        setup.monitor(Atomicity::default());
    })
}

/// Checks the machines, with `--bug` those that are wrong, and then puts them to work.
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let needed = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => 2,
        ["--bug"] => 1,
        _ => {
            eprintln!("usage: two_phase_commit [--bug]");
            std::process::exit(2);
        }
    };
    dally::testing::Test::new("dally", "two_phase_commit")
        .schedules(5_000)
        .command("cargo run -p dally --example two_phase_commit -- --bug")
        .run(program(needed));
    println!("under test: in 5,000 schedules all participants agree");
    production();
}

/// The same machines on tokio.
#[cfg(feature = "host")]
fn production() {
    use dally::contract::{Event, WorkerId};
    use dally::machines::host::Host;

    // Ids are as under test: machines are numbered in the order of their creation.
    let client = WorkerId::root(3);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    let report = runtime.block_on(async {
        let host = Host::builder()
            .seed(1)
            .monitor(Atomicity::default())
            .on_event(move |worker, event| match event {
                Event::Received { payload, .. } if worker == client => {
                    println!("in production: the client got {payload}");
                }
                _ => {}
            })
            .build();
        let participants = (0..2).map(|_| host.create(Participant)).collect();
        let coordinator =
            host.create(Coordinator { participants, needed: 2, open: None, votes: 0 });
        let client = host.create(Client { coordinator, left: 5 });
        host.wait_for(client).await;
        host.shutdown().await
    });
    println!("in production: {report}");
}

#[cfg(not(feature = "host"))]
fn production() {
    println!("with --features host they also run on tokio");
}
