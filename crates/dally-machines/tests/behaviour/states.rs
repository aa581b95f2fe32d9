//! States: entry and exit, stacks, raised events, default handlers, what is not handled.

use dally_core::BugKind;
use dally_machines::{Addr, Cx, MachineProgram, Setup};
use dally_macros::machine;

use crate::driver::{Run, first, schedules};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Go;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Stay;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Up;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Down;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ask;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Leap;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Quiet;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Later(u8);

/// Says everything that it does.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Talker;

#[machine(states(One, Two, Above))]
impl Talker {
    #[entry(One)]
    fn enter_one(&mut self, cx: &mut Cx<Self>) {
        cx.announce("+one");
    }
    #[exit(One)]
    fn leave_one(&mut self, cx: &mut Cx<Self>) {
        cx.announce("-one");
    }
    #[entry(Two)]
    fn enter_two(&mut self, cx: &mut Cx<Self>) {
        cx.announce("+two");
    }
    #[exit(Two)]
    fn leave_two(&mut self, cx: &mut Cx<Self>) {
        cx.announce("-two");
    }
    #[entry(Above)]
    fn enter_above(&mut self, cx: &mut Cx<Self>) {
        cx.announce("+above");
    }
    #[exit(Above)]
    fn leave_above(&mut self, cx: &mut Cx<Self>) {
        cx.announce("-above");
    }
    #[on(One, Stay)]
    fn stay(&mut self, cx: &mut Cx<Self>) {
        cx.announce("stay");
        cx.goto(One);
    }
    #[on(One, Up)]
    fn up(&mut self, cx: &mut Cx<Self>) {
        cx.push(Above);
    }
    #[on(Above, Down)]
    fn down(&mut self, cx: &mut Cx<Self>) {
        cx.pop();
    }
    #[on(One, Ask)]
    fn ask_one(&mut self, cx: &mut Cx<Self>) {
        cx.announce("one answers");
    }
    #[on(One, Leap)]
    fn leap(&mut self, cx: &mut Cx<Self>) {
        cx.goto(Two);
    }
    #[on(Above, Later)]
    fn later(&mut self, cx: &mut Cx<Self>, Later(number): Later) {
        cx.announce(number);
    }
    #[goto(One, Go => Two)]
    #[ignore(One, Quiet)]
    #[defer(One, Later)]
    const RULES: () = ();
}

fn talk(events: impl Fn(&mut Setup, Addr<Talker>) + Send + Sync + 'static) -> Run {
    first(&MachineProgram::new("talker", move |setup: &mut Setup| {
        let talker = setup.create(Talker);
        events(setup, talker);
    }))
}

#[test]
fn goto_runs_the_exit_of_the_old_and_the_entry_of_the_new_state() {
    let run = talk(|setup, talker| setup.send(talker, Go));
    assert_eq!(run.announced(), ["+one", "-one", "+two"]);
}

#[test]
fn goto_to_the_same_state_runs_exit_and_entry() {
    let run = talk(|setup, talker| setup.send(talker, Stay));
    assert_eq!(run.announced(), ["+one", "stay", "-one", "+one"]);
}

#[test]
fn a_pushed_state_inherits_handlers_and_pop_goes_back_without_entering() {
    let run = talk(|setup, talker| {
        setup.send(talker, Up);
        setup.send(talker, Ask);
        setup.send(talker, Quiet);
        setup.send(talker, Down);
        setup.send(talker, Ask);
    });
    assert_eq!(run.bug, None, "the ignored event stays ignored on top");
    let expected = ["+one", "+above", "one answers", "-above", "one answers"];
    assert_eq!(run.announced(), expected);
}

#[test]
fn a_pushed_state_can_handle_what_the_state_below_defers() {
    let run = talk(|setup, talker| {
        setup.send(talker, Later(1));
        setup.send(talker, Up);
        setup.send(talker, Down);
        setup.send(talker, Later(2));
    });
    assert_eq!(run.announced(), ["+one", "+above", "1", "-above"]);
}

#[test]
fn a_goto_of_an_inherited_handler_replaces_the_top_state_and_keeps_those_below() {
    let run = talk(|setup, talker| {
        setup.send(talker, Up);
        setup.send(talker, Leap);
        setup.send(talker, Ask);
    });
    assert_eq!(run.announced(), ["+one", "+above", "-above", "+two", "one answers"]);
}

#[test]
fn an_event_without_a_rule_is_a_bug_that_says_who_what_and_where() {
    let run = talk(|setup, talker| {
        setup.send(talker, Go);
        setup.send(talker, Ask);
    });
    let bug = run.bug.unwrap();
    assert_eq!((bug.kind(), bug.culprit.as_deref()), (BugKind::UnhandledEvent, Some("Talker")));
    insta::assert_snapshot!(dally_report::text::bug(&bug), @r"
    `Talker(0)` in state `Two` has no handler for event `Ask`, which it sent itself
    handle it with `#[on(Two, Ask)]`, keep it for later with `#[defer(Two, Ask)]`, or drop it with `#[ignore(Two, Ask)]`
");
}

#[test]
fn an_unhandled_event_names_its_sender() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Caller(Addr<Talker>);

    #[machine(states(Start))]
    impl Caller {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            cx.send(self.0, Down);
        }
    }
    let run = first(&MachineProgram::new("call", |setup: &mut Setup| {
        let talker = setup.create(Talker);
        setup.create(Caller(talker));
    }));
    insta::assert_snapshot!(dally_report::text::bug(&run.bug.unwrap()).lines().next().unwrap(), @"`Talker(0)` in state `One` has no handler for event `Down` from `Caller(1)`");
}

#[test]
fn raised_events_come_before_everything_in_the_inbox() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Count(u8);

    #[machine(states(Start))]
    impl Count {
        #[on(Start, Later)]
        fn later(&mut self, cx: &mut Cx<Self>, Later(number): Later) {
            cx.announce(number);
            if number % 10 < 3 {
                cx.raise(Later(number + 1));
            }
        }
    }
    let run = first(&MachineProgram::new("count", |setup: &mut Setup| {
        let count = setup.create(Count(0));
        setup.send(count, Later(1));
        setup.send(count, Later(11));
    }));
    assert_eq!(run.announced(), ["1", "2", "3", "11", "12", "13"]);
    assert_eq!(run.steps.len(), 3, "a chain of raised events is one step");
}

#[test]
fn a_raised_event_that_the_state_defers_or_ignores_is_dropped() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Loser;

    #[machine(states(Start, Second))]
    impl Loser {
        #[on(Start, Go)]
        fn go(&mut self, cx: &mut Cx<Self>) {
            cx.raise(Later(1));
        }
        #[on(Second, Later)]
        fn later(&mut self) {
            panic!("it was to be lost, as in P");
        }
        #[goto(Start, Leap => Second)]
        #[defer(Start, Later)]
        const RULES: () = ();
    }
    let run = first(&MachineProgram::new("loser", |setup: &mut Setup| {
        let loser = setup.create(Loser);
        setup.send(loser, Go);
        setup.send(loser, Leap);
    }));
    assert_eq!(run.bug, None);
}

#[test]
fn a_default_handler_runs_only_when_nothing_can_be_dequeued() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Idler(u8);

    #[machine(states(Busy, Over))]
    impl Idler {
        #[on(Busy, Go)]
        fn go(&mut self, cx: &mut Cx<Self>) {
            cx.announce("work");
        }
        #[default(Busy)]
        fn nothing(&mut self, cx: &mut Cx<Self>) {
            cx.announce("idle");
            self.0 += 1;
            if self.0 == 2 {
                cx.goto(Over);
            }
        }
        #[ignore(Over, Go)]
        #[defer(Busy, Later)]
        #[defer(Over, Later)]
        const RULES: () = ();
    }
    let run = first(&MachineProgram::new("idler", |setup: &mut Setup| {
        let idler = setup.create(Idler(0));
        setup.send(idler, Later(0));
        setup.send(idler, Go);
        setup.send(idler, Go);
    }));
    assert_eq!(run.announced(), ["work", "work", "idle", "idle"]);
}

#[test]
fn a_default_handler_competes_with_messages_that_may_still_come() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Waiter;

    #[machine(states(Waiting, Over))]
    impl Waiter {
        #[on(Waiting, Go)]
        fn go(&mut self, cx: &mut Cx<Self>) {
            cx.announce("called");
            cx.goto(Over);
        }
        #[default(Waiting)]
        fn give_up(&mut self, cx: &mut Cx<Self>) {
            cx.announce("gave up");
            cx.goto(Over);
        }
        #[ignore(Over, Go)]
        const RULES: () = ();
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Caller(Addr<Waiter>);

    #[machine(states(Start))]
    impl Caller {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            cx.send(self.0, Go);
        }
    }
    let runs = schedules(&MachineProgram::new("waiter", |setup: &mut Setup| {
        let waiter = setup.create(Waiter);
        setup.create(Caller(waiter));
    }));
    // The waiter's two steps are w and g, the caller's c and s: six orders, and each is called
    // exactly where s comes before g.
    let gave_up = runs.iter().filter(|run| run.announced() == ["gave up"]).count();
    assert_eq!((runs.len(), gave_up), (6, 3));
}

/// Misuses of the context.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Misuse {
    Twice,
    InExit,
    Pop,
    Choose,
    Pick,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Wrong(Misuse);

#[machine(states(Start, Second))]
impl Wrong {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        match self.0 {
            Misuse::Twice => {
                cx.raise(Go);
                cx.goto(Second);
            }
            Misuse::InExit => cx.goto(Second),
            Misuse::Pop => cx.pop(),
            Misuse::Choose => {
                cx.choose(0);
            }
            Misuse::Pick => {
                cx.pick::<u8>(&[]);
            }
        }
    }
    #[exit(Start)]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.push(Second);
    }
    #[ignore(Start, Go)]
    const RULES: () = ();
}

#[test]
fn misuse_of_the_context_is_a_bug_at_the_users_line() {
    let message = |misuse| {
        let run = first(&MachineProgram::new("wrong", move |setup: &mut Setup| {
            setup.create(Wrong(misuse));
        }));
        let bug = run.bug.unwrap();
        assert_eq!(bug.kind(), BugKind::Panic);
        if let Some(location) = &bug.location {
            assert!(location.file.ends_with("states.rs"), "{location}");
        }
        dally_report::text::bug(&bug)
    };
    insta::assert_snapshot!(message(Misuse::Twice), @"a handler of `Wrong` calls `goto` after `raise`; one transition per handler");
    insta::assert_snapshot!(message(Misuse::InExit), @"an exit action of `Wrong` calls `push`; the machine is already on its way");
    insta::assert_snapshot!(message(Misuse::Pop), @"`Wrong` calls `pop` in state `Start`, which was not pushed");
    insta::assert_snapshot!(message(Misuse::Choose), @"`choose(0)`: there is nothing to choose from");
    insta::assert_snapshot!(message(Misuse::Pick), @"`pick(&[])`: there is nothing to pick from");
}
