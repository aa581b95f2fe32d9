//! The models of the comparison as actors of stateright: the form that its users write, with its
//! timers and its ordered network.
//!
//! Stateright hashes a set of timers without its length, and the sets of all actors one after the
//! other. So states in which different actors have the same timer are taken for one. Here the
//! timer of every actor is another, and no state is lost.

use std::borrow::Cow;

use stateright::Expectation;
use stateright::actor::{Actor, ActorModel, Id, Network, Out, model_timeout};

use super::Phase;

/// The election in a ring of so many processes.
pub fn ring(processes: usize) -> ActorModel<Process> {
    let process =
        |me: usize| Process { id: (processes - me) as u8, next: ((me + 1) % processes).into() };
    ActorModel::new((), ())
        .actors((0..processes).map(process))
        .init_network(Network::new_ordered([]))
        .property(Expectation::Always, "at most one leader", |_, state| {
            state.actor_states.iter().filter(|process| process.leader).count() <= 1
        })
}

/// A process of the ring.
#[derive(Clone)]
pub struct Process {
    id: u8,
    next: Id,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Elected {
    done: bool,
    leader: bool,
}

/// The start of the process with this identity.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Start(u8);

impl Actor for Process {
    type Msg = u8;
    type Timer = Start;
    type State = Elected;
    type Storage = ();
    type Random = ();

    fn on_start(&self, _: Id, _: &Option<()>, out: &mut Out<Process>) -> Elected {
        out.set_timer(Start(self.id), model_timeout());
        Elected::default()
    }

    fn on_timeout(&self, _: Id, _: &mut Cow<Elected>, _: &Start, out: &mut Out<Process>) {
        out.send(self.next, self.id);
    }

    fn on_msg(&self, _: Id, state: &mut Cow<Elected>, _: Id, message: u8, out: &mut Out<Process>) {
        if message > self.id {
            out.send(self.next, message);
        } else if message == self.id {
            *state.to_mut() = Elected { done: true, leader: true };
            out.send(self.next, 0);
        } else if message == 0 && !state.done {
            state.to_mut().done = true;
            out.send(self.next, 0);
        }
    }
}

/// Two-phase commit with so many participants.
pub fn commit(participants: usize) -> ActorModel<Party> {
    let all: Vec<Id> = (1..=participants).map(Id::from).collect();
    ActorModel::new((), ())
        .actor(Party::Coordinator(all))
        .actors((0..participants).map(|_| Party::Participant))
        .init_network(Network::new_ordered([]))
        .property(Expectation::Always, "nobody commits what another aborts", |_, state| {
            let any = |phase: Phase| {
                state.actor_states.iter().any(|party| **party == Stage::Participant(phase))
            };
            !(any(Phase::Committed) && any(Phase::Aborted))
        })
}

/// Who takes part: the first is the coordinator.
#[derive(Clone)]
pub enum Party {
    /// It knows the participants.
    Coordinator(Vec<Id>),
    Participant,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// And how many have said yes.
    Coordinator(Phase, u8),
    Participant(Phase),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Message {
    Prepare,
    Yes,
    No,
    Commit,
    Abort,
}

/// The timeout of one party.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Timeout(Id);

impl Actor for Party {
    type Msg = Message;
    type Timer = Timeout;
    type State = Stage;
    type Storage = ();
    type Random = ();

    fn on_start(&self, me: Id, _: &Option<()>, out: &mut Out<Party>) -> Stage {
        out.set_timer(Timeout(me), model_timeout());
        match self {
            Party::Coordinator(participants) => {
                out.broadcast(participants, &Message::Prepare);
                Stage::Coordinator(Phase::Init, 0)
            }
            Party::Participant => Stage::Participant(Phase::Init),
        }
    }

    fn on_timeout(&self, _: Id, state: &mut Cow<Stage>, _: &Timeout, out: &mut Out<Party>) {
        match state.to_mut() {
            Stage::Coordinator(phase, _) | Stage::Participant(phase) => *phase = Phase::Aborted,
        }
        if let Party::Coordinator(participants) = self {
            out.broadcast(participants, &Message::Abort);
        }
    }

    fn on_msg(
        &self,
        me: Id,
        state: &mut Cow<Stage>,
        from: Id,
        message: Message,
        out: &mut Out<Party>,
    ) {
        match (self, &**state, message) {
            (Party::Coordinator(participants), &Stage::Coordinator(Phase::Init, yes), answer) => {
                let yes = yes + u8::from(answer == Message::Yes);
                let phase = match answer {
                    Message::Yes if usize::from(yes) < participants.len() => Phase::Init,
                    Message::Yes => Phase::Committed,
                    _ => Phase::Aborted,
                };
                *state.to_mut() = Stage::Coordinator(phase, yes);
                if phase != Phase::Init {
                    let all = phase == Phase::Committed;
                    let decision = if all { Message::Commit } else { Message::Abort };
                    out.cancel_timer(Timeout(me));
                    out.broadcast(participants, &decision);
                }
            }
            (Party::Participant, Stage::Participant(Phase::Init), Message::Prepare) => {
                *state.to_mut() = Stage::Participant(Phase::Ready);
                out.cancel_timer(Timeout(me));
                out.send(from, Message::Yes);
            }
            (Party::Participant, Stage::Participant(Phase::Aborted), Message::Prepare) => {
                out.send(from, Message::No);
            }
            (Party::Participant, _, decision @ (Message::Commit | Message::Abort)) => {
                let committed = decision == Message::Commit;
                let phase = if committed { Phase::Committed } else { Phase::Aborted };
                *state.to_mut() = Stage::Participant(phase);
                out.cancel_timer(Timeout(me));
            }
            _ => {}
        }
    }
}
