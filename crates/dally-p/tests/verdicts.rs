//! What comes of projects in the shapes that people write, at default settings: correct ones pass, and
//! bugs are found and called what they are. Each file of `verdicts/` says in its first line what is
//! expected of it: `pass`, `cut`, or `fail` with the kind of bug and a part of its text; `exhaustive`
//! where a search of all states comes to its end and says the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dally_core::{Finding, Report};
use dally_p::Project;
use dally_p::vm::{Foreign, PProgram};
use dally_search::liveness::Fairness;
use dally_search::strata::{ExplorerKind, Plan, SearchKind, explore};
use dally_search::{Ended, Options, run};

/// As `dally check` has them for P.
fn options(schedules: u64) -> Options {
    Options {
        schedules,
        fairness: Fairness::Strong,
        max_fair_steps: Some(100_000),
        confirm_temperature: 16,
        step_items: 200_000,
        time: Some(Duration::from_secs(120)),
        shrink: false,
        ..Options::default()
    }
}

fn exhausted(test: &Arc<PProgram>) -> Report {
    let plan = Plan { search: SearchKind::Map, memory: 256 << 20, ..Plan::default() };
    let explorer = ExplorerKind::default().build(0);
    explore(test.clone(), explorer, plan, options(1), Arc::new(()))
}

/// What is wrong with a report if this is expected.
fn wrong(report: &Report, expected: &str) -> Option<String> {
    let shown = |finding: &Finding| {
        let bug = &finding.bug;
        let culprit = bug.culprit.as_deref().unwrap_or("");
        format!("{} {culprit} {}", bug.kind(), dally_report::text::bug(bug))
    };
    let found: Vec<String> = report.findings.iter().map(shown).collect();
    let met = match expected.split_whitespace().collect::<Vec<_>>()[..] {
        ["pass"] => found.is_empty() && (report.cut == 0 || report.steps > 0),
        ["cut"] => found.is_empty() && report.cut > 0,
        ["fail", kind, part] => {
            matches!(&found[..], [one] if one.starts_with(kind) && one.contains(part))
        }
        _ => return Some(format!("`{expected}` says nothing")),
    };
    (!met).then(|| format!("expected {expected}, found {found:?}, {} cut", report.cut))
}

fn check(path: &Path, schedules: u64) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let first = text.lines().next().unwrap();
    let expected = first.strip_prefix("// expect: ").expect("the first line says what is expected");
    let (expected, exhaustive) = match expected.strip_suffix("exhaustive") {
        Some(expected) => (expected.trim_end_matches([' ', ',']), true),
        None => (expected, false),
    };
    let project = Project::open(path).unwrap();
    let mut all = Vec::new();
    for name in project.tests() {
        let test = Arc::new(project.test(name, Foreign::default()).unwrap());
        let sampled = run(test.clone(), options(schedules), Arc::new(()));
        all.extend(wrong(&sampled, expected).map(|why| format!("{name}: {why}")));
        if exhaustive {
            let searched = exhausted(&test);
            all.extend(wrong(&searched, expected).map(|why| format!("{name}, searched: {why}")));
            if expected == "pass" && (searched.ended != Ended::Exhausted || searched.cut > 0) {
                all.push(format!("{name}: the search ended by {:?}", searched.ended));
            }
        }
    }
    all
}

/// The projects, sorted by name; the folder next to this file.
fn projects() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verdicts");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort_unstable();
    paths
}

#[test]
fn every_project_has_the_verdict_that_its_first_line_states() {
    let projects = projects();
    assert!(projects.len() >= 40);
    let wrong: Vec<String> = projects
        .iter()
        .flat_map(|path| {
            let name = path.file_name().unwrap().display().to_string();
            check(path, 30).into_iter().map(move |why| format!("{name}: {why}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
