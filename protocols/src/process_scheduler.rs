//! A scheduler that shares two processors among three processes, which share a resource.
//!
//! A process that runs asks for the resource. If it gets it, its time is up, and it waits until it
//! runs again; then it gives the resource back. If the resource is in use, the process goes to
//! sleep. The resource is handed to the first who waits for it, and the scheduler is told to wake
//! that process. Since there are several processors, this can happen before the process has gone to
//! sleep: then the scheduler remembers that it must not. Processes that are ready run in turn.
//! [`RunsAgain`] checks for each process that it always runs again.
//!
//! The planted bugs are in [`Bug`]. After a lost wake-up a process sleeps with the resource, the
//! others sleep behind it, and everything ends. Priorities starve the last process while the others
//! do not sleep. Random scheduling lets them sleep soon, with probability one, so only a search for
//! cycles finds this with certainty.
//!
//! See Saltzer, "Traffic Control in a Multiplexed Computer System" (1966), for the wake-up that
//! waits, and Ruane, "Process Synchronization in the UTS Kernel" (1990), for one that is lost.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use dally::machines::{Addr, Cx, MachineProgram, MonitorCx, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in a scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// The scheduler forgets a wake-up for a process that has not gone to sleep yet.
    LostWakeUp,
    /// Of the processes that are ready, always the one that was created first runs.
    Priorities,
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "process-scheduler",
    summary: "three processes take turns on two processors, and sleep for a resource",
    bugs: &[
        PlantedBug {
            name: "lost-wake-up",
            summary: "a process goes to sleep after it was woken, and never runs again",
        },
        PlantedBug {
            name: "priorities",
            summary: "a process never runs again while those before it keep the processors busy",
        },
    ],
    max_steps: 1_000,
    program: |name| {
        let bug = match name {
            Some("lost-wake-up") => Some(Bug::LostWakeUp),
            Some("priorities") => Some(Bug::Priorities),
            _ => None,
        };
        Arc::new(program(PROCESSORS, PROCESSES, bug))
    },
};

const PROCESSORS: usize = 2;
const PROCESSES: usize = 3;

/// So many processes on so many processors, with this bug or without any.
pub fn program(processors: usize, processes: usize, bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, processors, processes, bug))
}

/// Creates the scheduler, the resource, the processes and a monitor for each.
pub fn deploy(setup: &mut Setup, processors: usize, processes: usize, bug: Option<Bug>) {
    let scheduler = setup.reserve();
    let resource = setup.create(Resource { free: true, waiting: VecDeque::new(), scheduler });
    let make = |number| Process { number, scheduler, resource };
    let ready = (0..processes).map(|number| setup.create(make(number))).collect();
    setup.fill(
        scheduler,
        Scheduler { processors, ready, asleep: BTreeSet::new(), woken: BTreeSet::new(), bug },
    );
    setup.begin();
    for process in 0..processes {
        setup.monitor(RunsAgain { process });
    }
}

/// To a process: you have a processor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Run;

/// To the scheduler: my time is up.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Yield {
    process: Addr<Process>,
}

/// To the scheduler: I do not need a processor until I am woken.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Sleep {
    process: Addr<Process>,
}

/// To the scheduler: this process has what it waits for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct WakeUp {
    process: Addr<Process>,
}

/// To the resource: I want you.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Acquire {
    process: Addr<Process>,
}

/// To the resource: I do not need you any more.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Release;

/// To a process: you have the resource.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Granted;

/// To a process: you will have it, sleep until then.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Busy;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Scheduler {
    /// How many of them are free.
    processors: usize,
    /// Who waits for one, the longest first.
    ready: VecDeque<Addr<Process>>,
    asleep: BTreeSet<Addr<Process>>,
    /// Who was woken before it went to sleep.
    woken: BTreeSet<Addr<Process>>,
    bug: Option<Bug>,
}

#[machine(states(Scheduling))]
impl Scheduler {
    #[entry(Scheduling)]
    fn dispatch(&mut self, cx: &mut Cx<Self>) {
        while self.processors > 0
            && let Some(process) = self.next()
        {
            self.processors -= 1;
            cx.send(process, Run);
        }
    }

    fn next(&mut self) -> Option<Addr<Process>> {
        if self.bug == Some(Bug::Priorities) {
            let first = (0..self.ready.len()).min_by_key(|&place| self.ready[place])?;
            return self.ready.remove(first);
        }
        self.ready.pop_front()
    }

    #[on(Scheduling, Yield)]
    fn yielded(&mut self, cx: &mut Cx<Self>, Yield { process }: Yield) {
        self.processors += 1;
        self.ready.push_back(process);
        self.dispatch(cx);
    }

    #[on(Scheduling, Sleep)]
    fn sleep(&mut self, cx: &mut Cx<Self>, Sleep { process }: Sleep) {
        self.processors += 1;
        if self.woken.remove(&process) {
            self.ready.push_back(process);
        } else {
            self.asleep.insert(process);
        }
        self.dispatch(cx);
    }

    #[on(Scheduling, WakeUp)]
    fn wake_up(&mut self, cx: &mut Cx<Self>, WakeUp { process }: WakeUp) {
        if self.asleep.remove(&process) {
            self.ready.push_back(process);
            self.dispatch(cx);
        } else if self.bug != Some(Bug::LostWakeUp) {
            self.woken.insert(process);
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Resource {
    free: bool,
    /// Who is to have it next, in order.
    waiting: VecDeque<Addr<Process>>,
    scheduler: Addr<Scheduler>,
}

#[machine(states(Serving))]
impl Resource {
    #[on(Serving, Acquire)]
    fn acquire(&mut self, cx: &mut Cx<Self>, Acquire { process }: Acquire) {
        if self.free {
            self.free = false;
            cx.send(process, Granted);
        } else {
            self.waiting.push_back(process);
            cx.send(process, Busy);
        }
    }

    #[on(Serving, Release)]
    fn release(&mut self, cx: &mut Cx<Self>) {
        match self.waiting.pop_front() {
            Some(process) => cx.send(self.scheduler, WakeUp { process }),
            None => self.free = true,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Process {
    number: usize,
    scheduler: Addr<Scheduler>,
    resource: Addr<Resource>,
}

/// What a process does when it runs is a step of its own, after the one in which it is told to:
/// so there is a state in which a monitor sees it run.
#[machine(states(Ready, Running, Asking, Owner, Finishing))]
impl Process {
    #[on(Ready, Run)]
    fn run(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Runs { process: self.number });
        cx.goto(Running);
    }

    #[default(Running)]
    fn ask(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.resource, Acquire { process: cx.me() });
        cx.goto(Asking);
    }

    #[on(Asking, Granted)]
    fn time_is_up(&mut self, cx: &mut Cx<Self>) {
        self.wait(cx);
        cx.send(self.scheduler, Yield { process: cx.me() });
        cx.goto(Owner);
    }

    /// When it runs again it has the resource.
    #[on(Asking, Busy)]
    fn sleep(&mut self, cx: &mut Cx<Self>) {
        self.wait(cx);
        cx.send(self.scheduler, Sleep { process: cx.me() });
        cx.goto(Owner);
    }

    #[on(Owner, Run)]
    fn run_as_owner(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Runs { process: self.number });
        cx.goto(Finishing);
    }

    #[default(Finishing)]
    fn release(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.resource, Release);
        self.wait(cx);
        cx.send(self.scheduler, Yield { process: cx.me() });
        cx.goto(Ready);
    }

    fn wait(&self, cx: &mut Cx<Self>) {
        cx.announce(Waits { process: self.number });
    }
}

/// Announced by a process that gets a processor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Runs {
    /// Which.
    pub process: usize,
}

/// Announced by a process that gives its processor back.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Waits {
    /// Which.
    pub process: usize,
}

/// Liveness: this process, which is ready or sleeps, runs again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RunsAgain {
    process: usize,
}

#[monitor(states(hot Waiting, cold Running))]
impl RunsAgain {
    #[on(_, Runs)]
    fn runs(&mut self, cx: &mut MonitorCx<Self>, Runs { process }: Runs) {
        if process == self.process {
            cx.goto(Running);
        }
    }

    #[on(_, Waits)]
    fn waits(&mut self, cx: &mut MonitorCx<Self>, Waits { process }: Waits) {
        if process == self.process {
            cx.goto(Waiting);
        }
    }
}
