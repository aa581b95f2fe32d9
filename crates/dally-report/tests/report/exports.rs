//! Traces in the formats of other viewers.

use std::collections::BTreeMap;

use dally_core::{Bug, Problem, WorkerId};
use dally_report::export;

use crate::findings::{self, Play};

#[test]
fn a_log_for_shiviz() {
    insta::assert_snapshot!(export::shiviz(&findings::two_phase_commit().0));
}

#[test]
fn a_sequence_diagram_for_mermaid() {
    insta::assert_snapshot!(export::mermaid(&findings::two_phase_commit().0));
}

#[test]
fn a_trace_for_chrome() {
    insta::assert_snapshot!(
        export::chrome(&findings::two_phase_commit().0).replace("},{", "},\n{")
    );
}

/// ShiViz refuses a log in which a host skips a number of its own clock, or knows of an event that
/// nobody has.
#[test]
fn the_clocks_of_a_log_are_consistent() {
    for (finding, ..) in [findings::two_phase_commit(), findings::long(), findings::livelock()] {
        let log = export::shiviz(&finding);
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines.len(), 2 * finding.trace.steps.len());
        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        for event in lines.chunks(2) {
            let (host, clock) = event[0].split_once(' ').unwrap();
            let clock: BTreeMap<String, u64> = serde_json::from_str(clock).unwrap();
            let own = seen.entry(host.to_owned()).or_default();
            *own += 1;
            assert_eq!(clock[host], *own);
            assert!(clock.iter().all(|(other, count)| seen.get(other) >= Some(count)), "{log}");
        }
    }
}

#[test]
fn what_a_program_says_is_no_syntax_of_a_diagram() {
    let [a, b] = [0, 1].map(WorkerId::root);
    let mut play = Play::cast([(a, "A; end"), (b, "B\nNote over w0: x")]);
    let message = play.step(a).sends(b, "x\n w0->>w1: forged %% <b> # ;");
    play.step(b).receives(message);
    let finding = play.ends("evil", Bug::new(Problem::panic("a\nw0->>w1: forged")));
    insta::assert_snapshot!(export::mermaid(&finding));
}
