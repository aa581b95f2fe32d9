//! Front ends may tell anything in any order: every trace has a text and a document.

use std::collections::BTreeMap;

use dally_core::{
    Access, Bug, BugKind, Choice, Discard, Document, Event, Finding, Heat, Item, Lasso, Location,
    MessageId, ObjectId, Report, Schedule, Tag, Trace, TraceStep, Transition, VectorClock,
    WorkerId,
};
use dally_report::{About, json, text};
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
    prop_oneof![any::<String>(), Just(String::new()), Just("two\nlines".into()), "x{150,200}"]
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
        (object, select(vec![Access::Read, Access::Write]), texts())
            .prop_map(|(object, access, what)| Event::Accessed { object, access, what }),
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
        5 => events().prop_map(Item::Told),
        1 => (any::<u32>(), any::<u32>(), tags)
            .prop_map(|(index, of, tag)| Item::Chose(Choice::Value { index, of, tag })),
        1 => messages().prop_map(|message| Item::Chose(Choice::Delivery(message))),
        1 => workers().prop_map(|worker| Item::Chose(Choice::Worker(worker))),
    ]
}

fn findings() -> impl Strategy<Value = Finding> {
    let step = (workers(), prop::collection::vec(items(), 0..6))
        .prop_map(|(worker, items)| TraceStep { worker, items, clock: VectorClock::default() });
    let steps = prop::collection::vec(step, 0..12);
    let names = prop::collection::btree_map(workers(), texts(), 0..4);
    let location = proptest::option::of((texts(), any::<u32>(), any::<u32>()));
    (select(BugKind::ALL.to_vec()), texts(), proptest::option::of(texts()), location, steps, names)
        .prop_map(|(kind, message, culprit, location, steps, names)| {
            let location = location.map(|(file, line, column)| Location { file, line, column });
            finding(Bug { kind, message, location, culprit }, steps, names)
        })
}

fn finding(bug: Bug, steps: Vec<TraceStep>, names: BTreeMap<WorkerId, String>) -> Finding {
    let choices = steps.iter().map(|step| Choice::Worker(step.worker)).collect();
    let schedule = Schedule { outcome: bug.to_string(), choices, ..Schedule::default() };
    let mut finding = Finding::new(bug, schedule, 1);
    let message = &finding.bug.message;
    // The loop need not even be part of the trace.
    finding.lasso = (finding.bug.kind == BugKind::Livelock).then(|| Lasso {
        stem: message.len(),
        monitor: message.clone(),
        states: vec![message.clone(); message.len() % 3],
        rounds: 1,
        whole: false,
    });
    finding.trace = Trace { names, steps };
    finding
}

proptest! {
    #[test]
    fn every_finding_has_a_text_and_a_document(finding in findings(), shown in 0..15usize) {
        let about = About { steps_shown: Some(shown), ..About::new("any") };
        let mut run = Report::new("any", "step");
        let text = text::finding(&finding, &run, &about);
        let head = format!("bug[{}]: ", finding.bug.kind);
        prop_assert!(text.starts_with(&head));
        let replay = format!("\n  dally replay {}\n", finding.schedule.to_token());
        prop_assert_eq!(text.ends_with(&replay), !finding.trace.steps.is_empty());

        let document: serde_json::Value = serde_json::from_str(&json::finding(&finding, &run))?;
        prop_assert_eq!(document["steps"].as_array().map(Vec::len), Some(finding.trace.steps.len()));
        prop_assert_eq!(&document["bug"]["message"], &finding.bug.message);

        run.findings.push(finding);
        prop_assert_eq!(Report::read(&run.write())?, run.clone());
        prop_assert_eq!(Report::read(&json::run(&run))?, run);
    }
}
