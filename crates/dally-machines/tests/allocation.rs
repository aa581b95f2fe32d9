//! The engine allocates nothing per step in the steady state of a random run. A test binary of
//! its own, since the allocator counts for the whole process.

use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::cell::Cell;
use std::time::Duration;

use dally_core::{Cut, Env, Event, MessageId, Program, System, Tag, Text};
use dally_machines::{Addr, Cx, Faults, Granularity, MachineProgram, Mailbox, MonitorCx, Setup};
use dally_macros::{machine, monitor};

extern crate self as dally;
#[allow(unused_imports)]
mod __private {
    pub use dally_core as contract;
    pub use dally_machines as machines;
}

/// Counts allocations of the thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: it counts and passes everything on to the system's allocator as it is, which keeps the
// contract of `GlobalAlloc`.
#[allow(unsafe_code, reason = "an allocator cannot be written without it")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract, and the arguments are the same.
        unsafe { Heap.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, and the arguments are the same.
        unsafe { Heap.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract, and the arguments are the same.
        unsafe { Heap.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Token(u32);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Follow(Addr<Node>);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Tick;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Beat;

/// A member of a ring that does a bit of everything.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Node {
    next: Option<Addr<Node>>,
    seen: u32,
}

#[machine(states(Lonely, Linked, Excited), durable = u32)]
impl Node {
    #[on(Lonely, Follow)]
    fn follow(&mut self, cx: &mut Cx<Self>, Follow(next): Follow) {
        self.next = Some(next);
        cx.every(Duration::from_secs(1), Beat);
        cx.goto(Linked);
    }
    #[on(Linked, Token)]
    fn token(&mut self, cx: &mut Cx<Self>, Token(left): Token) {
        self.seen += 1;
        cx.announce(self.seen);
        match (left, self.next) {
            (0, _) | (_, None) => cx.cancel(&Beat),
            (_, Some(next)) => {
                cx.persist(self.seen);
                cx.send(next, Token(left - 1));
                if cx.flip() {
                    cx.after(Duration::from_secs(1), Tick);
                    cx.push(Excited);
                } else {
                    cx.create(Visitor);
                }
            }
        }
    }
    #[on(Excited, Tick)]
    fn tick(&mut self, cx: &mut Cx<Self>) {
        cx.pop();
    }
    #[on(Linked, Beat)]
    fn beat(&mut self) {}
    fn recover(self, durable: Option<u32>) -> Node {
        Node { seen: durable.unwrap_or(0), ..self }
    }
    #[defer(Lonely | Excited, Token)]
    #[ignore(Lonely | Linked, Tick)]
    #[ignore(Lonely, Beat)]
    #[defer(Linked | Excited, Follow)]
    const RULES: () = ();
}

/// Comes and goes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Visitor;

#[machine(states(Start))]
impl Visitor {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        cx.halt();
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Most(u32);

#[monitor(states(Watching, hot Busy))]
impl Most {
    #[on(Watching | Busy, u32)]
    fn seen(&mut self, cx: &mut MonitorCx<Self>, seen: &u32) {
        self.0 = self.0.max(*seen);
        cx.goto(if seen.is_multiple_of(2) { Watching } else { Busy });
    }
}

struct Random(fastrand::Rng);

impl Env for Random {
    fn value(&mut self, of: u32, _: Tag) -> Result<u32, Cut> {
        Ok(self.0.u32(..of))
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        Ok(self.0.usize(..candidates.len()))
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }
}

fn ring(mailbox: Mailbox, granularity: Granularity) -> MachineProgram {
    MachineProgram::new("ring", |setup: &mut Setup| {
        let nodes: Vec<Addr<Node>> =
            (0..4).map(|_| setup.create(Node { next: None, seen: 0 })).collect();
        for (at, &node) in nodes.iter().enumerate() {
            setup.send(node, Follow(nodes[(at + 1) % nodes.len()]));
            setup.send(node, Token(20));
        }
        setup.monitor(Most(0));
    })
    .mailbox(mailbox)
    .granularity(granularity)
    .faults(Faults { lose: 2, duplicate: 2, crash: 1 })
    .run_twice(false)
}

/// Runs schedules of at most 400 steps; answers allocations and steps.
fn runner(program: &MachineProgram) -> impl FnMut(usize) -> (usize, usize) {
    let mut system = program.start().unwrap();
    let mut random = Random(fastrand::Rng::with_seed(7));
    move |schedules| {
        let before = ALLOCATIONS.get();
        let mut steps = 0;
        for _ in 0..schedules {
            for _ in 0..400 {
                let enabled = system.enabled();
                if enabled.is_empty() {
                    break;
                }
                let worker = enabled[random.0.usize(..enabled.len())];
                system.step(worker, &mut random).unwrap();
                steps += 1;
            }
            program.restart(&mut system).unwrap();
        }
        (ALLOCATIONS.get() - before, steps)
    }
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(Box::new(1)));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}

#[test]
fn a_random_run_allocates_nothing_once_it_is_warm() {
    for mailbox in [Mailbox::Fifo, Mailbox::PerSender, Mailbox::Unordered] {
        for granularity in [Granularity::PerSend, Granularity::Atomic] {
            let program = ring(mailbox, granularity);
            let mut run = runner(&program);
            run(2000);
            // A rare schedule is longer than all before it, and buffers grow once more. What
            // is allocated per step is allocated every time.
            let least = (0..5).map(|_| run(300)).min().unwrap();
            let (allocations, steps) = least;
            assert!(steps > 10_000, "{steps} steps are too few to say anything");
            assert_eq!(allocations, 0, "in {steps} steps, {mailbox:?}, {granularity:?}");
        }
    }
}
