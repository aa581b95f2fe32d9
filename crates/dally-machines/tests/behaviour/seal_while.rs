//! Predicates over machines that seal the state.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use dally_core::{Bug, Captured, Program, Schedule, System, WorkerId};
use dally_machines::{
    Addr, Cx, Faults, Granularity, MachineProgram, MachineSystem, Mailbox, Setup,
};
use dally_macros::machine;
use dally_search::strata::{ExplorerKind, Plan, SearchKind, States, explore};
use dally_search::{Ended, Options, Report};

use crate::driver::{Quiet, Random};

const CRASH: Faults = Faults { crash: 1, ..Faults::NONE };
const BAD: Faults = Faults { lose: 1, duplicate: 1, crash: 2 };

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Up;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Down;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Leave;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Twin;

/// Goes up and down, and by timers of its own if they are set.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Lift {
    rides: u8,
    timer: bool,
}

#[machine(states(Ground, Above), durable = u8)]
impl Lift {
    #[entry(Ground)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        if std::mem::take(&mut self.timer) {
            cx.after(Duration::from_secs(1), Up);
        }
    }
    #[on(_, Up)]
    fn up(&mut self, cx: &mut Cx<Self>) {
        self.rides += 1;
        cx.persist(self.rides);
        cx.goto(Above);
    }
    #[on(_, Down)]
    fn down(&mut self, cx: &mut Cx<Self>) {
        cx.goto(Ground);
    }
    #[on(_, Leave)]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.halt();
    }
    #[on(_, Twin)]
    fn twin(&mut self, cx: &mut Cx<Self>) {
        cx.create(self.clone());
    }
    fn recover(self, durable: Option<u8>) -> Lift {
        Lift { rides: durable.unwrap_or(0), ..self }
    }
}

const LIFT: Lift = Lift { rides: 0, timer: false };

fn first() -> WorkerId {
    WorkerId::root(0)
}

fn second() -> WorkerId {
    WorkerId::root(1)
}

fn above(_: &Lift, state: LiftState) -> bool {
    state == LiftState::Above
}

/// After a step of this worker.
#[track_caller]
fn after(system: &mut MachineSystem, worker: WorkerId) -> bool {
    system.step(worker, &mut Quiet).unwrap();
    assert_eq!(system.sealed(), system.sealed_from_scratch());
    system.sealed()
}

/// At the start and after each step of the only worker that can step.
fn alone(program: &MachineProgram) -> Vec<bool> {
    let mut system = program.start().unwrap();
    let mut sealed = vec![system.sealed()];
    while let [worker] = *system.enabled() {
        sealed.push(after(&mut system, worker));
    }
    assert!(system.enabled().is_empty());
    sealed
}

#[test]
fn the_state_is_sealed_while_a_machine_is_in_a_state() {
    let program = MachineProgram::new("lift", |setup: &mut Setup| {
        let lift = setup.create(LIFT);
        setup.send(lift, Up);
        setup.send(lift, Down);
        setup.send(lift, Up);
        setup.seal_while(above);
    });
    assert_eq!(alone(&program), [false, false, true, false, true]);
    // In the memory of an execution that ended otherwise.
    let mut system = program.start().unwrap();
    (0..4).for_each(|_| system.step(first(), &mut Quiet).unwrap());
    assert!(system.sealed());
    program.restart(&mut system).unwrap();
    assert_eq!([system.sealed(), after(&mut system, first())], [false, false]);
}

#[test]
fn a_machine_counts_as_it_was_created_and_in_its_start_state() {
    let program = |holds: fn(&Lift, LiftState) -> bool| {
        MachineProgram::new("lift", move |setup: &mut Setup| {
            let lift = setup.create(LIFT);
            setup.send(lift, Up);
            setup.seal_while(holds);
        })
    };
    assert_eq!(alone(&program(|_, state| state == LiftState::Ground)), [true, true, false]);
    assert_eq!(alone(&program(|lift, _| lift.rides == 0)), [true, true, false]);
}

#[test]
fn what_a_set_up_has_begun_counts() {
    let program = MachineProgram::new("timer", |setup: &mut Setup| {
        setup.seal_while(|lift: &Lift, _| !lift.timer);
        setup.create(Lift { timer: true, ..LIFT });
        setup.begin();
    });
    assert!(program.start().unwrap().sealed());
}

#[test]
fn any_machine_seals_for_any_predicate_about_its_type() {
    mod elsewhere {
        use super::{Cx, Up, machine};

        /// Of the same name.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub struct Lift;

        #[machine(states(Ground, Above))]
        impl Lift {
            #[on(Ground, Up)]
            fn up(&mut self, cx: &mut Cx<Self>) {
                cx.goto(Above);
            }
        }
    }
    let program = MachineProgram::new("lifts", |setup: &mut Setup| {
        setup.seal_while(above);
        let lift = setup.create(LIFT);
        let other = setup.create(elsewhere::Lift);
        setup.send(other, Up);
        setup.send(lift, Up);
        setup.send(lift, Down);
        setup.send(lift, Up);
        setup.seal_while(|lift: &Lift, _| lift.rides == 2);
        setup.begin();
    });
    let mut system = program.start().unwrap();
    let steps = [second(), first(), first(), first()];
    assert_eq!(steps.map(|worker| after(&mut system, worker)), [false, true, false, true]);
}

/// The predicate is about a machine that another worker steps.
#[test]
fn a_timer_that_is_handled_as_it_fires_seals() {
    let program = MachineProgram::new("timer", |setup: &mut Setup| {
        setup.create(Lift { timer: true, ..LIFT });
        setup.seal_while(above);
    });
    let program = program.mailbox(Mailbox::PerSender).granularity(Granularity::Atomic);
    let mut system = program.start().unwrap();
    assert!(!after(&mut system, first()));
    let timer = system.enabled()[0];
    assert_ne!(timer, first());
    assert!(after(&mut system, timer));
}

#[test]
fn a_machine_that_has_halted_seals_no_more() {
    let program = MachineProgram::new("lift", |setup: &mut Setup| {
        let lift = setup.create(LIFT);
        setup.send(lift, Up);
        setup.send(lift, Leave);
        setup.seal_while(above);
    });
    assert_eq!(alone(&program), [false, false, true, false]);
}

#[test]
fn a_machine_that_is_created_on_the_way_seals() {
    let program = MachineProgram::new("twins", |setup: &mut Setup| {
        let lift = setup.create(Lift { rides: 7, ..LIFT });
        setup.send(lift, Twin);
        setup.seal_while(|lift: &Lift, state| lift.rides == 8 && state == LiftState::Above);
        setup.seal_while(|lift: &Lift, _| lift.rides == 9);
        setup.send(lift, Up);
        setup.send(lift, Up);
        setup.send(lift, Twin);
        setup.send(lift, Leave);
    });
    let mut system = program.start().unwrap();
    let mut sealed = Vec::new();
    while system.enabled().contains(&first()) {
        sealed.push(after(&mut system, first()));
    }
    // Entry, the twin (handler and creation), up, up, the next twin, and out: the last twin stays.
    assert_eq!(sealed, [false, false, false, true, true, true, true, true]);
}

#[test]
fn a_machine_that_is_crashed_does_not_seal_and_one_that_is_back_seals_by_what_it_is_then() {
    let program = MachineProgram::new("lift", |setup: &mut Setup| {
        let lift = setup.create(LIFT);
        setup.send(lift, Up);
        setup.send(lift, Down);
        setup.begin();
        // Crashed it would be as it was created, and on the ground.
        setup.seal_while(|lift: &Lift, state| match state {
            LiftState::Ground => lift.rides != 0,
            LiftState::Above => true,
        });
        setup.seal_while(|lift: &Lift, _| lift.rides > 7);
    });
    let program = program.faults(CRASH);
    let mut system = program.start().unwrap();
    assert!(!system.sealed());
    // The handler; what it persists; the crash, the restart and the entry of the start state.
    let steps = [first(), first(), WorkerId::FAULTS, WorkerId::FAULTS, first()];
    let sealed = steps.map(|worker| after(&mut system, worker));
    assert_eq!(sealed, [true, true, false, true, true]);

    let lost = MachineProgram::new("lost", |setup: &mut Setup| {
        let lift = setup.create(LIFT);
        setup.send(lift, Up);
        setup.begin();
        setup.seal_while(above);
    });
    let lost = lost.faults(CRASH);
    let mut system = lost.start().unwrap();
    let steps = [first(), WorkerId::FAULTS, WorkerId::FAULTS];
    let sealed = steps.map(|worker| after(&mut system, worker));
    assert_eq!(sealed, [true, false, false], "it is back on the ground");

    let fresh = MachineProgram::new("fresh", |setup: &mut Setup| {
        let lift = setup.create(LIFT);
        setup.send(lift, Up);
        setup.begin();
        setup.seal_while(|lift: &Lift, _| lift.rides == 0);
    });
    let fresh = fresh.faults(CRASH);
    let mut system = fresh.start().unwrap();
    assert!(system.sealed());
    assert!(!after(&mut system, WorkerId::FAULTS), "as it was created, and not there");
    assert!(after(&mut system, WorkerId::FAULTS));
}

#[test]
fn forks_are_sealed_each_by_its_own_machines() {
    let program = MachineProgram::new("two", |setup: &mut Setup| {
        for _ in 0..2 {
            let lift = setup.create(LIFT);
            setup.send(lift, Up);
            setup.send(lift, Down);
        }
        setup.begin();
        setup.seal_while(above);
    });
    let mut system = program.start().unwrap();
    let start = system.fork();
    assert!(after(&mut system, first()));
    let mut one_up = system.fork();
    assert!(!after(&mut system, first()));
    assert_eq!((start.sealed(), one_up.sealed()), (false, true));
    // A fork that nobody has asked yet.
    assert!(after(&mut one_up.fork(), second()));
    assert!(!after(&mut one_up, first()));
    system.restore_from(&start);
    assert!(!system.sealed());
    assert!(after(&mut system, second()));
    one_up.restore_from(&system);
    assert!(one_up.sealed());
    assert!(!after(&mut one_up, second()));
    assert!(system.sealed());
}

#[test]
fn predicates_are_no_part_of_the_state() {
    let program = |seals: bool| {
        MachineProgram::new("lift", move |setup: &mut Setup| {
            let lift = setup.create(LIFT);
            setup.send(lift, Up);
            if seals {
                setup.seal_while(above);
            }
        })
    };
    let mut systems = [true, false].map(|seals| program(seals).start().unwrap());
    while !systems[0].enabled().is_empty() {
        systems.iter_mut().for_each(|system| system.step(first(), &mut Quiet).unwrap());
        let [sealing, plain] = &systems;
        sealing.sealed();
        assert_eq!(sealing.fingerprint(), plain.fingerprint());
        let mut encodings = [Vec::new(), Vec::new()];
        sealing.encode(&mut encodings[0]);
        plain.encode(&mut encodings[1]);
        assert_eq!(encodings[0], encodings[1]);
    }
    assert_eq!(systems.map(|system| system.sealed()), [true, false]);
}

#[test]
fn a_predicate_is_asked_again_of_machines_that_have_changed_only() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let program = MachineProgram::new("three", move |setup: &mut Setup| {
        let lifts: [Addr<Lift>; 3] = std::array::from_fn(|_| setup.create(LIFT));
        setup.send(lifts[0], Up);
        setup.send(lifts[0], Twin);
        setup.begin();
        let count = count.clone();
        setup.seal_while(move |_: &Lift, _| {
            count.fetch_add(1, Relaxed);
            false
        });
    });
    let mut system = program.start().unwrap();
    let asked_for = |system: &MachineSystem| {
        assert!(!system.sealed());
        asked.swap(0, Relaxed)
    };
    assert_eq!([(); 2].map(|()| asked_for(&system)), [3, 0], "it is remembered");
    assert_eq!(asked_for(&system.fork()), 0, "forks know it too");
    system.step(first(), &mut Quiet).unwrap();
    assert_eq!(asked_for(&system), 1, "only one has changed");
    // The handler of the next event, and the creation: one has changed, then one is new.
    system.step(first(), &mut Quiet).unwrap();
    assert_eq!(asked_for(&system), 1);
    system.step(first(), &mut Quiet).unwrap();
    assert_eq!(asked_for(&system), 1);
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Go;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ask(Addr<Leader>);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Answer;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Member(u8);

#[machine(states(Start))]
impl Member {
    #[on(Start, Ask)]
    fn ask(&mut self, cx: &mut Cx<Self>, Ask(leader): Ask) {
        self.0 += 1;
        cx.send(leader, Answer);
    }
}

/// Asks all members, twice, and halts with the last answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Leader {
    members: Vec<Addr<Member>>,
    waits_for: usize,
    rounds: u8,
    by_region: bool,
}

#[machine(states(Idle, Asking), durable = ())]
impl Leader {
    #[on(Idle, Go)]
    fn go(&mut self, cx: &mut Cx<Self>) {
        if self.by_region {
            cx.seal();
        }
        self.rounds += 1;
        self.waits_for = self.members.len();
        for &member in &self.members {
            cx.send(member, Ask(cx.me()));
        }
        cx.goto(Asking);
    }
    #[on(Asking, Answer)]
    fn answer(&mut self, cx: &mut Cx<Self>) {
        self.waits_for -= 1;
        if self.waits_for == 0 && self.rounds == 2 {
            cx.halt();
        } else if self.waits_for == 0 {
            if self.by_region {
                cx.unseal();
            }
            cx.send(cx.me(), Go);
            cx.goto(Idle);
        }
    }
    // Left over from before a crash, or doubled on the way.
    #[ignore(Idle, Answer)]
    #[ignore(Asking, Go)]
    const RULES: () = ();

    fn recover(self, _: Option<()>) -> Leader {
        self
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Sealed {
    Not,
    Regions,
    Predicate,
}

/// Two leaders of the same members. While a leader asks the state is sealed, by regions or by a
/// predicate.
fn leaders(sealed: Sealed, members: usize) -> MachineProgram {
    MachineProgram::new("leaders", move |setup: &mut Setup| {
        let members: Vec<_> = (0..members).map(|_| setup.create(Member(0))).collect();
        for _ in 0..2 {
            let leader = setup.create(Leader {
                members: members.clone(),
                waits_for: 0,
                rounds: 0,
                by_region: sealed == Sealed::Regions,
            });
            setup.send(leader, Go);
        }
        if sealed == Sealed::Predicate {
            setup.seal_while(|_: &Leader, state| state == LeaderState::Asking);
        }
    })
    .run_twice(false)
}

#[test]
fn a_predicate_and_the_region_it_stands_for_seal_the_same_states_on_every_way() {
    let mut met = [0, 0];
    for mailbox in [Mailbox::Fifo, Mailbox::PerSender, Mailbox::Unordered] {
        let [regions, predicate] = [Sealed::Regions, Sealed::Predicate]
            .map(|sealed| leaders(sealed, 2).mailbox(mailbox).faults(BAD));
        let mut region = regions.start().unwrap();
        let mut by_predicate = predicate.start().unwrap();
        for seed in 0..200 {
            regions.restart(&mut region).unwrap();
            predicate.restart(&mut by_predicate).unwrap();
            let mut random = Random::new(seed);
            let mut kept = None;
            for step in 0..80 {
                assert_eq!(by_predicate.sealed(), region.sealed(), "{mailbox:?} {seed} {step}");
                met[usize::from(region.sealed())] += 1;
                let mut twin = random.twin();
                let Some(worker) = random.worker(&region) else { break };
                assert_eq!(twin.worker(&by_predicate), Some(worker));
                let stepped = region.step(worker, &mut random).is_ok();
                assert_eq!(by_predicate.step(worker, &mut twin).is_ok(), stepped);
                if !stepped {
                    break;
                }
                match step % 20 {
                    7 => kept = Some((region.fork(), by_predicate.fork())),
                    19 => {
                        if let Some((saved, by_predicate_saved)) = &kept {
                            region.restore_from(saved);
                            by_predicate.restore_from(by_predicate_saved);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(met.iter().all(|&states| states > 1000), "{met:?}");
}

/// A program whose states are not copied.
struct Rerun(Arc<MachineProgram>);

impl Program for Rerun {
    type System = MachineSystem;

    fn start(&self) -> Result<MachineSystem, Bug> {
        self.0.start()
    }

    fn name(&self) -> &str {
        self.0.name()
    }
}

fn searched(report: &Report) -> &States {
    assert_eq!((report.ended, report.findings.len()), (Ended::Exhausted, 0), "{:?}", report.notes);
    report.states.as_ref().unwrap()
}

/// All that strata are told by: bound, states, transitions, frontier.
fn strata(states: &States) -> Vec<(u32, u64, u64, u64)> {
    let strata = states.strata.iter();
    strata.map(|s| (s.bound.unwrap(), s.states, s.transitions, s.frontier)).collect()
}

#[test]
fn strata_are_those_of_the_regions_that_a_predicate_stands_for() {
    let plan = Plan { delta: Some(1), ..Plan::default() };
    let program = |sealed, faults| Arc::new(leaders(sealed, 1).faults(faults));
    for kind in [ExplorerKind::RoundRobin, ExplorerKind::RunToCompletion] {
        let by_copies = |sealed| {
            let (program, options) = (program(sealed, CRASH), Options::default());
            explore(program, kind.build(0), plan.clone(), options, Arc::new(()))
        };
        let by_replay = |sealed| {
            let (program, options) = (program(sealed, Faults::NONE), Options::default());
            explore(Arc::new(Rerun(program)), kind.build(0), plan.clone(), options, Arc::new(()))
        };
        for how in [&by_copies as &dyn Fn(Sealed) -> Report, &by_replay] {
            let [not, regions, predicate] =
                [Sealed::Not, Sealed::Regions, Sealed::Predicate].map(how);
            let [not, regions, predicate] = [&not, &regions, &predicate].map(searched);
            assert!(regions.sealed > 10 && regions.strata.len() > 1, "{kind}: {regions:?}");
            assert_eq!(predicate.sealed, regions.sealed, "{kind}");
            assert_eq!(strata(predicate), strata(regions), "{kind}");
            assert_ne!(strata(predicate), strata(not), "{kind}");
        }
    }
}

#[test]
fn machines_that_are_not_captured_seal_where_states_are_replayed() {
    #[derive(Debug)]
    struct Loose(u8);

    #[machine(uncaptured, states(Start))]
    impl Loose {
        #[on(Start, Go)]
        fn go(&mut self) {
            self.0 += 1;
        }
    }
    let searched_by = |seals: bool| {
        let program = MachineProgram::new("loose", move |setup: &mut Setup| {
            for _ in 0..2 {
                let loose = setup.create(Loose(0));
                setup.send(loose, Go);
                setup.send(loose, Go);
            }
            if seals {
                setup.seal_while(|loose: &Loose, _| loose.0 == 1);
            }
        });
        let explorer = ExplorerKind::RoundRobin.build(0);
        let (plan, options) = (Plan::default(), Options::default());
        let report = explore(Arc::new(program), explorer, plan, options, Arc::new(()));
        let states = searched(&report);
        assert!(states.replayed);
        (states.states, states.sealed)
    };
    let (all, none) = searched_by(false);
    let (fewer, sealed) = searched_by(true);
    assert_eq!(none, 0);
    assert!(sealed > 0 && fewer < all, "{sealed} sealed, {fewer} of {all}");
}

#[test]
fn a_predicate_that_panics_ends_the_search_with_its_message() {
    let program = MachineProgram::new("lift", |setup: &mut Setup| {
        let lift = setup.create(LIFT);
        setup.send(lift, Up);
        setup
            .seal_while(|lift: &Lift, _| lift.rides.checked_sub(1).expect("it has never gone") > 7);
    });
    let explorer = ExplorerKind::RoundRobin.build(0);
    let (plan, options) = (Plan::default(), Options::default());
    let report = explore(Arc::new(program), explorer, plan, options, Arc::new(()));
    assert_eq!(report.ended, Ended::Failed);
    assert!(report.notes.iter().any(|note| note.contains("it has never gone")), "{report:?}");
}

/// A lift that goes up and down, and a predicate that cannot bear that.
fn panicking() -> Arc<MachineProgram> {
    Arc::new(MachineProgram::new("lift", |setup: &mut Setup| {
        let lifts = [(); 3].map(|()| setup.create(LIFT));
        for lift in lifts {
            setup.send(lift, Up);
            setup.send(lift, Down);
        }
        setup.begin();
        setup.seal_while(|lift: &Lift, _| {
            assert_eq!(lift.rides, 0, "who is up there?");
            false
        });
    }))
}

#[test]
fn a_predicate_that_panics_is_told_once_with_machine_place_and_schedule() {
    for search in [SearchKind::Ses, SearchKind::Ss, SearchKind::Bfs, SearchKind::Map] {
        for threads in [1, 2] {
            let plan = Plan { search, memory: 64 << 20, ..Plan::default() };
            let options = Options { threads, ..Options::default() };
            let explorer = ExplorerKind::RoundRobin.build(0);
            let report = explore(panicking(), explorer, plan, options, Arc::new(()));
            assert_eq!(report.ended, Ended::Failed, "{search}");
            assert!(report.findings.is_empty());
            let [note] = &report.notes[..] else { panic!("{search}: {:?}", report.notes) };
            let (words, token) = note.rsplit_once(": ").unwrap();
            let schedule = Schedule::parse(token).unwrap();
            assert_eq!((schedule.program.as_str(), schedule.steps()), ("lift", 1));
            let here = concat!("at ", file!(), ":");
            let (before, after) = words.split_once(here).unwrap_or_else(|| panic!("{words}"));
            let after = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
            let words = format!("{before}at ...:{after}");
            insta::allow_duplicates!(insta::assert_snapshot!(words, @r"
            A predicate that seals states panicked for Lift, after 1 step, at ...: assertion `left == right` failed: who is up there?
              left: 1
             right: 0
            The schedule that leads to the state
            "));
        }
    }
}

#[test]
fn a_predicate_that_panics_is_told_where_states_are_reconstructed_too() {
    let options = Options { threads: 2, ..Options::default() };
    let (plan, explorer) = (Plan::default(), ExplorerKind::RoundRobin.build(0));
    let report = explore(Arc::new(Rerun(panicking())), explorer, plan, options, Arc::new(()));
    assert_eq!((report.ended, report.notes.len()), (Ended::Failed, 1), "{:?}", report.notes);
    assert!(report.notes[0].starts_with("A predicate that seals states panicked for Lift, "));
}

#[test]
fn a_hybrid_search_does_not_go_on_to_samples_after_a_predicate_has_panicked() {
    static PANICKED: AtomicBool = AtomicBool::new(false);
    let program = MachineProgram::new("lift", |setup: &mut Setup| {
        let lift = setup.create(LIFT);
        setup.send(lift, Up);
        setup.send(lift, Down);
        setup.seal_while(|lift: &Lift, _| {
            // Samples would not meet it again.
            assert!(lift.rides == 0 || PANICKED.swap(true, Relaxed), "up there");
            false
        });
    });
    let plan = Plan { search: SearchKind::Hybrid, ..Plan::default() };
    let explorer = ExplorerKind::RoundRobin.build(0);
    let report = explore(Arc::new(program), explorer, plan, Options::default(), Arc::new(()));
    assert_eq!((report.ended, report.schedules), (Ended::Failed, 0));
}
