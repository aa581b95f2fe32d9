//! The models of the comparison, written for stateright: as its actors, as models by hand with
//! vectors, and with our flat states.

pub mod actors;

use std::fmt::Debug;
use std::hash::Hash;

use stateright::{Checker, Model, Property};

use crate::by_hand::Shape;
use crate::states::Visited;

/// Goes through all states of a model by stateright's depth-first checker, on one thread.
pub fn explore<M>(model: M) -> Visited
where
    M: Model<State: Hash + Clone + PartialEq + Debug + Send + Sync> + Send + Sync + 'static,
    M::Action: Clone + PartialEq + Debug + Send + Sync,
{
    let checker = model.checker().threads(1).spawn_dfs().join();
    checker.assert_properties();
    // It counts the first state too.
    let transitions = checker.state_count() as u64 - 1;
    Visited { states: checker.unique_state_count() as u64, transitions, bytes: None }
}

/// The election in a ring of so many processes.
#[derive(Clone, Copy)]
pub struct Ring(pub usize);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RingState {
    processes: Vec<Process>,
    /// What is on its way to each process.
    channels: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Process {
    started: bool,
    done: bool,
    leader: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RingAction {
    Start(usize),
    Deliver(usize),
}

impl Model for Ring {
    type State = RingState;
    type Action = RingAction;

    fn init_states(&self) -> Vec<RingState> {
        let processes = vec![Process::default(); self.0];
        vec![RingState { processes, channels: vec![Vec::new(); self.0] }]
    }

    fn actions(&self, state: &RingState, actions: &mut Vec<RingAction>) {
        for me in 0..self.0 {
            if !state.processes[me].started {
                actions.push(RingAction::Start(me));
            }
            if !state.channels[me].is_empty() {
                actions.push(RingAction::Deliver(me));
            }
        }
    }

    fn next_state(&self, state: &RingState, action: RingAction) -> Option<RingState> {
        let mut state = state.clone();
        let next = |me: usize| (me + 1) % self.0;
        match action {
            RingAction::Start(me) => {
                state.processes[me].started = true;
                state.channels[next(me)].push((self.0 - me) as u8);
            }
            RingAction::Deliver(me) => {
                let id = (self.0 - me) as u8;
                let message = state.channels[me].remove(0);
                let process = &mut state.processes[me];
                if message > id {
                    state.channels[next(me)].push(message);
                } else if message == id {
                    (process.leader, process.done) = (true, true);
                    state.channels[next(me)].push(0);
                } else if message == 0 && !process.done {
                    process.done = true;
                    state.channels[next(me)].push(0);
                }
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Ring>> {
        vec![Property::always("at most one leader", |_, state: &RingState| {
            state.processes.iter().filter(|process| process.leader).count() <= 1
        })]
    }
}

/// Two-phase commit with so many participants.
#[derive(Clone, Copy)]
pub struct Commit(pub usize);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CommitState {
    coordinator: Phase,
    yes: u8,
    coordinator_timeout: bool,
    participants: Vec<Participant>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Participant {
    phase: Phase,
    timeout: bool,
    /// What is on its way to it.
    inbox: Vec<Message>,
    /// What is on its way from it.
    answers: Vec<Message>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    Init,
    Ready,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Message {
    Prepare,
    Yes,
    No,
    Commit,
    Abort,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommitAction {
    CoordinatorTimeout,
    Timeout(usize),
    Deliver(usize),
    Answer(usize),
}

impl CommitState {
    fn decide(&mut self, phase: Phase, message: Message) {
        self.coordinator = phase;
        self.coordinator_timeout = false;
        self.participants.iter_mut().for_each(|participant| participant.inbox.push(message));
    }
}

impl Model for Commit {
    type State = CommitState;
    type Action = CommitAction;

    fn init_states(&self) -> Vec<CommitState> {
        let inbox = vec![Message::Prepare];
        let participant =
            Participant { phase: Phase::Init, timeout: true, inbox, answers: Vec::new() };
        let participants = vec![participant; self.0];
        let coordinator = Phase::Init;
        vec![CommitState { coordinator, yes: 0, coordinator_timeout: true, participants }]
    }

    fn actions(&self, state: &CommitState, actions: &mut Vec<CommitAction>) {
        if state.coordinator_timeout {
            actions.push(CommitAction::CoordinatorTimeout);
        }
        for (i, participant) in state.participants.iter().enumerate() {
            if participant.timeout {
                actions.push(CommitAction::Timeout(i));
            }
            if !participant.inbox.is_empty() {
                actions.push(CommitAction::Deliver(i));
            }
            if !participant.answers.is_empty() {
                actions.push(CommitAction::Answer(i));
            }
        }
    }

    fn next_state(&self, state: &CommitState, action: CommitAction) -> Option<CommitState> {
        let mut state = state.clone();
        match action {
            CommitAction::CoordinatorTimeout => state.decide(Phase::Aborted, Message::Abort),
            CommitAction::Timeout(i) => {
                let participant = &mut state.participants[i];
                (participant.timeout, participant.phase) = (false, Phase::Aborted);
            }
            CommitAction::Deliver(i) => {
                let participant = &mut state.participants[i];
                match (participant.inbox.remove(0), participant.phase) {
                    (Message::Prepare, Phase::Init) => {
                        (participant.timeout, participant.phase) = (false, Phase::Ready);
                        participant.answers.push(Message::Yes);
                    }
                    (Message::Prepare, Phase::Aborted) => participant.answers.push(Message::No),
                    (Message::Commit, _) => {
                        (participant.timeout, participant.phase) = (false, Phase::Committed);
                    }
                    (Message::Abort, _) => {
                        (participant.timeout, participant.phase) = (false, Phase::Aborted);
                    }
                    _ => {}
                }
            }
            CommitAction::Answer(i) => {
                let answer = state.participants[i].answers.remove(0);
                match (answer, state.coordinator) {
                    (Message::Yes, Phase::Init) => {
                        state.yes += 1;
                        if usize::from(state.yes) == self.0 {
                            state.decide(Phase::Committed, Message::Commit);
                        }
                    }
                    (Message::No, Phase::Init) => state.decide(Phase::Aborted, Message::Abort),
                    _ => {}
                }
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Commit>> {
        vec![Property::always("nobody commits what another aborts", |_, state: &CommitState| {
            let any = |phase| state.participants.iter().any(|one| one.phase == phase);
            !(any(Phase::Committed) && any(Phase::Aborted))
        })]
    }
}

/// A shape written by hand for us, with its flat states, for stateright: all that a modeller can
/// do for it.
#[derive(Clone, Copy)]
pub struct Flat<S, const N: usize>(pub S);

impl<S: Shape<N> + 'static, const N: usize> Model for Flat<S, N> {
    type State = [u8; N];
    type Action = u32;

    fn init_states(&self) -> Vec<[u8; N]> {
        vec![self.0.first()]
    }

    fn actions(&self, state: &[u8; N], actions: &mut Vec<u32>) {
        let mut possible = self.0.possible(state);
        while possible != 0 {
            actions.push(possible.trailing_zeros());
            possible &= possible - 1;
        }
    }

    fn next_state(&self, state: &[u8; N], action: u32) -> Option<[u8; N]> {
        let mut state = *state;
        // The property is checked on the way.
        self.0.act(&mut state, action).unwrap_or_else(|broken| panic!("{broken}"));
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        // Without one it looks at no state.
        vec![Property::always("checked on the way", |_, _| true)]
    }
}
