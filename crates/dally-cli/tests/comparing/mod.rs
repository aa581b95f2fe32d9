//! `dally compare` as people use it.

use std::collections::BTreeSet;

use insta::assert_snapshot;

use crate::command::{Ran, Scratch, dally};

const TWO: [&str; 11] = [
    "compare",
    "stale-cache",
    "connection-pool",
    "--strategies",
    "random,pct:3",
    "--runs",
    "4",
    "--schedules",
    "300",
    "--out",
    "cmp",
];

fn compare(more: &[&str], scratch: &Scratch) -> Ran {
    dally(&[&TWO[..], more].concat(), scratch)
}

/// The table without its last column, which has times.
fn without_times(text: &str) -> String {
    let width = text.lines().next().unwrap_or_default().len() - "us/schedule".len();
    let (table, rest) = text.split_once("\n\n").unwrap();
    let lines = table.lines().map(|line| line[..line.len().min(width)].trim_end());
    lines.collect::<Vec<_>>().join("\n") + "\n\n" + rest
}

#[test]
fn help_teaches_how_to_compare() {
    let scratch = Scratch::new("compare-help");
    assert_snapshot!("help_compare", dally(&["compare", "--help"], &scratch).out);
}

#[test]
fn a_comparison_prints_a_table_writes_its_files_and_exits_with_0() {
    let scratch = Scratch::new("compare");
    let ran = compare(&["--coverage", "100"], &scratch);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_snapshot!(without_times(&ran.out));
    let files: BTreeSet<String> = std::fs::read_dir(scratch.0.join("cmp"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_snapshot!(files.into_iter().collect::<Vec<_>>().join("\n"), @r"
    actions-connection-pool-deadlock-pct-3.svg
    actions-connection-pool-deadlock-random.svg
    actions-stale-cache-stale-read-pct-3.svg
    actions-stale-cache-stale-read-random.svg
    actions.csv
    coverage-connection-pool-deadlock.svg
    coverage-stale-cache-stale-read.svg
    coverage.csv
    survival-connection-pool-deadlock.svg
    survival-stale-cache-stale-read.svg
    table.txt
    times.csv
    trials.csv
    ");
}

#[test]
fn a_comparison_that_is_done_is_not_done_again_and_more_runs_go_on() {
    let scratch = Scratch::new("compare-again");
    let read = || std::fs::read_to_string(scratch.0.join("cmp/trials.csv")).unwrap();
    assert_eq!(compare(&["--coverage", "0", "--threads", "1"], &scratch).code, 0);
    let first = read();
    let again = compare(&["--coverage", "0"], &scratch);
    assert_eq!(read(), first);
    assert!(again.out.contains("16, 16 of them from before"), "{}", again.out);
    let mut more = TWO.to_vec();
    more[6] = "5";
    let more = dally(&[&more[..], &["--coverage", "0"]].concat(), &scratch);
    assert!(more.out.contains("20, 16 of them from before"), "{}", more.out);
    assert!(read().starts_with(&first));
}

#[test]
fn what_cannot_be_compared_exits_with_2() {
    let scratch = Scratch::new("compare-bad");
    assert_eq!(compare(&["--coverage", "0"], &scratch).code, 0);
    let mut text = String::new();
    for arguments in [
        &["compare"][..],
        &["compare", "paxos", "--out", "x"],
        &["compare", "paxos", "--strategies", "random"],
        &["compare", "raft-v9", "--strategies", "random", "--out", "x"],
        &["compare", "paxos:worst", "--strategies", "random", "--out", "x"],
        &["compare", "paxos", "--strategies", "random,ptc", "--out", "x"],
        &["compare", "paxos", "paxos:smallest-proposal", "--strategies", "random", "--out", "x"],
        &["compare", "paxos", "--strategies", "pct,pct:3", "--out", "x"],
        &["compare", "paxos", "--strategies", "random", "--runs", "0", "--out", "x"],
        &["compare", "paxos", "--strategies", "random", "--threads", "0", "--out", "x"],
        &["compare", "paxos", "--strategies", "random", "--out", "cmp"],
        &["compare", "paxos", "--strategies", "random", "--out", "cmp/trials.csv"],
    ] {
        let ran = dally(arguments, &scratch);
        assert_eq!(ran.code, 2, "{arguments:?}\n{}{}", ran.out, ran.err);
        assert_eq!(ran.out, "", "{arguments:?}");
        text += &format!("$ dally {}\n{}\n", arguments.join(" "), ran.err);
    }
    assert_snapshot!(text);
}
