//! What `#[machine]` and `#[monitor]` make of a block: which rule decides, and that its function
//! is called with the right event.

use std::sync::mpsc::{self, Sender};

use dally::contract::{
    Cut, Env, Event, Heat, MessageId, Program, Stop, System, Tag, Text, Transition,
};
use dally::machines::{Addr, Setup};
use dally::machines::{Cx, Handles, Machine, MachineProgram, MonitorCx, MonitorMachine, Reaction};
use dally::{machine, monitor};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct A;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct B(u32);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct C<T> {
    value: T,
}

/// Writes the notes and the changes of state of the machines into one story.
#[derive(Default)]
struct Story(Vec<String>);

impl Env for Story {
    fn value(&mut self, _: u32, _: Tag) -> Result<u32, Cut> {
        Ok(0)
    }

    fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> {
        Ok(0)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        match event {
            Event::Noted { text } => self.0.push(text.to_string()),
            Event::Changed { how: Transition::Start, .. } => {}
            Event::Changed { to, .. } => self.0.push(format!("now {to}")),
            Event::MonitorChanged { to, heat, .. } => self.0.push(format!("{heat:?}: {to}")),
            _ => {}
        }
        Ok(())
    }
}

/// The story of a program whose first enabled worker always steps, or its bug as the last line.
fn story(setup: impl Fn(&mut Setup) + Send + Sync + 'static) -> Vec<String> {
    // Handlers note what they do at once, so they are run once.
    let program = MachineProgram::new("story", setup).run_twice(false);
    let mut system = program.start().expect("the setup has no bug");
    let mut story = Story::default();
    while let Some(&worker) = system.enabled().first() {
        if let Err(stop) = system.step(worker, &mut story) {
            let Stop::Bug(bug) = stop else { panic!("nothing is cut here") };
            story.0.push(bug.to_string());
            break;
        }
    }
    story.0
}

/// Has rules of all kinds; goes to a state of the test's choice first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Wildcards {
    to: &'static str,
}

#[machine(states(Plain, Own, Mixed, Silent))]
impl Wildcards {
    #[entry(Plain)]
    fn jump(&mut self, cx: &mut Cx<Self>) {
        match self.to {
            "Own" => cx.goto(Own),
            "Mixed" => cx.goto(Mixed),
            "Silent" => cx.goto(Silent),
            _ => {}
        }
    }

    #[on(Own | Mixed, A)]
    fn own_a(&mut self, cx: &mut Cx<Self>, _: A) {
        cx.note("own A");
    }

    #[on(Mixed, _)]
    fn own_any(&mut self, cx: &mut Cx<Self>) {
        cx.note("own any");
    }

    #[on(_, B)]
    fn any_state(&mut self, cx: &mut Cx<Self>, B(number): B) {
        cx.note(format!("B({number}) anywhere"));
    }

    #[on(_, _)]
    fn anything(&mut self, cx: &mut Cx<Self>) {
        cx.note("anything");
    }

    #[goto(Own, C<u32> => Silent)]
    #[ignore(Silent, _)]
    #[defer(Silent, A)]
    const RULES: () = ();
}

/// In each state, what becomes of A, B and C.
fn reactions() -> Vec<[Reaction; 3]> {
    use WildcardsState::{Mixed, Own, Plain, Silent};

    let events = [
        <Wildcards as Handles<A>>::EVENT,
        <Wildcards as Handles<B>>::EVENT,
        <Wildcards as Handles<C<u32>>>::EVENT,
    ];
    let of = |state| events.map(|event| Wildcards::reaction(state, event));
    [Plain, Own, Mixed, Silent].map(of).to_vec()
}

#[test]
fn a_state_decides_for_all_events_if_it_says_so_even_where_all_states_have_a_rule() {
    use Reaction::{Defer, Handle, Ignore};

    assert_eq!(
        reactions(),
        [[Handle, Handle, Handle], [Handle; 3], [Handle; 3], [Defer, Ignore, Ignore]]
    );
}

#[test]
fn the_rule_that_decides_is_state_and_event_then_state_then_event_then_any() {
    let all_three = |start: &'static str| {
        story(move |setup| {
            let machine = setup.create(Wildcards { to: start });
            setup.send(machine, A);
            setup.send(machine, B(7));
            setup.send(machine, C { value: 3 });
        })
    };
    assert_eq!(all_three("Plain"), ["anything", "B(7) anywhere", "anything"]);
    assert_eq!(all_three("Mixed"), ["now Mixed", "own A", "own any", "own any"]);
    assert_eq!(all_three("Own"), ["now Own", "own A", "B(7) anywhere", "now Silent"]);
    assert_eq!(all_three("Silent"), ["now Silent"]);
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Actions;

#[machine(states(First, Second, Third))]
impl Actions {
    #[entry(_)]
    fn enter(&mut self, cx: &mut Cx<Self>) {
        cx.note("enter");
    }

    #[entry(Third)]
    fn enter_third(&mut self, cx: &mut Cx<Self>) {
        cx.note("enter third");
    }

    #[exit(First | Second)]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.note("leave");
    }

    #[default(Second)]
    fn nothing_to_do(&mut self, cx: &mut Cx<Self>) {
        cx.note("nothing to do");
        cx.goto(Third);
    }

    #[goto(First, A, B => Second)]
    const RULES: () = ();
}

#[test]
fn entry_exit_and_default_actions_of_a_state_come_before_those_of_any_state() {
    let story = story(|setup| {
        let machine = setup.create(Actions);
        setup.send(machine, B(1));
    });
    let expected = [
        "enter",
        "leave",
        "now Second",
        "enter",
        "nothing to do",
        "leave",
        "now Third",
        "enter third",
    ];
    assert_eq!(story, expected);
    let has_default = [ActionsState::First, ActionsState::Second, ActionsState::Third]
        .map(<Actions as Machine>::has_default);
    assert_eq!(has_default, [false, true, false]);
}

#[test]
fn an_event_without_a_rule_in_a_state_is_a_bug_that_names_machine_state_and_event() {
    let story = story(|setup| {
        let machine = setup.create(Actions);
        setup.send(machine, A);
        setup.send(machine, A);
    });
    let bug = story.last().expect("there is a story");
    assert!(bug.starts_with("unhandled-event"), "{bug}");
    for part in ["Actions", "Second", "A"] {
        assert!(bug.contains(part), "{part} in {bug}");
    }
}

#[test]
fn names_are_those_of_the_source() {
    assert_eq!(Wildcards::NAME, "Wildcards");
    assert_eq!(Wildcards::EVENTS, ["A", "B", "C<u32>"]);
    assert_eq!(Wildcards::START, WildcardsState::Plain);
    assert_eq!(Wildcards::state_name(WildcardsState::Silent), "Silent");
    const { assert!(!Wildcards::IS_DURABLE) };
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Counter {
    initial: u32,
    count: u32,
}

#[machine(states(Counting), durable = u32)]
impl Counter {
    #[on(Counting, B)]
    fn count(&mut self, cx: &mut Cx<Self>, B(number): B) {
        self.count += number;
        cx.persist(self.count);
    }

    fn recover(self, durable: Option<u32>) -> Self {
        Counter { count: durable.unwrap_or(self.initial), ..self }
    }
}

#[test]
fn recovery_is_the_blocks_own() {
    const { assert!(Counter::IS_DURABLE) };
    let created = Counter { initial: 5, count: 0 };
    assert_eq!(<Counter as Machine>::recover(created.clone(), None).count, 5);
    assert_eq!(<Counter as Machine>::recover(created, Some(9)).count, 9);
}

#[derive(Debug)]
struct Uncopied;

#[machine(uncaptured, states(Up))]
impl Uncopied {
    #[on(Up, Sender<u32>)]
    fn answer(&mut self, cx: &mut Cx<Self>, to: Sender<u32>) {
        to.send(1).expect("the test holds the other end");
        cx.note("answered");
    }
}

#[test]
fn an_uncaptured_machine_takes_events_that_cannot_be_compared() {
    let (sender, receiver) = mpsc::channel();
    let story = story(move |setup| {
        let machine = setup.create(Uncopied);
        setup.send(machine, sender.clone());
    });
    assert_eq!(story, ["answered"]);
    assert_eq!(receiver.recv(), Ok(1));
    assert!(<Uncopied as Machine>::capture().is_none());
    assert!(<Wildcards as Machine>::capture().is_some());
}

#[derive(Clone, Hash, Debug, Default)]
struct Watch {
    sum: u32,
}

#[monitor(states(cold Calm, hot Waiting, Unsure))]
impl Watch {
    #[on(Calm, A)]
    fn wait(&mut self, cx: &mut MonitorCx<Self>) {
        cx.goto(Waiting);
    }

    #[on(Waiting, B)]
    fn by_reference(&mut self, cx: &mut MonitorCx<Self>, B(number): &B) {
        self.sum += number;
        if self.sum >= 3 {
            cx.goto(Unsure);
        }
    }

    #[on(Unsure, B)]
    fn by_value(&mut self, _: &mut MonitorCx<Self>, b: B) {
        assert_eq!(b, B(3), "an unsure monitor takes only threes");
    }

    #[goto(_, C<u32> => Calm)]
    #[ignore(Waiting, A)]
    const RULES: () = ();
}

/// Announces what it is told to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Herald;

#[machine(states(Up))]
impl Herald {
    #[on(Up, A)]
    fn a(&mut self, cx: &mut Cx<Self>, a: A) {
        cx.announce(a);
    }

    #[on(Up, B)]
    fn b(&mut self, cx: &mut Cx<Self>, b: B) {
        cx.announce(b);
    }

    #[on(Up, C<u32>)]
    fn c(&mut self, cx: &mut Cx<Self>, c: C<u32>) {
        cx.announce(c);
    }
}

/// The story of a monitor that is told events in the order in which `send` sends them.
fn monitored(send: fn(&mut Setup, Addr<Herald>)) -> Vec<String> {
    story(move |setup| {
        setup.monitor(Watch::default());
        let herald = setup.create(Herald);
        send(setup, herald);
    })
}

#[test]
fn a_monitor_is_told_events_by_reference_or_by_value_and_changes_its_heat() {
    let story = monitored(|setup, herald| {
        setup.send(herald, A);
        setup.send(herald, A);
        setup.send(herald, B(1));
        setup.send(herald, B(2));
        setup.send(herald, B(3));
        setup.send(herald, C { value: 0 });
    });
    assert_eq!(story, ["Hot: Waiting", "Neutral: Unsure", "Cold: Calm"]);
    assert_eq!(Watch::heat(WatchState::Waiting), Heat::Hot);
}

#[test]
fn an_assertion_of_a_monitor_and_an_event_without_a_rule_are_bugs() {
    let story = monitored(|setup, herald| {
        setup.send(herald, A);
        setup.send(herald, B(3));
        setup.send(herald, B(4));
    });
    let bug = story.last().expect("there is a story");
    assert!(bug.starts_with("monitor") && bug.contains("only threes"), "{bug}");

    let story = monitored(|setup, herald| setup.send(herald, B(3)));
    let bug = story.last().expect("there is a story");
    assert!(bug.contains("event B in state Calm (Watch)"), "{bug}");
}
