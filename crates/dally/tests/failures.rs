//! What people see when a test fails: each fixture is run as `cargo test` runs it, in a process
//! of its own, and its whole output is a snapshot.

use std::path::Path;
use std::process::Command;

/// Tests that fail when they are asked to, and pass when the suite runs them by the way.
mod fixtures {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use dally::machines::{Addr, Cx, Setup};
    use dally::tasks::sync::{Mutex, Notify};
    use dally::tasks::{TaskProgram, announce, spawn, yield_now};
    use dally::{machine, monitor};

    fn asked() -> bool {
        std::env::var_os("DALLY_FIXTURES").is_some()
    }

    #[dally::test]
    async fn lost_update() {
        if !asked() {
            return;
        }
        let count = Arc::new(Mutex::new(0));
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let count = Arc::clone(&count);
                spawn(async move {
                    let read = *count.lock().await;
                    *count.lock().await = read + 1;
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let count = *count.lock().await;
        if std::env::var_os("DALLY_FIXED").is_none() {
            assert_eq!(count, 2, "an update was lost");
        }
    }

    struct Account {
        balance: Mutex<u32>,
    }

    impl Account {
        async fn withdraw(&self, amount: u32) -> bool {
            let enough = *self.balance.lock().await >= amount;
            if enough {
                *self.balance.lock().await -= amount;
            }
            enough
        }
    }

    /// The example of the README.
    #[dally::test]
    async fn nobody_gets_money_that_is_not_there() {
        if !asked() {
            return;
        }
        let account = Arc::new(Account { balance: Mutex::new(100) });
        let customers: Vec<_> = (0..2)
            .map(|_| {
                let account = Arc::clone(&account);
                spawn(async move { account.withdraw(100).await })
            })
            .collect();
        for customer in customers {
            customer.await.unwrap();
        }
    }

    #[dally::test]
    async fn deadlock() {
        if !asked() {
            return;
        }
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let (a2, b2) = (Arc::clone(&a), Arc::clone(&b));
        let other = spawn(async move {
            let _b = b2.lock().await;
            let _a = a2.lock().await;
        });
        {
            let _a = a.lock().await;
            let _b = b.lock().await;
        }
        other.await.unwrap();
    }

    #[dally::test]
    async fn returns_an_error() -> Result<(), String> {
        if asked() { Err("out of stock".into()) } else { Ok(()) }
    }

    struct PanicsOnDrop;

    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            panic!("boom");
        }
    }

    #[dally::test]
    async fn panics_in_a_destructor() {
        if !asked() {
            return;
        }
        drop(spawn(async {
            let _guard = PanicsOnDrop;
            Notify::new().notified().await;
        }));
        yield_now().await;
    }

    #[dally::test]
    async fn panics_in_a_destructor_while_unwinding() {
        if !asked() {
            return;
        }
        let _guard = PanicsOnDrop;
        yield_now().await;
        panic!("first");
    }

    /// What a program may say that a terminal would act on: it clears the screen, fills the clipboard, changes
    /// the title, turns the direction of writing, hides itself.
    pub const HOSTILE: &str = "\x1b[2J\x1b]52;c;aGk=\x07 \u{9b}2J \x1b]0;title\x07 \u{202e}esrever\u{2066} \u{200b}\rgone\x7f";

    #[dally::test]
    async fn says_what_terminals_act_on() {
        if asked() {
            dally::tasks::note(HOSTILE);
            yield_now().await;
            panic!("{HOSTILE}\nand {HOSTILE}");
        }
    }

    #[dally::test]
    async fn exits() {
        if asked() {
            yield_now().await;
            std::process::exit(0);
        }
    }

    #[dally::test]
    async fn exits_in_a_thread() {
        if asked() {
            std::thread::spawn(|| std::process::exit(0)).join().ok();
        }
    }

    #[dally::test]
    async fn aborts() {
        if asked() {
            yield_now().await;
            std::process::abort();
        }
    }

    #[dally::test]
    async fn allocates_too_much() {
        if asked() {
            yield_now().await;
            std::hint::black_box(vec![1_u8; isize::MAX as usize]);
        }
    }

    #[dally::test]
    async fn overflows_the_stack() {
        #[expect(unconditional_recursion, reason = "this is what the test is about")]
        fn deeper(depth: u64) -> u64 {
            let local = std::hint::black_box([depth; 128]);
            local[0] + deeper(depth + 1) + local[127]
        }
        if asked() {
            yield_now().await;
            std::hint::black_box(deeper(0));
        }
    }

    #[dally::test(max_steps = 200)]
    async fn spawns_for_ever_step_by_step() {
        while asked() {
            drop(spawn(async {}));
            yield_now().await;
        }
    }

    #[dally::test]
    async fn spawns_for_ever_in_one_step() {
        while asked() {
            drop(spawn(async {}));
        }
    }

    #[dally::test(step_time = "200ms")]
    async fn blocks_the_thread() {
        if asked() {
            yield_now().await;
            std::thread::sleep(Duration::from_secs(3600));
        }
    }

    #[dally::test(step_time = "200ms")]
    #[expect(clippy::await_holding_lock, reason = "this is what the test is about")]
    async fn holds_a_lock_across_an_await() {
        if !asked() {
            return;
        }
        let (lock, ready) = (Arc::new(std::sync::Mutex::new(())), Arc::new(Notify::new()));
        let (theirs, told) = (Arc::clone(&lock), Arc::clone(&ready));
        let _guard = lock.lock().unwrap();
        drop(spawn(async move {
            let _guard = theirs.lock().unwrap();
            told.notify_one();
        }));
        ready.notified().await;
    }

    #[dally::test]
    #[expect(clippy::disallowed_methods, reason = "this is what the test is about")]
    async fn branches_on_the_wall_clock() {
        if asked() {
            let now = std::time::SystemTime::now();
            let nanos = now.duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
            for _ in 0..nanos % 1009 {
                yield_now().await;
            }
        }
    }

    #[dally::test]
    async fn branches_on_what_an_execution_before_has_left() {
        static EXECUTIONS: AtomicU32 = AtomicU32::new(0);
        if asked() {
            for _ in 0..EXECUTIONS.fetch_add(1, Ordering::Relaxed) % 1009 {
                yield_now().await;
            }
        }
    }

    #[dally::test(should_fail = "deadlock")]
    async fn fails_too_little() {
        if !asked() {
            let never = Notify::new();
            never.notified().await;
        }
    }

    #[dally::test(should_fail = "deadlock")]
    async fn fails_in_another_way() {
        if asked() {
            panic!("something else");
        }
        Notify::new().notified().await;
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Asked;

    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    struct Service;

    #[monitor(states(cold Quiet, hot Waiting))]
    impl Service {
        #[goto(Quiet, Asked => Waiting)]
        const RULES: () = ();
    }

    #[dally::test]
    fn retries_for_ever() -> TaskProgram {
        TaskProgram::new("retries", || async {
            if asked() {
                announce(Asked);
            }
            for attempt in 1.. {
                yield_now().await;
                let patience =
                    std::env::var("DALLY_PATIENCE").map_or(u32::MAX, |n| n.parse().unwrap());
                if !asked() || attempt > patience {
                    break;
                }
            }
        })
        .monitor(Service::default)
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Request {
        from: Addr<Client>,
    }
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Reply;

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Server;

    #[machine(states(Ready))]
    impl Server {
        #[on(Ready, Request)]
        fn serve(&mut self, cx: &mut Cx<Self>, Request { from }: Request) {
            cx.send(from, Reply);
        }
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Client {
        server: Addr<Server>,
        requests: u32,
    }

    #[machine(states(Asking, Served))]
    impl Client {
        #[entry(Asking)]
        fn ask(&mut self, cx: &mut Cx<Self>) {
            for _ in 0..self.requests {
                cx.send(self.server, Request { from: cx.me() });
            }
        }

        #[goto(Asking, Reply => Served)]
        const RULES: () = ();
    }

    #[dally::test]
    fn unhandled_event(setup: &mut Setup) {
        let server = setup.create(Server);
        let fewer = std::env::var_os("DALLY_FEWER").is_some();
        setup.create(Client { server, requests: if asked() && !fewer { 2 } else { 1 } });
    }

    #[dally::test]
    async fn ends_the_process() {
        if !asked() {
            return;
        }
        let other = spawn(async { std::process::exit(0) });
        yield_now().await;
        other.await.unwrap();
    }

    #[cfg(unix)]
    #[dally::test]
    async fn is_killed() {
        if asked() {
            let this = std::process::id().to_string();
            std::process::Command::new("kill").args(["-KILL", &this]).status().unwrap();
            std::thread::sleep(Duration::from_secs(60));
        }
    }

    #[dally::test(step_time = "200ms")]
    async fn blocks_the_thread_once() {
        static BLOCKED: AtomicU32 = AtomicU32::new(0);
        if !asked() {
            return;
        }
        let other = spawn(async { Notify::new().notified().await });
        yield_now().await;
        if BLOCKED.fetch_add(1, Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_secs(3600));
        }
        other.await.unwrap();
    }
}

/// Runs one fixture; gives its output, with what differs from machine to machine left out, and
/// whether it passed.
fn run(fixture: &str, variables: &[(&str, &str)]) -> (String, bool) {
    let out = std::env::temp_dir().join(format!("dally-failures-{}-{fixture}", std::process::id()));
    let ran = run_in(fixture, &out, variables);
    std::fs::remove_dir_all(&out).ok();
    ran
}

/// Runs one fixture, whose findings go into this directory.
fn run_in(fixture: &str, out: &Path, variables: &[(&str, &str)]) -> (String, bool) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("fixtures::{fixture}"), "--nocapture", "--test-threads=1"])
        .env("DALLY_FIXTURES", "1")
        .env("DALLY_REGRESSIONS", "off")
        .env("DALLY_STRATEGY", "random")
        .env("DALLY_OUT", out)
        .env_remove("RUST_BACKTRACE")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let text = text.replace(&out.display().to_string(), "target/dally");
    (without_token(text.trim_start_matches('\n')), output.status.success())
}

/// The command with the token is checked by replaying it; in a snapshot it would only be noise.
fn without_token(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        match line.split_once("DALLY_REPLAY=dally1-") {
            Some((before, rest)) => {
                let after = rest.split_once(' ').map_or("", |(_, after)| after);
                out += &format!("{before}DALLY_REPLAY=dally1-... {after}\n");
            }
            None => out += &format!("{line}\n"),
        }
    }
    out
}

macro_rules! fails {
    ($($fixture:ident),* $(,)?) => {$(
        #[test]
        fn $fixture() {
            let (text, passed) = run(stringify!($fixture), &[]);
            assert!(!passed, "it passed:\n{text}");
            insta::assert_snapshot!(text);
        }
    )*};
}

fails!(
    lost_update,
    nobody_gets_money_that_is_not_there,
    deadlock,
    returns_an_error,
    panics_in_a_destructor,
    spawns_for_ever_in_one_step,
    blocks_the_thread,
    holds_a_lock_across_an_await,
    fails_too_little,
    fails_in_another_way,
    unhandled_event,
    retries_for_ever,
);

#[test]
fn a_program_that_branches_on_what_an_execution_before_has_left_is_told_so() {
    let (text, passed) = run("branches_on_what_an_execution_before_has_left", &[]);
    assert!(!passed, "it passed:\n{text}");
    assert!(text.starts_with("bug[uncontrolled-nondeterminism]: "), "{text}");
}

#[test]
fn what_an_execution_before_has_left_does_not_matter_in_a_process_of_its_own() {
    let isolated = [("DALLY_ISOLATE", "process"), ("DALLY_SCHEDULES", "20")];
    let (text, passed) = run("branches_on_what_an_execution_before_has_left", &isolated);
    assert!(passed, "it failed:\n{text}");
}

#[test]
fn what_is_found_in_a_process_of_its_own_is_repeated_in_another() {
    let (text, passed) = run("deadlock", &[("DALLY_ISOLATE", "process")]);
    assert!(!passed, "it passed");
    let (here, _) = run("deadlock", &[("DALLY_SHRINK", "off")]);
    assert_eq!(text, here, "the same schedule fails, and its story is told");
}

#[test]
fn a_schedule_that_ends_its_own_process_is_found() {
    let (text, passed) = run("ends_the_process", &[("DALLY_ISOLATE", "process")]);
    assert!(!passed, "it passed");
    assert!(text.contains("DALLY_REPLAY="), "{text}");
    let text: Vec<_> = text.lines().take(3).collect();
    insta::assert_snapshot!(text.join("\n"), @"
    bug[process-end]: step 3, of worker 0.0, ends the process by `exit`, and with it all tests that run in it
       = program: fixtures::ends_the_process
       = found: in schedule 1 (strategy random, seed 0)
    ");
}

#[test]
#[cfg(unix)]
fn a_schedule_whose_process_is_killed_is_named() {
    let (text, passed) = run("is_killed", &[("DALLY_ISOLATE", "process"), ("DALLY_SEED", "7")]);
    assert!(!passed, "it passed");
    let text: Vec<_> = text.lines().take(2).collect();
    insta::assert_snapshot!(text.join("\n"), @"
    error: schedule 1 of failures::fixtures::is_killed has ended its process (the process of the program has ended), which leaves no schedule behind
      run it in one process, where what ends it is saved: DALLY_ISOLATE=none DALLY_SEED=7
    ");
}

#[test]
fn a_step_that_comes_back_the_second_time_accuses_nobody() {
    let (text, passed) = run("blocks_the_thread_once", &[]);
    assert!(!passed, "it passed");
    assert!(text.starts_with("bug[endless-step]: "), "{text}");
    assert!(!text.contains("waits for what another holds"), "{text}");
}

#[test]
fn a_search_of_states_cannot_be_isolated() {
    let (text, passed) = run("deadlock", &[("DALLY_ISOLATE", "process"), ("DALLY_SEARCH", "ses")]);
    assert!(!passed, "it passed");
    let text: Vec<_> = text.lines().take(2).collect();
    insta::assert_snapshot!(text.join("\n"), @"
    error: failures::fixtures::deadlock cannot be isolated: only schedules of a strategy that has a name can each have a process of their own
      leave out isolate, or search, or name a strategy such as random
    ");
}

#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn a_program_that_branches_on_the_wall_clock_sees_that_of_the_execution() {
    let (text, passed) = run("branches_on_the_wall_clock", &[]);
    assert!(passed, "{text}");
}

#[test]
fn a_second_panic_aborts_the_process_and_the_finding_is_saved_first() {
    let out = std::env::temp_dir().join(format!("dally-abort-{}", std::process::id()));
    let out = out.to_str().unwrap();
    let fixture = "panics_in_a_destructor_while_unwinding";
    let (text, passed) = run(fixture, &[("DALLY_OUT", out)]);
    assert!(!passed);
    let saved: Vec<_> =
        std::fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path()).collect();
    std::fs::remove_dir_all(out).ok();
    assert_eq!(saved.len(), 2, "a schedule and a trace: {saved:?}\n{text}");
    // Then come Rust's own words, which name threads and paths of the toolchain.
    let ours = text.split("\nthread '").next().unwrap();
    insta::assert_snapshot!(ours.replace(out, "target/dally"));
}

#[cfg(unix)]
#[test]
fn paths_that_are_not_text_are_written_to_shown_and_read_from() {
    use std::os::unix::ffi::OsStringExt as _;
    let mut out = std::env::temp_dir().into_os_string().into_vec();
    out.extend(format!("/dally-{}-", std::process::id()).bytes().chain([0xff]));
    let out = std::path::PathBuf::from(std::ffi::OsString::from_vec(out));
    let (text, passed) = run_in("lost_update", &out, &[]);
    assert!(!passed);
    assert!(text.contains(r"-\xff/failures.fixtures.lost_update-"), "{text}");
    let mut files = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
    let schedule = files.find(|file| file.extension().unwrap() == "schedule").unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "fixtures::lost_update", "--nocapture"])
        .env("DALLY_FIXTURES", "1")
        .env("DALLY_REGRESSIONS", "off")
        .env("DALLY_REPLAY", &schedule)
        .output()
        .unwrap();
    std::fs::remove_dir_all(&out).ok();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && text.contains("an update was lost"), "{text}");
    assert!(!text.contains("found: in schedule"), "it was replayed: {text}");
}

/// Whether a text has what a terminal would act on.
fn is_hostile(text: &str) -> bool {
    text.contains(dally::contract::words::is_hidden)
}

#[test]
fn nothing_that_a_program_says_is_acted_on_by_a_terminal() {
    let out = std::env::temp_dir().join(format!("dally-hostile-{}", std::process::id()));
    let fixture = "says_what_terminals_act_on";
    let (text, passed) = run_in(fixture, &out, &[]);
    assert!(!passed);
    insta::assert_snapshot!(text);
    assert!(!is_hostile(&text));
    let files: Vec<_> =
        std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 3, "a schedule, a trace and a page");
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains("u{202e}") || text.contains("u202e"), "{text}");
        assert!(!is_hostile(&text), "{}: {text}", file.display());
    }
    // A schedule of a stranger, whose outcome is another.
    let schedule = files.iter().find(|file| file.extension().unwrap() == "schedule").unwrap();
    let recorded = std::fs::read_to_string(schedule).unwrap();
    let edited = recorded.lines().map(|line| match line.split_once(": ") {
        Some(("outcome", _)) => format!("outcome: {:?}\n", fixtures::HOSTILE),
        Some(("cause", _)) => "cause: 0000000000000001\n".to_owned(),
        Some(("checksum", _)) => "checksum: none\n".to_owned(),
        _ => format!("{line}\n"),
    });
    std::fs::write(schedule, edited.collect::<String>()).unwrap();
    let replay = [("DALLY_REPLAY", schedule.to_str().unwrap())];
    let (text, passed) = run_in(fixture, &out, &replay);
    assert!(!passed);
    assert!(text.contains(r"recorded with another outcome: panic: \u{1b}[2J"), "{text}");
    assert!(!is_hostile(&text));
    // One that cannot be read.
    std::fs::write(schedule, format!("dally schedule 1\nprogram: {}\n", fixtures::HOSTILE))
        .unwrap();
    let (text, passed) = run_in(fixture, &out, &replay);
    std::fs::remove_dir_all(&out).ok();
    assert!(!passed);
    assert!(!is_hostile(&text), "{text:?}");
}

/// Runs a fixture that takes the process with it, as `cargo test` does, which keeps what a test
/// prints until it ends. Gives what Dally says of it and how the process ended.
#[cfg(unix)]
fn takes_the_process(fixture: &str) -> (String, std::process::ExitStatus) {
    let out = std::env::temp_dir().join(format!("dally-{fixture}-{}", std::process::id()));
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("fixtures::{fixture}")])
        .env("DALLY_FIXTURES", "1")
        .env("DALLY_REGRESSIONS", "off")
        .env("DALLY_STRATEGY", "random")
        .env("DALLY_OUT", &out)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let files = std::fs::read_dir(&out).map_or(0, Iterator::count);
    std::fs::remove_dir_all(&out).ok();
    assert_eq!(files, 2, "a schedule and a trace\n{text}");
    let ours = &text[text.find("bug[").unwrap_or(text.len())..];
    (without_token(&ours.replace(&out.display().to_string(), "target/dally")), output.status)
}

#[cfg(unix)]
#[test]
fn a_program_that_calls_exit_does_not_pass_and_its_schedule_is_saved() {
    let (text, status) = takes_the_process("exits");
    assert_eq!(status.code(), Some(101), "{text}");
    insta::assert_snapshot!(text);
}

#[cfg(unix)]
#[test]
fn a_schedule_that_exits_does_not_pass_when_it_is_replayed() {
    let token = token("exits");
    let (text, passed) = run("exits", &[("DALLY_REPLAY", &token)]);
    assert!(!passed);
    insta::assert_snapshot!(text, @"error: the program under test ended the process: process-end: by `exit`");
}

#[cfg(unix)]
#[test]
fn a_thread_that_calls_exit_while_a_test_runs_does_not_make_it_pass() {
    let (text, passed) = run("exits_in_a_thread", &[]);
    assert!(!passed);
    insta::assert_snapshot!(text, @"error: the process was ended by `exit` while a test of Dally was running, and not by the code that it runs: look for a thread, a sink or a strategy that calls `exit`");
}

#[cfg(unix)]
#[test]
fn a_program_that_aborts_leaves_its_schedule_behind() {
    use std::os::unix::process::ExitStatusExt as _;
    for fixture in ["aborts", "allocates_too_much", "overflows_the_stack"] {
        let (text, status) = takes_the_process(fixture);
        assert_eq!(status.signal(), Some(6), "{fixture}: {text}");
        assert!(
            text.starts_with("bug[process-end]: step 2, of worker 0, aborts the process"),
            "{text}"
        );
        assert!(text.contains("DALLY_REPLAY="), "{fixture}: {text}");
    }
}

#[test]
fn a_program_without_end_is_cut_at_the_step_bound_and_that_is_a_bug_if_asked() {
    let (_, passed) = run("spawns_for_ever_step_by_step", &[]);
    assert!(passed);
    let asked = [("DALLY_FAIL_ON_MAX_STEPS", "1")];
    let (text, passed) = run("spawns_for_ever_step_by_step", &asked);
    assert!(!passed);
    assert!(text.starts_with("bug[step-bound]: "), "{text}");
}

#[test]
fn bad_variables_are_told_and_nothing_is_run() {
    for (number, (name, value)) in [
        ("DALLY_STRATEGY", "ptc"),
        ("DALLY_TIME", "soon"),
        ("DALLY_REPLAY", "dally1-nonsense"),
        ("DALLY_REPLAY", "no/such/file.schedule"),
        ("DALLY_REPLAY", "Cargo.toml"),
    ]
    .into_iter()
    .enumerate()
    {
        let (text, passed) = run("lost_update", &[(name, value)]);
        assert!(!passed);
        insta::assert_snapshot!(format!("bad_variable_{number}"), text);
    }
}

#[test]
fn a_misspelt_variable_is_told_once_for_all_tests_of_a_process_though_they_pass() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["fixtures::", "--skip", "for_ever", "--skip", "fails"])
        .env("DALLY_SCHEDULE", "20")
        .env("DALLY_SCHEDULES", "20")
        .output()
        .unwrap();
    assert!(output.status.success());
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"
    warning: the environment variable DALLY_SCHEDULE has no effect: did you mean DALLY_SCHEDULES?
      there are DALLY_STRATEGY, DALLY_SEED, DALLY_LEARNED, DALLY_SCHEDULES, DALLY_TIME, DALLY_MAX_STEPS, DALLY_MAX_FAIR_STEPS, DALLY_STEP_BOUND, DALLY_THREADS, DALLY_TEMPERATURE, DALLY_CONFIRM_TEMPERATURE, DALLY_FAIRNESS, DALLY_FAIL_ON_MAX_STEPS, DALLY_ISOLATE, DALLY_STEP_TIME, DALLY_KEEP_GOING, DALLY_SHRINK, DALLY_PAGE, DALLY_REGRESSIONS, DALLY_FORMAT, DALLY_CLOCKS, DALLY_OUT, DALLY_SEARCH, DALLY_EXPLORER, DALLY_REDUCTION, DALLY_INPUTS, DALLY_DELAYS, DALLY_DELTA, DALLY_MEMORY, DALLY_CACHE, DALLY_EXACT, DALLY_WITH_EXPLORER, DALLY_TASK_PANICS, DALLY_TIMERS, DALLY_POINTS, DALLY_FAULT_BUDGET, DALLY_REPLAY, DALLY_BEST_EFFORT, DALLY_TRACE
    ");
}

/// The token in the output of a failing fixture.
fn token(fixture: &str) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("fixtures::{fixture}"), "--nocapture"])
        .env("DALLY_FIXTURES", "1")
        .env("DALLY_REGRESSIONS", "off")
        .env("DALLY_STRATEGY", "random")
        .env("DALLY_OUT", std::env::temp_dir().join("dally-failures-token"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let start = text.find("dally1-").unwrap_or_else(|| panic!("no token in:\n{text}"));
    text[start..].split_whitespace().next().unwrap().to_owned()
}

#[test]
fn the_token_replays_the_failure() {
    let token = token("lost_update");
    let (text, passed) = run("lost_update", &[("DALLY_REPLAY", &token)]);
    assert!(!passed);
    insta::assert_snapshot!(text);
}

#[test]
fn the_replay_of_a_loop_says_how_often_it_went_round_or_which_round_differs() {
    let token = token("retries_for_ever");
    let (text, passed) = run("retries_for_ever", &[("DALLY_REPLAY", &token)]);
    assert!(!passed);
    let last = text.lines().last().unwrap();
    insta::assert_snapshot!(last, @"The loop of length 1 was gone round 10 times more, and the state looked the same every time.");
    let changed = [("DALLY_REPLAY", token.as_str()), ("DALLY_PATIENCE", "5")];
    let (text, passed) = run("retries_for_ever", &changed);
    assert!(!passed);
    insta::assert_snapshot!(text.trim_end(), @"The program no longer fits the schedule, and the replay ended at step 7: the loop does not repeat: in round 5, at step 1 of 1, the state after it is another. With DALLY_BEST_EFFORT=1 it goes on as far as it can.");
}

#[test]
fn once_the_bug_is_fixed_the_replay_says_so_and_passes() {
    let token = token("lost_update");
    let (text, passed) = run("lost_update", &[("DALLY_REPLAY", &token), ("DALLY_FIXED", "1")]);
    assert!(passed, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_schedule_of_another_test_is_not_run() {
    let token = token("deadlock");
    let (text, passed) = run("lost_update", &[("DALLY_REPLAY", &token)]);
    assert!(passed);
    insta::assert_snapshot!(text);
}

#[test]
fn a_schedule_of_a_program_that_has_changed_stops_at_the_difference_or_goes_on_if_asked() {
    let token = token("unhandled_event");
    let changed = [("DALLY_REPLAY", token.as_str()), ("DALLY_FEWER", "1")];
    let (text, passed) = run("unhandled_event", &changed);
    assert!(!passed);
    insta::assert_snapshot!("changed_program", text);
    let best_effort = [changed[0], changed[1], ("DALLY_BEST_EFFORT", "1")];
    let (text, _) = run("unhandled_event", &best_effort);
    insta::assert_snapshot!("changed_program_best_effort", text);
}
