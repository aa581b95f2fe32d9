//! Timers: they may fire at any time while they are armed, and never after.

use std::collections::BTreeSet;
use std::time::Duration;

use dally_core::{Access, Discard, Event, Footprint, Program, Resource, System};
use dally_machines::{Addr, Cx, Granularity, MachineProgram, Mailbox, Setup};
use dally_macros::machine;

use crate::driver::{first, outcomes, schedules};

const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Tick(u8);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Stop;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Kind {
    Once,
    Every,
    Rearmed,
    Two,
}

/// Counts ticks until it is told to stop; fails if one comes after that.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Clock {
    kind: Kind,
    ticks: usize,
    stopped: bool,
}

#[machine(states(Running))]
impl Clock {
    #[entry(Running)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        match self.kind {
            Kind::Once => cx.after(SECOND, Tick(1)),
            Kind::Every => cx.every(SECOND, Tick(1)),
            Kind::Rearmed => {
                cx.after(SECOND, Tick(1));
                cx.after(SECOND, Tick(1));
            }
            Kind::Two => {
                cx.after(SECOND, Tick(1));
                cx.after(SECOND, Tick(2));
            }
        }
    }
    #[on(Running, Tick)]
    fn tick(&mut self, cx: &mut Cx<Self>, Tick(number): Tick) {
        assert!(!self.stopped || number == 2, "a tick after the timer was cancelled");
        cx.announce(number);
        self.ticks += 1;
        if self.ticks == 3 {
            cx.cancel(&Tick(1));
            self.stopped = true;
        }
    }
    #[on(Running, Stop)]
    fn stop(&mut self, cx: &mut Cx<Self>) {
        cx.cancel(&Tick(1));
        self.stopped = true;
        cx.announce("stop");
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Stopper(Addr<Clock>);

#[machine(states(Start))]
impl Stopper {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.0, Stop);
    }
}

fn clock(kind: Kind, stopper: bool) -> MachineProgram {
    MachineProgram::new("clock", move |setup: &mut Setup| {
        let clock = setup.create(Clock { kind, ticks: 0, stopped: false });
        if stopper {
            setup.create(Stopper(clock));
        }
    })
}

fn seen(kind: Kind, stopper: bool) -> Vec<String> {
    outcomes(&clock(kind, stopper)).into_keys().collect()
}

#[test]
fn a_one_shot_timer_fires_once() {
    assert_eq!(seen(Kind::Once, false), ["1"]);
}

#[test]
fn a_periodic_timer_fires_until_it_is_cancelled() {
    assert_eq!(seen(Kind::Every, false), ["1 1 1"]);
}

#[test]
fn arming_a_timer_again_replaces_it() {
    assert_eq!(seen(Kind::Rearmed, false), ["1"]);
}

#[test]
fn arming_a_timer_again_takes_back_a_tick_that_is_in_the_inbox() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Reset;

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Watchdog;

    #[machine(states(Start))]
    impl Watchdog {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            cx.after(SECOND, Tick(1));
            let me = cx.me();
            cx.send(me, Reset);
        }
        #[on(Start, Reset)]
        fn reset(&mut self, cx: &mut Cx<Self>) {
            cx.announce("reset");
            cx.after(SECOND, Tick(1));
        }
        #[on(Start, Tick)]
        fn tick(&mut self, cx: &mut Cx<Self>) {
            cx.announce("tick");
        }
    }
    let program = MachineProgram::new("watchdog", |setup: &mut Setup| {
        setup.create(Watchdog);
    });
    let seen: Vec<String> = outcomes(&program).into_keys().collect();
    assert_eq!(seen, ["reset tick", "tick reset tick"]);
}

#[test]
fn timers_with_different_events_are_different_and_fire_in_any_order() {
    assert_eq!(seen(Kind::Two, false), ["1 2", "2 1"]);
}

#[test]
fn no_tick_comes_after_a_timer_was_cancelled_not_even_one_in_the_inbox() {
    assert_eq!(seen(Kind::Once, true), ["1 stop", "stop"]);
    assert_eq!(seen(Kind::Every, true), ["1 1 1 stop", "1 1 stop", "1 stop", "stop"]);
    let taken_back =
        |event: &Event<String>| matches!(event, Event::Discarded { why: Discard::Cancelled, .. });
    for kind in [Kind::Once, Kind::Every] {
        let runs = schedules(&clock(kind, true));
        assert!(runs.iter().any(|run| run.has(taken_back)), "{kind:?}");
    }
}

#[test]
fn cancelling_one_timer_leaves_the_others() {
    assert_eq!(seen(Kind::Two, true), ["1 2 stop", "1 stop 2", "2 1 stop", "2 stop", "stop 2"]);
}

#[test]
fn a_periodic_timer_waits_until_its_last_tick_has_been_taken() {
    let program = clock(Kind::Every, false);
    let mut system = program.start().unwrap();
    let mut quiet = crate::driver::Quiet;
    let clock = system.enabled()[0];
    let timer = clock.timer(0);
    system.step(clock, &mut quiet).unwrap();
    assert_eq!(system.enabled(), [timer]);
    assert_eq!(system.name(timer), "timer Tick");
    let mut pending = Footprint::default();
    system.pending(timer, &mut pending);
    assert!(pending.accesses().contains(&Access::update(Resource::Inbox(clock))));
    system.step(timer, &mut quiet).unwrap();
    assert_eq!(system.enabled(), [clock], "one tick is in the inbox");
    system.step(clock, &mut quiet).unwrap();
    assert_eq!(system.enabled(), [timer]);
}

#[test]
fn a_timer_used_again_for_the_same_kind_of_event_is_the_same_worker() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Rounds(u8);

    #[machine(states(Start))]
    impl Rounds {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            cx.after(SECOND, Tick(self.0));
        }
        #[on(Start, Tick)]
        fn tick(&mut self, cx: &mut Cx<Self>) {
            self.0 += 1;
            if self.0 < 5 {
                cx.goto(Start);
            }
        }
    }
    let runs = schedules(&MachineProgram::new("rounds", |setup: &mut Setup| {
        setup.create(Rounds(0));
    }));
    let workers: BTreeSet<String> = runs[0].steps.iter().map(ToString::to_string).collect();
    assert_eq!(runs.len(), 1);
    assert_eq!(workers, BTreeSet::from(["0".to_owned(), "0.t0".to_owned()]));
}

#[test]
fn machines_that_are_not_captured_have_timers_too() {
    #[derive(Debug)]
    struct Loose(f32);
    #[derive(Debug, Clone)]
    struct Beat(f32);

    #[derive(Debug)]
    struct Heart(u8);

    #[machine(uncaptured, states(Start))]
    impl Heart {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            cx.after(SECOND, Loose(0.5));
            cx.after(SECOND, Loose(1.5));
            cx.every(SECOND, Beat(1.0));
            cx.cancel(&Loose(0.5));
        }
        #[on(Start, Loose)]
        fn loose(&mut self, cx: &mut Cx<Self>, Loose(value): Loose) {
            cx.announce(value.to_bits());
        }
        #[on(Start, Beat)]
        fn beat(&mut self, cx: &mut Cx<Self>, Beat(value): Beat) {
            assert_eq!(value, 1.0);
            self.0 += 1;
            if self.0 == 2 {
                cx.cancel(&Beat(1.0));
            }
        }
    }
    let program = MachineProgram::new("heart", |setup: &mut Setup| {
        setup.create(Heart(0));
    });
    let expected = 1.5f32.to_bits().to_string();
    assert_eq!(outcomes(&program).into_keys().collect::<Vec<_>>(), [expected]);
}

#[test]
fn firing_and_handling_are_one_step_where_handlers_are_atomic_and_messages_overtake() {
    let clocks = |mailbox: Mailbox, granularity: Granularity| {
        let program = MachineProgram::new("clocks", |setup: &mut Setup| {
            for kind in [Kind::Two, Kind::Once] {
                setup.create(Clock { kind, ticks: 0, stopped: false });
            }
        });
        program.mailbox(mailbox).granularity(granularity)
    };
    let orders = |program: &MachineProgram| outcomes(program).into_keys().collect::<BTreeSet<_>>();
    for (mailbox, steps) in [(Mailbox::Fifo, 8), (Mailbox::PerSender, 5), (Mailbox::Unordered, 5)] {
        let reference = clocks(mailbox, Granularity::PerSend);
        let atomic = clocks(mailbox, Granularity::Atomic);
        assert_eq!(first(&reference).steps.len(), 8);
        assert_eq!(first(&atomic).steps.len(), steps, "two entries, three timers: {mailbox:?}");
        assert_eq!(orders(&atomic), orders(&reference), "{mailbox:?}");
    }
}

#[test]
fn a_tick_that_is_deferred_waits_in_the_inbox_also_where_handlers_are_atomic() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Sleeper;

    #[machine(states(Asleep, Awake))]
    impl Sleeper {
        #[entry(Asleep)]
        fn sleep(&mut self, cx: &mut Cx<Self>) {
            cx.after(SECOND, Tick(1));
        }
        #[goto(Asleep, Stop => Awake)]
        #[defer(Asleep, Tick)]
        const RULES: () = ();
        #[on(Awake, Tick)]
        fn tick(&mut self, cx: &mut Cx<Self>) {
            cx.announce("ticked");
        }
    }
    let program = MachineProgram::new("sleeper", |setup: &mut Setup| {
        let sleeper = setup.create(Sleeper);
        setup.send(sleeper, Stop);
    });
    let program = program.mailbox(Mailbox::PerSender).granularity(Granularity::Atomic);
    let lengths = schedules(&program).iter().map(|run| run.steps.len()).collect::<BTreeSet<_>>();
    assert_eq!(lengths, BTreeSet::from([3, 4]), "at once after waking, or by a step of its own");
    assert_eq!(outcomes(&program).into_keys().collect::<Vec<_>>(), ["ticked"]);
}
