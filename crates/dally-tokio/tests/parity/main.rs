//! Every public item of tokio's stable surface is there, or absent for a reason: the list is made from the sources of
//! both, and is the page `docs/tokio-parity.md`.
//!
//! Items are compared by their paths, and methods by their names: that they do the same is what `dally-tasks/tests/fidelity`
//! shows.

mod source;
mod surface;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use source::Source;
use surface::Crates;

/// What is absent, by path (all below it included), and why.
const ABSENT: &str = include_str!("absent.txt");

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where cargo has tokio, and its version.
fn tokio() -> (PathBuf, String) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--locked"]).current_dir(repository());
    let output = cargo.output().expect("cargo runs");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let tokio = packages.iter().find(|package| package["name"] == "tokio").expect("tokio is used");
    let manifest = Path::new(tokio["manifest_path"].as_str().unwrap());
    (manifest.parent().unwrap().join("src/lib.rs"), tokio["version"].as_str().unwrap().to_owned())
}

fn reasons() -> BTreeMap<&'static str, &'static str> {
    let lines = ABSENT.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(": ").expect("a path, a colon and a reason")).collect()
}

/// The longest path with a reason that an item is, or is below of.
fn reason_for<'r>(item: &str, reasons: &BTreeMap<&'r str, &'r str>) -> Option<&'r str> {
    let below = |path: &str| {
        item.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    reasons.keys().filter(|path| below(path)).max_by_key(|path| path.len()).copied()
}

#[test]
fn every_item_of_tokio_is_there_or_absent_for_a_reason() {
    let (file, version) = tokio();
    let root = repository();
    let named = BTreeMap::from([
        ("tokio_real", Source::read(&file)),
        ("dally_tokio", Source::read(&root.join("crates/dally-tokio/src/lib.rs"))),
        ("dally_tasks", Source::read(&root.join("crates/dally-tasks/src/lib.rs"))),
    ]);
    let crates = Crates { named };
    let (theirs, ours) = (crates.surface("tokio_real"), crates.surface("dally_tokio"));
    assert!(theirs.len() > 1_000, "only {} items of tokio were found", theirs.len());
    let reasons = reasons();
    let mut used = BTreeSet::new();
    let mut without = Vec::new();
    for item in theirs.iter().filter(|item| !ours.contains(*item)) {
        match reason_for(item, &reasons) {
            Some(path) => drop(used.insert(path)),
            None => without.push(item.as_str()),
        }
    }
    assert!(without.is_empty(), "absent without a reason in absent.txt:\n{}", without.join("\n"));
    let stale: Vec<_> = reasons.keys().filter(|path| !used.contains(*path)).collect();
    assert!(
        stale.is_empty(),
        "reasons in absent.txt for what is there, or is none of tokio's: {stale:?}"
    );
    let page = page(&version, &theirs, &ours, &reasons);
    let path = root.join("docs/tokio-parity.md");
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&path, &page).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).is_ok_and(|written| written == page),
        "docs/tokio-parity.md is not what the sources say: run INSTA_UPDATE=always cargo test -p dally-tokio \
         --test parity"
    );
}

const BEGINNING: &str = "\
# What of tokio is there

Made by `cargo test -p dally-tokio --test parity` from the sources of tokio and of `dally-tokio`: every public item that is
stable on Linux, by its path, with variants of enums and with methods. That they do the same is shown by random sequences
on both ([Tasks](tasks.md)) and by the tests that tokio ships (`real-services/tokio-own-tests.sh`). Implementations of
traits are not listed.
";

fn page(
    version: &str,
    theirs: &BTreeSet<String>,
    ours: &BTreeSet<String>,
    reasons: &BTreeMap<&str, &str>,
) -> String {
    let mut page = BEGINNING.to_owned();
    let there = theirs.iter().filter(|item| ours.contains(*item)).count();
    let _ = writeln!(page, "\ntokio {version}: {there} of {} items are there.", theirs.len());
    page += "\n## Absent\n\n| item | why |\n|---|---|\n";
    for (path, reason) in reasons {
        let gone =
            |item: &&String| !ours.contains(*item) && reason_for(item, reasons) == Some(path);
        let more = match theirs.iter().filter(gone).count() {
            0 | 1 => String::new(),
            count => format!(" ({count} items)"),
        };
        let _ = writeln!(page, "| `{path}`{more} | {reason} |");
    }
    page += "\n## There\n";
    let mut heading = "";
    for item in theirs.iter().filter(|item| ours.contains(*item)) {
        let module = item.split_once("::").map_or("the root", |(module, _)| module);
        if module != heading {
            let _ = writeln!(page, "\n### {module}\n");
            heading = module;
        }
        let _ = writeln!(page, "- `{item}`");
    }
    page
}
