//! The page of a finding, as text: what a browser shows of it is tested in `tests/browser`.

use dally_core::{Bug, Location, Problem, WorkerId};
use dally_report::page;

use crate::findings::{self, Play, Scene};

#[test]
fn the_page_of_a_small_finding() {
    let (finding, run, about) = findings::two_phase_commit();
    let html = page::finding(&finding, &run, &about);
    // The script and the style are not for this snapshot.
    let (_, body) = html.split_once("<body>").unwrap();
    let (body, _) = body.rsplit_once("<script>").unwrap();
    insta::assert_snapshot!(body);
}

#[test]
fn the_pages_of_all_findings_need_no_other_file_and_no_network() {
    let scenes: [fn() -> Scene; 9] = [
        findings::two_phase_commit,
        findings::deadlock,
        findings::unhandled_event,
        findings::hot_at_end,
        findings::livelock,
        findings::uncontrolled,
        findings::panic_with_source,
        findings::no_trace,
        findings::long,
    ];
    for scene in scenes {
        let (finding, run, about) = scene();
        let html = page::finding(&finding, &run, &about);
        for outside in ["src=", "@import", "url(", "<link", "fetch(", "XMLHttp", "WebSocket"] {
            assert!(!html.contains(outside), "{outside} in the page of {:?}", finding.bug.kind());
        }
        assert!(html.matches("http").eq(["http", "http"]), "only `http-equiv` and a namespace");
    }
}

/// A program may say anything, in every place where it can say something.
#[test]
fn nothing_that_a_program_says_becomes_a_part_of_the_page_itself() {
    const EVIL: &str =
        "</script><script>alert(1)</script><!-- <img onerror=x> ' \" & \u{202e} \x1b[2J";
    let [a, b] = [0, 1].map(WorkerId::root);
    let mut play = Play::cast([(a, EVIL), (b, EVIL)]);
    let message = play.step(a).starts(EVIL).waits(EVIL).sends(b, EVIL);
    play.step(b).receives(message).monitor(EVIL, EVIL, dally_core::Heat::Hot).announces(EVIL);
    let mut bug = Bug::new(Problem::panic(EVIL));
    bug.location = Some(Location { file: EVIL.into(), line: 1, column: 1 });
    let mut finding = play.ends(EVIL, bug);
    finding.notes.push(EVIL.into());
    let (_, run, mut about) = findings::deadlock();
    (about.program, about.replay) = (EVIL.into(), vec![EVIL.into()]);
    about.saved = Some(EVIL.into());
    let html = page::finding(&finding, &run, &about);
    assert_eq!(html.matches("<script").count(), 3, "the data and two scripts");
    assert_eq!(html.matches("</script").count(), 3);
    assert_eq!(html.matches("<!--").count(), 0);
    assert_eq!(html.matches("<img").count(), 0);
    assert!(!html.contains(['\u{202e}', '\x1b']));
    assert!(html.matches("&lt;/script&gt;").count() > 10);
}

#[test]
fn a_payload_of_a_megabyte_does_not_make_a_page_of_megabytes() {
    let text: &'static str = String::leak("x".repeat(1 << 20));
    let [a, b] = [0, 1].map(WorkerId::root);
    let mut play = Play::cast([(a, "A"), (b, "B")]);
    for _ in 0..20 {
        let message = play.step(a).sends(b, text);
        play.step(b).receives(message);
    }
    let finding = play.ends("large", Bug::new(Problem::panic("no")));
    let (_, run, about) = findings::deadlock();
    assert!(page::finding(&finding, &run, &about).len() < 400_000);
}
