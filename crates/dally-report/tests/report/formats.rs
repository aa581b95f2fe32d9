//! What CI servers and code scanners are given, judged by the rules of their formats.

use dally_core::{Bug, Choice, Finding, Location, Problem, Report, Schedule, WorkerId};
use dally_report::About;
use dally_report::formats::{Outcome, github, junit, sarif};
use serde_json::Value;

/// A text with all that ends an element, a command, a line or a document somewhere.
const EVIL: &str =
    "50% of <b>\"all\"</b> & ]]> ::error::, \u{1b}[2J\u{0}\nsecond: line\u{202e}\u{fffe}";

fn report(message: &str) -> Report {
    let mut report = Report::new("pool", "await points");
    for (at, file) in [(1, "src/my pool.rs"), (2, "src/other.rs")] {
        let location = Location { file: file.into(), line: at, column: 5 };
        let bug = Bug::new(Problem::panic(message)).at(Some(location));
        let choices = vec![Choice::Worker(WorkerId::root(0))];
        let schedule = Schedule { choices, ..Schedule::default() };
        report.findings.push(Finding::new(bug, schedule, at.into()));
    }
    report.schedules = 12;
    report
}

fn abouts(report: &Report) -> Vec<About> {
    let about = || About { replay: vec!["dally replay it".into()], ..About::new("pool") };
    report.findings.iter().map(|_| about()).collect()
}

/// A run with two findings, one without, and one that could not be checked.
fn three<T>(message: &str, told: impl Fn(&[Outcome<'_>]) -> T) -> T {
    let (bad, clean) = (report(message), Report::new("clean", ""));
    let failed =
        Outcome { error: Some("no <memory>".into()), ..Outcome::new("failed", &clean, vec![]) };
    let abouts = abouts(&bad);
    told(&[Outcome::new("po<ol", &bad, abouts), Outcome::new("clean", &clean, vec![]), failed])
}

#[test]
fn junit_has_a_case_for_each_program_and_a_failure_for_each_finding() {
    let xml = three(EVIL, |outcomes| junit("my \"crate\"", outcomes));
    let document = roxmltree::Document::parse(&xml).unwrap();
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    let suite = root.first_element_child().unwrap();
    assert_eq!(
        (suite.tag_name().name(), suite.attribute("name")),
        ("testsuite", Some("my \"crate\""))
    );
    for (count, expected) in [("tests", "3"), ("failures", "1"), ("errors", "1")] {
        assert_eq!(
            (suite.attribute(count), root.attribute(count)),
            (Some(expected), Some(expected))
        );
    }
    let cases: Vec<_> = suite.children().filter(|node| node.has_tag_name("testcase")).collect();
    let names: Vec<_> = cases.iter().filter_map(|case| case.attribute("name")).collect();
    assert_eq!(names, ["po<ol", "clean", "failed"]);
    for case in &cases {
        assert!(case.attribute("classname").is_some());
        case.attribute("time").unwrap().parse::<f64>().unwrap();
        // The schema has failures and errors before the output.
        let order: Vec<_> =
            case.children().filter(|n| n.is_element()).map(|n| n.tag_name().name()).collect();
        assert!(order.ends_with(&["system-out"]), "{order:?}");
    }
    let failures: Vec<_> = cases[0].children().filter(|n| n.has_tag_name("failure")).collect();
    assert_eq!(failures.len(), 2);
    assert_eq!(failures[0].attribute("type"), Some("panic"));
    let text = failures[0].text().unwrap();
    assert!(text.contains("<b>\"all\"</b> & ]]>") && text.contains("dally replay it"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{0}', '\u{202e}']));
    assert_eq!(cases[2].children().filter(|n| n.has_tag_name("error")).count(), 1);
}

#[test]
fn github_gets_one_line_for_each_finding_in_which_nothing_ends_early() {
    let text = three(EVIL, github);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    insta::assert_snapshot!(text);
    for line in &lines {
        let rest = line.strip_prefix("::").unwrap();
        let (command, message) = rest.split_once("::").unwrap();
        let (kind, properties) = command.split_once(' ').unwrap();
        assert!(["error", "notice"].contains(&kind));
        for property in properties.split(',') {
            let (name, value) = property.split_once('=').unwrap();
            assert!(["file", "line", "col", "title"].contains(&name), "{line}");
            assert!(!value.contains(':') && !value.is_empty(), "{line}");
        }
        assert!(!message.is_empty() && message.chars().all(|c| !c.is_control()), "{line}");
    }
}

#[test]
fn sarif_has_what_version_2_1_0_requires() {
    let text = three(EVIL, sarif);
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["version"], "2.1.0");
    let run = &document["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "Dally");
    let rules = driver["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert_eq!((rules.len(), results.len()), (1, 2));
    for result in results {
        let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(["none", "note", "warning", "error"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        assert!(uri.chars().all(|c| c.is_ascii_graphic()), "{uri}");
        assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
        assert!(result["partialFingerprints"].as_object().unwrap().values().all(Value::is_string));
    }
    let uri = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "src/my%20pool.rs");
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["toolExecutionNotifications"].as_array().unwrap().len(), 1);
    assert!(!text.contains(['\u{1b}', '\u{202e}']));
}

/// An element of JUnit's XML by the schema that Jenkins publishes (`junit-10.xsd`): the attributes that it must
/// have, those that it may have, and its children.
type Element =
    (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const JUNIT: [Element; 6] = [
    (
        "testsuites",
        &[],
        &["name", "time", "tests", "failures", "disabled", "errors"],
        &["testsuite"],
    ),
    (
        "testsuite",
        &["name"],
        &[
            "name",
            "tests",
            "failures",
            "errors",
            "time",
            "disabled",
            "skipped",
            "timestamp",
            "hostname",
            "id",
        ],
        &["testcase", "properties", "system-out", "system-err"],
    ),
    (
        "testcase",
        &["name"],
        &["name", "assertions", "time", "classname", "status"],
        &["skipped", "error", "failure", "system-out", "system-err"],
    ),
    ("failure", &[], &["type", "message"], &[]),
    ("error", &[], &["type", "message"], &[]),
    ("system-out", &[], &[], &[]),
];

#[test]
fn junit_is_what_the_schema_of_its_readers_allows() {
    let xml = three(EVIL, |outcomes| junit("my \"crate\"", outcomes));
    let document = roxmltree::Document::parse(&xml).unwrap();
    let mut seen = 0;
    for node in document.descendants().filter(|node| node.is_element()) {
        let name = node.tag_name().name();
        let rule = JUNIT.iter().find(|rule| rule.0 == name);
        let (_, required, allowed, children) = rule.unwrap_or_else(|| panic!("no <{name}>"));
        for attribute in node.attributes() {
            assert!(allowed.contains(&attribute.name()), "<{name} {}>", attribute.name());
            match attribute.name() {
                "tests" | "failures" | "errors" => drop(attribute.value().parse::<u32>().unwrap()),
                "time" => assert!(attribute.value().parse::<f64>().unwrap() >= 0.0),
                _ => {}
            }
        }
        assert!(required.iter().all(|attribute| node.has_attribute(*attribute)), "<{name}>");
        for child in node.children().filter(|child| child.is_element()) {
            let child = child.tag_name().name();
            assert!(children.contains(&child), "<{child}> in <{name}>");
        }
        seen += 1;
    }
    assert_eq!(seen, 11);
}

/// An object of SARIF 2.1.0: what it is called here, the properties that it must have, and those that it may
/// have, each with the object that it is or is a list of, or nothing. The standard allows no others.
type Object = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

const SARIF: [Object; 13] = [
    ("log", &["version", "runs"], &[("$schema", ""), ("version", ""), ("runs", "run")]),
    (
        "run",
        &["tool"],
        &[
            ("tool", "tool"),
            ("columnKind", ""),
            ("invocations", "invocation"),
            ("results", "result"),
        ],
    ),
    ("tool", &["driver"], &[("driver", "component")]),
    ("component", &["name"], &[("name", ""), ("version", ""), ("rules", "rule")]),
    ("rule", &["id"], &[("id", "")]),
    (
        "invocation",
        &["executionSuccessful"],
        &[("executionSuccessful", ""), ("toolExecutionNotifications", "notification")],
    ),
    ("notification", &["message"], &[("level", ""), ("message", "message")]),
    (
        "result",
        &["message"],
        &[
            ("ruleId", ""),
            ("ruleIndex", ""),
            ("level", ""),
            ("message", "message"),
            ("partialFingerprints", ""),
            ("properties", ""),
            ("locations", "location"),
        ],
    ),
    ("message", &["text"], &[("text", "")]),
    ("location", &[], &[("physicalLocation", "physical")]),
    ("physical", &["artifactLocation"], &[("artifactLocation", "artifact"), ("region", "region")]),
    ("artifact", &["uri"], &[("uri", "")]),
    ("region", &["startLine"], &[("startLine", ""), ("startColumn", "")]),
];

fn judge(value: &Value, name: &str) -> u32 {
    if let Value::Array(values) = value {
        return values.iter().map(|value| judge(value, name)).sum();
    }
    let (_, required, allowed) = SARIF.iter().find(|rule| rule.0 == name).unwrap();
    let object = value.as_object().unwrap_or_else(|| panic!("{name} is an object: {value}"));
    assert!(required.iter().all(|property| object.contains_key(*property)), "{name}: {value}");
    let parts = object.iter().map(|(property, value)| {
        let rule = allowed.iter().find(|(allowed, _)| allowed == property);
        let (_, part) = rule.unwrap_or_else(|| panic!("{name} has no `{property}`"));
        if part.is_empty() { 0 } else { judge(value, part) }
    });
    1 + parts.sum::<u32>()
}

#[test]
fn sarif_has_all_that_its_standard_requires_and_nothing_that_it_does_not_know() {
    let document: Value = serde_json::from_str(&three(EVIL, sarif)).unwrap();
    // The log, its run, tool, driver, rule, invocation, notification with its message; for each result a message,
    // a location, a physical one, an artifact and a region.
    assert_eq!(judge(&document, "log"), 8 + 2 * 6);
    let kinds = ["utf16CodeUnits", "unicodeCodePoints"];
    assert!(kinds.contains(&document["runs"][0]["columnKind"].as_str().unwrap()));
}
