//! Front ends may tell anything in any order: every trace has a text and a document.

use std::collections::BTreeMap;
use std::time::Duration;

use dally_core::bug::{
    Endless, Named, Object, Origin, Phase, Place, PlaceOf, ProcessEnd, Uncontrolled, Unhandled,
    Unwound, Violation,
};
use dally_core::words::is_hidden;
use dally_core::{
    Access, Bug, Choice, Discard, Document, Event, Finding, Heat, Item, Lasso, Location, MessageId,
    Mode, ObjectId, Problem, Report, Resource, Schedule, Tag, Trace, TraceStep, Transition, Wait,
    Waiting, WorkerId,
};
use dally_report::{About, Style, json, text};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

fn workers() -> impl Strategy<Value = WorkerId> {
    let root = WorkerId::root;
    select(vec![root(0), root(1), root(0).child(0), root(0).timer(0), WorkerId::FAULTS])
}

fn messages() -> impl Strategy<Value = MessageId> {
    (workers(), 0..3u32).prop_map(|(sender, number)| MessageId { sender, number })
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        Just(String::new()),
        Just("two\nlines".into()),
        "x{150,200}",
        // Clears the screen, fills the clipboard, turns the direction, hides, rings.
        select(vec![
            "\x1b[2J",
            "\x1b]52;c;aGk=\x07",
            "\u{9b}31m",
            "\u{202e}\u{2066}",
            "a\u{200b}\rb\x7f"
        ])
        .prop_map(str::to_owned),
    ]
}

fn events() -> impl Strategy<Value = Event<String>> {
    let why = [Discard::Lost, Discard::Ignored, Discard::Gone, Discard::Cancelled];
    let how = [Transition::Start, Transition::Goto, Transition::Push, Transition::Pop];
    let object = workers().prop_map(|creator| ObjectId { creator, number: 0 });
    prop_oneof![
        (workers(), texts()).prop_map(|(worker, name)| Event::Created { worker, name }),
        (messages(), workers(), texts()).prop_map(|(message, to, payload)| Event::Sent {
            message,
            to,
            payload
        }),
        (messages(), messages()).prop_map(|(message, copy)| Event::Duplicated { message, copy }),
        (messages(), texts()).prop_map(|(message, payload)| Event::Received { message, payload }),
        (messages(), select(why.to_vec()))
            .prop_map(|(message, why)| Event::Discarded { message, why }),
        texts().prop_map(|payload| Event::Raised { payload }),
        (select(how.to_vec()), texts()).prop_map(|(how, to)| Event::Changed { how, to }),
        workers().prop_map(|worker| Event::Enabled { worker }),
        texts().prop_map(|on| Event::Blocked { on }),
        workers().prop_map(|worker| Event::Halted { worker }),
        (object, select(vec![Mode::Read, Mode::Write]), texts()).prop_map(
            |(object, mode, what)| {
                Event::Accessed { access: Access::new(Resource::Object(object), mode), what }
            }
        ),
        (workers(), texts()).prop_map(|(timer, payload)| Event::TimerSet { timer, payload }),
        workers().prop_map(|timer| Event::TimerCancelled { timer }),
        workers().prop_map(|worker| Event::Crashed { worker }),
        workers().prop_map(|worker| Event::Restarted { worker }),
        (texts(), texts(), select(vec![Heat::Hot, Heat::Cold, Heat::Neutral]))
            .prop_map(|(monitor, to, heat)| Event::MonitorChanged { monitor, to, heat }),
        texts().prop_map(|text| Event::Noted { text }),
    ]
}

fn items() -> impl Strategy<Value = Item> {
    let tags = select(vec![Tag::Program, Tag::Fault]);
    prop_oneof![
        5 => events().prop_map(Item::Event),
        1 => (any::<u32>(), any::<u32>(), tags)
            .prop_map(|(index, of, tag)| Item::Choice(Choice::Value { index, of, tag })),
        1 => messages().prop_map(|message| Item::Choice(Choice::Delivery(message))),
        1 => workers().prop_map(|worker| Item::Choice(Choice::Worker(worker))),
    ]
}

fn locations() -> impl Strategy<Value = Location> {
    (texts(), any::<u32>(), any::<u32>()).prop_map(|(file, line, column)| Location {
        file,
        line,
        column,
    })
}

fn unhandled() -> impl Strategy<Value = Unhandled> {
    let origins = prop_oneof![
        Just(Origin::Unknown),
        Just(Origin::Raised),
        Just(Origin::Itself),
        Just(Origin::Announced),
        (workers(), texts()).prop_map(|(worker, name)| Origin::Sent(Named { worker, name })),
    ];
    (texts(), origins, option::of(locations())).prop_map(|(event, origin, declared)| Unhandled {
        event,
        origin,
        declared,
    })
}

fn waiting() -> impl Strategy<Value = Waiting> {
    let places = select(vec![PlaceOf::Operation, PlaceOf::Creation, PlaceOf::Spawn]);
    let place = (places, locations()).prop_map(|(of, location)| Place { of, location });
    let object = (texts(), texts()).prop_map(|(kind, id)| Object { kind, id });
    let wait = (texts(), vec(texts(), 0..3), option::of(object), option::of(place))
        .prop_map(|(operation, payload, object, place)| Wait { operation, payload, object, place });
    (workers(), texts(), vec(wait, 0..3), any::<bool>())
        .prop_map(|(worker, name, on, woken_outside)| Waiting { worker, name, on, woken_outside })
}

fn endless() -> impl Strategy<Value = Endless> {
    let phases = select(vec![Phase::Start, Phase::Step(7), Phase::End]);
    prop_oneof![
        any::<u32>().prop_map(|items| Endless::Items { items }),
        (0..10_000u64, phases).prop_map(|(limit, phase)| {
            Endless::Time { limit: Duration::from_millis(limit), phase, call: None, holder: None }
        }),
        (0..99usize, any::<bool>())
            .prop_map(|(transitions, monitor)| Endless::Transitions { transitions, monitor }),
        (0..99usize).prop_map(|effects| Endless::Effects { effects }),
        (texts(), 0..99usize).prop_map(|(function, depth)| Endless::Calls { function, depth }),
        Just(Endless::Start),
    ]
}

fn uncontrolled() -> impl Strategy<Value = Uncontrolled> {
    prop_oneof![
        (any::<u64>(), 0..99usize, texts()).prop_map(|(schedule, step, difference)| {
            Uncontrolled::Schedule { schedule, step, difference }
        }),
        texts().prop_map(|difference| Uncontrolled::Prefix { difference }),
        texts().prop_map(|difference| Uncontrolled::Handler { difference }),
        select(vec![
            Uncontrolled::State,
            Uncontrolled::Fork,
            Uncontrolled::NotEnabled,
            Uncontrolled::Woken,
        ]),
    ]
}

fn problems() -> impl Strategy<Value = Problem> {
    let later = (texts(), option::of(locations()))
        .prop_map(|(message, location)| Unwound { message, location });
    let violation = prop_oneof![
        texts().prop_map(|message| Violation::Assertion { message }),
        texts().prop_map(|proposition| Violation::Always { proposition }),
        unhandled().prop_map(Violation::UnhandledEvent),
    ];
    prop_oneof![
        (texts(), any::<bool>(), vec(later, 0..2)).prop_map(|(message, at_tear_down, then)| {
            Problem::Panic { message, at_tear_down, then }
        }),
        unhandled().prop_map(Problem::UnhandledEvent),
        vec(waiting(), 0..4).prop_map(|waiting| Problem::Deadlock { waiting }),
        violation.prop_map(Problem::Monitor),
        Just(Problem::HotAtEnd),
        (vec(texts(), 0..3), any::<bool>(), 0..99usize)
            .prop_map(|(states, visits, length)| { Problem::Livelock { states, visits, length } }),
        (0..99usize).prop_map(|bound| Problem::Temperature { bound }),
        (0..99usize).prop_map(|bound| Problem::StepBound { bound }),
        (0..99usize).prop_map(|stacks| Problem::OutOfStacks { stacks }),
        endless().prop_map(Problem::EndlessStep),
        select(vec![ProcessEnd::Exit, ProcessEnd::Abort])
            .prop_map(|by| Problem::ProcessEnd { by, phase: Phase::Step(7) }),
        uncontrolled().prop_map(Problem::Uncontrolled),
        texts().prop_map(|expected| Problem::NoFailure { expected }),
    ]
}

fn bugs() -> impl Strategy<Value = Bug> {
    let (culprit, state) = (option::of(texts()), option::of(texts()));
    (problems(), culprit, state, option::of(workers()), option::of(locations())).prop_map(
        |(problem, culprit, state, worker, location)| Bug {
            problem: Box::new(problem),
            culprit,
            state,
            worker,
            location,
        },
    )
}

fn findings() -> impl Strategy<Value = Finding> {
    let step = (workers(), vec(items(), 0..6)).prop_map(|(worker, items)| TraceStep {
        worker,
        items,
        after: Vec::new(),
        clock: None,
        fields: None,
    });
    let names = prop::collection::btree_map(workers(), texts(), 0..4);
    (bugs(), vec(step, 0..12), names).prop_map(|(bug, steps, names)| finding(bug, steps, names))
}

fn finding(bug: Bug, steps: Vec<TraceStep>, names: BTreeMap<WorkerId, String>) -> Finding {
    let choices = steps.iter().map(|step| Choice::Worker(step.worker)).collect();
    let schedule = Schedule { bug: Some(bug.record()), choices, ..Schedule::default() };
    // The loop need not even be part of the trace.
    let lasso = match &*bug.problem {
        Problem::Livelock { states, length, .. } => Some(Lasso {
            stem: *length,
            monitor: bug.culprit.clone().unwrap_or_default(),
            states: states.clone(),
            rounds: 1,
            whole: false,
        }),
        _ => None,
    };
    let mut finding = Finding::new(bug, schedule, 1);
    finding.lasso = lasso;
    finding.trace = Trace { names, steps };
    finding
}

proptest! {
    #[test]
    fn every_finding_has_a_text_and_a_document(finding in findings(), shown in 0..15usize) {
        let about = About { steps_shown: Some(shown), ..About::new("any") };
        let mut run = Report::new("any", "step");
        let text = text::finding(&finding, &run, &about);
        prop_assert!(!text.contains(is_hidden), "{:?}", text);
        let painted = text::finding(&finding, &run, &About { style: Style::Colour, ..about.clone() });
        let colours = ["1;31", "33", "1", "36", "2", "0"].map(|code| format!("\x1b[{code}m"));
        let unpainted = colours.iter().fold(painted, |text, code| text.replace(code, ""));
        prop_assert_eq!(&unpainted, &text, "colours are all that is added");
        let head = format!("bug[{}]: ", finding.bug.kind());
        prop_assert!(text.starts_with(&head));
        let replay = format!("\n  dally replay {}\n", finding.schedule.to_token());
        prop_assert_eq!(text.ends_with(&replay), !finding.trace.steps.is_empty());

        let document = json::finding(&finding, &run);
        prop_assert!(!document.contains(is_hidden), "{:?}", document);
        let document: serde_json::Value = serde_json::from_str(&document)?;
        prop_assert_eq!(document["steps"].as_array().map(Vec::len), Some(finding.trace.steps.len()));
        prop_assert_eq!(&document["text"], &text::bug(&finding.bug));
        prop_assert_eq!(&document["bug"]["kind"], finding.bug.kind().name());

        for told in [text::line(&finding.bug), text::bug(&finding.bug), finding.schedule.to_text()] {
            prop_assert!(!told.contains(is_hidden), "{:?}", told);
        }
        run.findings.push(finding);
        prop_assert!(!text::summary("\x1b[2J", &run, Style::Plain).contains(is_hidden));
        prop_assert!(!json::run(&run).contains(is_hidden));
        prop_assert_eq!(Report::read(&run.write())?, run.clone());
        prop_assert_eq!(Report::read(&json::run(&run))?, run);
    }
}
