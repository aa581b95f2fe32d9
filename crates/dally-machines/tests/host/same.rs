//! The same machines do the same under test and in production.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dally_core::{Cut, Env, Event, MessageId, Program, System, Tag, Text, WorkerId};
use dally_machines::host::Host;
use dally_machines::{Addr, Cx, MachineProgram};
use dally_macros::machine;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Job(u32);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Result(u32);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Resume;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Checked;

/// Has a worker of its own for each job, one at a time, and uses every kind of rule.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Foreman {
    done: Vec<u32>,
}

#[machine(states(Free, Waiting, Auditing))]
impl Foreman {
    #[entry(Free)]
    fn free(&mut self, cx: &mut Cx<Self>) {
        cx.note(format_args!("{} done", self.done.len()));
    }

    #[exit(Free)]
    fn busy(&mut self, cx: &mut Cx<Self>) {
        cx.announce("busy");
    }

    #[on(Free, Job)]
    fn job(&mut self, cx: &mut Cx<Self>, Job(n): Job) {
        let worker = cx.create(Labourer { foreman: cx.me() });
        cx.send(worker, Job(n));
        cx.send(worker, Job(n + 1));
        cx.goto(Waiting);
    }

    #[on(Waiting, Result)]
    fn result(&mut self, cx: &mut Cx<Self>, Result(n): Result) {
        self.done.push(n);
        if self.done.len() % 2 == 1 { cx.push(Auditing) } else { cx.goto(Free) }
    }

    #[entry(Auditing)]
    fn audit(&mut self, cx: &mut Cx<Self>) {
        cx.announce(self.done.clone());
        cx.raise(Checked);
    }

    #[on(Auditing, Checked)]
    fn checked(&mut self, cx: &mut Cx<Self>) {
        cx.send(cx.me(), Resume);
    }

    #[on(Auditing, Resume)]
    fn resume(&mut self, cx: &mut Cx<Self>) {
        cx.pop();
    }

    #[defer(Waiting, Job)]
    #[defer(Auditing, Result)]
    const RULES: () = ();
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Labourer {
    foreman: Addr<Foreman>,
}

#[machine(states(First, Second))]
impl Labourer {
    #[on(First, Job)]
    fn first(&mut self, cx: &mut Cx<Self>, Job(n): Job) {
        cx.send(self.foreman, Result(n * n));
        cx.goto(Second);
    }

    #[on(Second, Job)]
    fn second(&mut self, cx: &mut Cx<Self>, Job(n): Job) {
        cx.send(self.foreman, Result(n * n));
        cx.halt();
    }
}

/// What each machine did, in its own order. Who takes an ignored message away is the sender
/// under test and the receiver in production, so that is left out.
#[derive(Clone, Default)]
struct Story(Arc<Mutex<BTreeMap<WorkerId, Vec<String>>>>);

impl Story {
    fn add(&self, worker: WorkerId, event: Event<Text<'_>>) {
        if !matches!(event, Event::Discarded { .. }) {
            let event = event.map(|text| text.to_string());
            self.0.lock().unwrap().entry(worker).or_default().push(format!("{event:?}"));
        }
    }
}

/// Lets the worker step that a number says, and listens.
struct Scheduler {
    story: Story,
    worker: WorkerId,
}

impl Env for Scheduler {
    fn value(&mut self, _: u32, _: Tag) -> std::result::Result<u32, Cut> {
        Ok(0)
    }

    fn delivery(&mut self, _: &[MessageId]) -> std::result::Result<usize, Cut> {
        Ok(0)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> std::result::Result<(), Cut> {
        self.story.add(self.worker, event);
        Ok(())
    }
}

fn under_test(seed: u64) -> BTreeMap<WorkerId, Vec<String>> {
    let program = MachineProgram::new("foreman", |setup| {
        let foreman = setup.create(Foreman { done: Vec::new() });
        setup.create(Client { foreman });
    });
    let mut system = program.start().unwrap();
    let mut random = fastrand::Rng::with_seed(seed);
    let mut scheduler = Scheduler { story: Story::default(), worker: WorkerId::root(0) };
    while !system.enabled().is_empty() {
        scheduler.worker = system.enabled()[random.usize(..system.enabled().len())];
        system.step(scheduler.worker, &mut scheduler).unwrap();
    }
    let story = scheduler.story.0.lock().unwrap();
    story.clone()
}

async fn in_production() -> BTreeMap<WorkerId, Vec<String>> {
    let story = Story::default();
    let listener = story.clone();
    let host = Host::builder().on_event(move |worker, event| listener.add(worker, event)).build();
    let foreman = host.create(Foreman { done: Vec::new() });
    host.create(Client { foreman });
    let report = host.shutdown().await;
    assert!(report.is_clean(), "{report}");
    let story = story.0.lock().unwrap();
    story.clone()
}

/// Gives the jobs, all at once.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Client {
    foreman: Addr<Foreman>,
}

#[machine(states(Giving))]
impl Client {
    #[entry(Giving)]
    fn give(&mut self, cx: &mut Cx<Self>) {
        for n in 1..=5 {
            cx.send(self.foreman, Job(10 * n));
        }
        cx.halt();
    }
}

#[test]
fn a_protocol_with_one_outcome_has_the_same_story_in_every_schedule_and_in_production() {
    let story = under_test(0);
    assert_eq!(story.len(), 7, "foreman, client and five labourers");
    assert_eq!(story[&WorkerId::root(0)].len(), STEPS);
    for seed in 1..20 {
        assert_eq!(under_test(seed), story);
    }
    let one = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let two = tokio::runtime::Builder::new_multi_thread();
    let two = { two }.worker_threads(2).enable_time().build().unwrap();
    for _ in 0..50 {
        assert_eq!(one.block_on(in_production()), story);
        assert_eq!(two.block_on(in_production()), story);
    }
}

/// What the foreman does: it starts, and does 16 things for each of five jobs.
const STEPS: usize = 2 + 5 * 16;
