//! The JSON documents are what `docs/json.md` says.

use dally_core::{
    Access, Choice, Discard, Event, Heat, Item, MessageId, ObjectId, Tag, Transition, WorkerId,
};
use dally_report::json;

use crate::findings;

const DOCS: &str = include_str!("../../../../docs/json.md");

/// The example under a heading of the documentation.
fn example(heading: &str) -> &'static str {
    let section = DOCS.split(&format!("\n## {heading}")).nth(1).expect(heading);
    section.split("```json\n").nth(1).and_then(|block| block.split("```").next()).expect(heading)
}

#[test]
fn the_documented_trace_is_the_real_one() {
    let (finding, about) = findings::hot_at_end();
    assert_eq!(json::finding(&finding, &about), example("A finding: `dally-trace`"));
}

#[test]
fn the_documented_run_is_the_real_one() {
    let (_, about) = findings::hot_at_end();
    assert_eq!(json::run("lossy-server", &about.statistics, &[]), example("A run: `dally-run`"));
}

#[test]
fn a_run_holds_the_documents_of_its_findings() {
    let (finding, about) = findings::two_phase_commit();
    let run = json::run(&about.program, &about.statistics, std::slice::from_ref(&finding));
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    let mut alone: serde_json::Value =
        serde_json::from_str(&json::finding(&finding, &about)).unwrap();
    // The statistics are those of the run.
    assert_eq!(alone.as_object_mut().unwrap().remove("statistics").unwrap(), run["statistics"]);
    assert_eq!(run["findings"], serde_json::json!([alone]));
}

#[test]
fn the_token_in_a_document_is_its_schedule() {
    let (finding, about) = findings::two_phase_commit();
    let document: serde_json::Value =
        serde_json::from_str(&json::finding(&finding, &about)).unwrap();
    let token = document["schedule"]["token"].as_str().unwrap();
    assert_eq!(dally_core::Schedule::parse(token), Ok(finding.schedule));
}

/// One of each, as they stand in the tables of the documentation.
fn every_item() -> Vec<Item> {
    let worker = WorkerId::root(1);
    let message = MessageId { sender: WorkerId::root(0), number: 2 };
    let copy = MessageId { sender: WorkerId::root(0), number: 3 };
    let object = ObjectId { creator: WorkerId::root(0), number: 4 };
    let text = || "...".to_owned();
    let mut items = vec![
        Item::Chose(Choice::Value { index: 1, of: 3, tag: Tag::Program }),
        Item::Chose(Choice::Value { index: 0, of: 2, tag: Tag::Fault }),
        Item::Chose(Choice::Delivery(message)),
    ];
    let events = [
        Event::Created { worker, name: text() },
        Event::Sent { message, to: worker, payload: text() },
        Event::Duplicated { message, copy },
        Event::Received { message, payload: text() },
        Event::Discarded { message, why: Discard::Lost },
        Event::Discarded { message, why: Discard::Ignored },
        Event::Discarded { message, why: Discard::Gone },
        Event::Discarded { message, why: Discard::Cancelled },
        Event::Raised { payload: text() },
        Event::Changed { how: Transition::Start, to: text() },
        Event::Changed { how: Transition::Goto, to: text() },
        Event::Changed { how: Transition::Push, to: text() },
        Event::Changed { how: Transition::Pop, to: text() },
        Event::Enabled { worker },
        Event::Blocked { on: text() },
        Event::Halted { worker },
        Event::Accessed { object, access: Access::Read, what: text() },
        Event::Accessed { object, access: Access::Write, what: text() },
        Event::TimerSet { timer: worker.timer(0), payload: text() },
        Event::TimerCancelled { timer: worker.timer(0) },
        Event::Persisted { payload: text() },
        Event::Crashed { worker },
        Event::Restarted { worker },
        Event::Announced { payload: text() },
        Event::MonitorChanged { monitor: text(), to: text(), heat: Heat::Hot },
        Event::MonitorChanged { monitor: text(), to: text(), heat: Heat::Cold },
        Event::MonitorChanged { monitor: text(), to: text(), heat: Heat::Neutral },
        Event::Noted { text: text() },
    ];
    items.extend(events.map(Item::Told));
    items
}

#[test]
fn every_field_of_every_item_is_documented() {
    let (mut finding, about) = findings::hot_at_end();
    finding.trace.steps[0].items = every_item();
    let document: serde_json::Value =
        serde_json::from_str(&json::finding(&finding, &about)).unwrap();
    let items = document["steps"][0]["items"].as_array().unwrap();
    assert_eq!(items.len(), every_item().len());
    for item in items {
        let fields = item.as_object().unwrap();
        let what = fields.get("event").map_or_else(
            || fields.keys().find(|&name| name != "of").unwrap().as_str(),
            |event| event.as_str().unwrap(),
        );
        let row = DOCS.lines().find(|line| line.starts_with(&format!("| `{what}` |")));
        let row = row.unwrap_or_else(|| panic!("no row for `{what}`"));
        for (name, value) in fields.iter().filter(|(name, _)| *name != "event") {
            assert!(row.contains(&format!("`{name}`")), "`{name}` in the row of `{what}`: {row}");
            if ["why", "how", "access", "heat"].contains(&name.as_str()) {
                let value = value.as_str().unwrap();
                assert!(row.contains(&format!("`{value}`")), "`{value}` in: {row}");
            }
        }
    }
}

#[test]
fn every_other_field_is_documented() {
    let (mut finding, about) = findings::two_phase_commit();
    finding.lasso = findings::livelock().0.lasso;
    let document: serde_json::Value =
        serde_json::from_str(&json::finding(&finding, &about)).unwrap();
    let documented = |name: &str| {
        assert!(DOCS.contains(&format!("\n| `{name}` |")), "no row for `{name}`");
    };
    for (name, value) in document.as_object().unwrap() {
        documented(name);
        for inner in value.as_object().into_iter().flatten() {
            documented(&format!("{name}.{}", inner.0));
        }
    }
}
