//! Two-phase commit with messages and timeouts, as machines.

use std::sync::Arc;
use std::time::Duration;

use dally::machines::{Addr, Cx, MachineProgram, MonitorCx, Setup};
use dally::{machine, monitor};

use super::model;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Prepare;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Vote(bool);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Decision(bool);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ended(bool);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Timeout;

const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Coordinator {
    participants: Arc<[Addr<Participant>]>,
    yes: u32,
}

#[machine(states(Deciding, Committed, Aborted))]
impl Coordinator {
    #[ignore(Committed, Vote)]
    #[ignore(Aborted, Vote)]
    const RULES: () = ();

    #[entry(Deciding)]
    fn ask(&mut self, cx: &mut Cx<Self>) {
        for &participant in self.participants.iter() {
            cx.send(participant, Prepare);
        }
        cx.after(PATIENCE, Timeout);
    }

    #[on(Deciding, Vote)]
    fn vote(&mut self, cx: &mut Cx<Self>, Vote(yes): Vote) {
        self.yes += u32::from(yes);
        let all = self.yes as usize == self.participants.len();
        if !yes || all {
            cx.cancel(&Timeout);
            self.decide(cx, all);
        }
    }

    #[on(Deciding, Timeout)]
    fn give_up(&mut self, cx: &mut Cx<Self>) {
        self.decide(cx, false);
    }
}

impl Coordinator {
    fn decide(&self, cx: &mut Cx<Self>, commit: bool) {
        for &participant in self.participants.iter() {
            cx.send(participant, Decision(commit));
        }
        cx.goto(if commit { CoordinatorState::Committed } else { CoordinatorState::Aborted });
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Participant {
    coordinator: Addr<Coordinator>,
}

#[machine(states(Init, Ready, Committed, Aborted))]
impl Participant {
    #[ignore(Ready, Prepare)]
    #[ignore(Committed, Prepare)]
    const RULES: () = ();

    #[entry(Init)]
    fn wait(&mut self, cx: &mut Cx<Self>) {
        cx.after(PATIENCE, Timeout);
    }

    #[on(Init, Prepare)]
    fn prepare(&mut self, cx: &mut Cx<Self>) {
        cx.cancel(&Timeout);
        cx.send(self.coordinator, Vote(true));
        cx.goto(Ready);
    }

    #[on(Aborted, Prepare)]
    fn refuse(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.coordinator, Vote(false));
    }

    #[on(Init, Timeout)]
    fn give_up(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Ended(false));
        cx.goto(Aborted);
    }

    #[on(_, Decision)]
    fn end(&mut self, cx: &mut Cx<Self>, Decision(commit): Decision) {
        cx.cancel(&Timeout);
        cx.announce(Ended(commit));
        cx.goto(if commit { Committed } else { Aborted });
    }
}

/// Nobody commits what another aborts.
#[derive(Clone, Hash, Debug, Default)]
struct Agreement {
    committed: Option<bool>,
}

#[monitor(states(Watching))]
impl Agreement {
    #[on(Watching, Ended)]
    fn ended(&mut self, _: &mut MonitorCx<Self>, &Ended(committed): &Ended) {
        let first = *self.committed.get_or_insert(committed);
        assert_eq!(first, committed, "one has committed and one aborted");
    }
}

/// So many participants.
pub fn commit(n: u32) -> MachineProgram {
    model("commit", move |setup: &mut Setup| {
        let coordinator = setup.reserve();
        let participants = (0..n).map(|_| setup.create(Participant { coordinator })).collect();
        setup.fill(coordinator, Coordinator { participants, yes: 0 });
        setup.monitor(Agreement::default());
    })
}
