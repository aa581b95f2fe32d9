//! What people see when a test passes and they ask to see it: each fixture is run as
//! `cargo test -- --nocapture` runs it, in a process of its own.

use std::process::Command;

mod fixtures {
    use dally::machine;
    use dally::machines::{Addr, Cx, Setup};
    use dally::tasks::sync::Notify;
    use dally::tasks::{spawn, yield_now};

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Join;

    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    struct Master {
        members: u32,
    }

    #[machine(states(Forming, Serving))]
    impl Master {
        #[on(Forming, Join)]
        fn join(&mut self, cx: &mut Cx<Self>, _: Join) {
            self.members += 1;
            if self.members == 2 {
                cx.goto(Serving);
            }
        }
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Server {
        master: Addr<Master>,
    }

    #[machine(states(Joining))]
    impl Server {
        #[entry(Joining)]
        fn join(&mut self, cx: &mut Cx<Self>) {
            cx.send(self.master, Join);
        }
    }

    fn cluster(setup: &mut Setup) {
        let master = setup.create(Master::default());
        setup.create(Server { master });
        setup.create(Server { master });
    }

    #[dally::test(search = "ses", explorer = "rr")]
    fn searched(setup: &mut Setup) {
        cluster(setup);
    }

    #[dally::test(search = "ses", explorer = "rr")]
    fn searched_and_sealed(setup: &mut Setup) {
        cluster(setup);
        setup.seal_while(|_: &Master, state| state == MasterState::Forming);
    }

    #[dally::test(search = "map", explorer = "rr")]
    fn searched_for_cycles(setup: &mut Setup) {
        cluster(setup);
    }

    #[dally::test(strategy = "random", schedules = 10)]
    async fn sampled() {
        let other = spawn(yield_now());
        yield_now().await;
        other.await.unwrap();
    }

    #[dally::test(strategy = "random", schedules = 10, should_fail = "deadlock")]
    async fn fails_as_expected() {
        Notify::new().notified().await;
    }
}

/// Runs one fixture; gives what it prints, from the line on that says what was found, without
/// times.
fn shown(fixture: &str) -> String {
    let out = std::env::temp_dir().join(format!("dally-passes-{}-{fixture}", std::process::id()));
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("fixtures::{fixture}"), "--nocapture", "--test-threads=1"])
        .env("DALLY_OUT", &out)
        .output()
        .unwrap();
    std::fs::remove_dir_all(&out).ok();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().skip_while(|line| !line.contains(" found in ")).collect::<Vec<_>>();
    let end = lines.iter().position(|line| *line == "ok").unwrap_or_else(|| panic!("{text}"));
    let is_timed = |line: &str| line.contains(" s calculating") || line.starts_with("  time ");
    let without_time = |line: &str| match line.strip_suffix(" s") {
        Some(_) => line.rsplit_once("  ").map_or(line, |(before, _)| before).to_owned(),
        None => line.to_owned(),
    };
    let lines = lines[..end].iter().filter(|line| !is_timed(line));
    lines.map(|line| without_time(line) + "\n").collect()
}

#[test]
fn a_search_says_what_it_covered() {
    insta::assert_snapshot!(shown("searched"));
}

#[test]
fn a_search_that_was_kept_from_sealed_states_does_not_claim_to_be_exhausted() {
    insta::assert_snapshot!(shown("searched_and_sealed"));
}

#[test]
fn a_search_for_cycles_says_that_there_was_nothing_to_violate() {
    insta::assert_snapshot!(shown("searched_for_cycles"));
}

#[test]
fn samples_say_how_much_was_seen() {
    insta::assert_snapshot!(shown("sampled"));
}

#[test]
fn a_test_that_fails_as_expected_says_what_it_found() {
    insta::assert_snapshot!(shown("fails_as_expected"));
}
