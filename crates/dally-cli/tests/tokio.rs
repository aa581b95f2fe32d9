//! `cargo dally test` in a workspace that uses tokio: its tests are explored as they are, and nothing of the
//! user's is written to.

#[allow(dead_code, reason = "other tests use the rest of it")]
mod command;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use command::{Ran, Scratch, ran};
use insta::assert_snapshot;

const WORKSPACE: [(&str, &str); 9] = [
    (
        "outside/Cargo.toml",
        r#"[package]
name = "outside"
version = "0.1.0"
edition = "2024"

[dev-dependencies]
parking_lot = "0.12"
tokio = { version = "1", features = ["full"] }
"#,
    ),
    ("outside/src/lib.rs", include_str!("uncontrolled/lib.rs")),
    ("outside/dally.toml", "step_time = \"4s\"\nschedules = 50\n"),
    (
        "account/Cargo.toml",
        r#"[package]
name = "account"
version = "0.1.0"
edition = "2024"

[dependencies]
tokio = { version = "1", features = ["full"] }
"#,
    ),
    (
        "Cargo.toml",
        r#"[workspace]
resolver = "3"
members = ["account", "bank", "ledger", "outside"]
"#,
    ),
    (
        "ledger/Cargo.toml",
        r#"[package]
name = "ledger"
version = "0.1.0"
edition = "2024"

[dependencies]
tokio = { version = "1", features = ["sync"] }
"#,
    ),
    (
        "ledger/src/lib.rs",
        r#"use tokio::sync::Mutex;

#[derive(Default)]
pub struct Account {
    balance: Mutex<u64>,
}

impl Account {
    pub async fn deposit(&self, amount: u64) {
        *self.balance.lock().await += amount;
    }

    /// The lock is dropped between the read and the write.
    pub async fn deposit_badly(&self, amount: u64) {
        let before = *self.balance.lock().await;
        *self.balance.lock().await = before + amount;
    }

    pub async fn balance(&self) -> u64 {
        *self.balance.lock().await
    }
}
"#,
    ),
    (
        "bank/Cargo.toml",
        r#"[package]
name = "bank"
version = "0.1.0"
edition = "2024"

[dependencies]
ledger = { path = "../ledger" }
tokio = { version = "1", features = ["full", "test-util"] }

[dev-dependencies]
dally = { path = "DALLY", default-features = false, features = ["tasks"] }
"#,
    ),
    (
        "bank/src/lib.rs",
        r#"#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use ledger::Account;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::{broadcast, mpsc, watch};
    use tokio::task::JoinSet;
    use tokio::time::{Instant, sleep, timeout};

    #[tokio::test]
    async fn deposits_add_up() {
        let account = Arc::new(Account::default());
        let mut tasks = JoinSet::new();
        for amount in [1, 2] {
            let account = Arc::clone(&account);
            tasks.spawn(async move { account.deposit(amount).await });
        }
        tasks.join_all().await;
        assert_eq!(account.balance().await, 3);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn bad_deposits_add_up() {
        let account = Arc::new(Account::default());
        let other = Arc::clone(&account);
        let task = tokio::spawn(async move { other.deposit_badly(1).await });
        account.deposit_badly(2).await;
        task.await.unwrap();
        assert_eq!(account.balance().await, 3);
    }

    #[tokio::test]
    async fn a_panic_is_for_who_joins() -> Result<(), String> {
        let failed = tokio::spawn(async { panic!("out of money") }).await.unwrap_err();
        if failed.is_panic() { Ok(()) } else { Err(failed.to_string()) }
    }

    #[tokio::test]
    #[should_panic(expected = "out of money")]
    async fn a_panic_can_be_expected() {
        panic!("out of money")
    }

    #[tokio::test(start_paused = true)]
    async fn time_is_virtual() {
        let begun = Instant::now();
        sleep(Duration::from_secs(3_600)).await;
        assert!(begun.elapsed() >= Duration::from_secs(3_600));
        assert!(timeout(Duration::from_secs(1), std::future::pending::<()>()).await.is_err());
    }

    #[tokio::test]
    async fn bytes_arrive_in_pieces_and_in_order() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).await.unwrap();
            stream.write_all(text.to_uppercase().as_bytes()).await.unwrap();
        });
        let stream = TcpStream::connect(at).await.unwrap();
        let (mut read, mut write) = stream.into_split();
        write.write_all(b"hello").await.unwrap();
        drop(write);
        let mut answer = Vec::new();
        read.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer, b"HELLO");
        server.await.unwrap();
        assert!(TcpStream::connect(at).await.is_err(), "nobody listens any more");
    }

    #[tokio::test]
    async fn one_of_several() {
        let (orders, mut inbox) = mpsc::channel(1);
        let (news, mut hears) = broadcast::channel(1);
        let (sets, mut sees) = watch::channel(0);
        let (sent, told, ()) = tokio::join!(orders.send(1), async { news.send(2) }, async {
            sets.send_replace(3);
        });
        sent.unwrap();
        told.unwrap();
        let mut sum = 0;
        for _ in 0..3 {
            tokio::select! {
                Some(order) = inbox.recv() => sum += order,
                Ok(item) = hears.recv() => sum += item,
                Ok(()) = sees.changed() => sum += *sees.borrow_and_update(),
            }
        }
        assert_eq!(sum, 6);
    }

    /// On a host of its own, by an ordinary dev-dependency.
    #[tokio::test]
    async fn a_server_is_reached_by_the_name_of_its_host() {
        dally::hosts::start("server", || async {
            let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_u8(7).await.unwrap();
        });
        let mut stream = loop {
            match TcpStream::connect("server:80").await {
                Ok(stream) => break stream,
                Err(_) => sleep(Duration::from_secs(1)).await,
            }
        };
        assert_eq!(stream.read_u8().await.unwrap(), 7);
    }

    /// What tasks meet in here is none of tokio's.
    #[tokio::test]
    async fn a_flag_of_its_own() {
        let flag = Arc::new(std::sync::Mutex::new((false, None::<std::task::Waker>)));
        let other = Arc::clone(&flag);
        tokio::spawn(async move {
            let mut flag = other.lock().unwrap();
            flag.0 = true;
            flag.1.take().map(std::task::Waker::wake);
        });
        std::future::poll_fn(|cx| {
            let mut flag = flag.lock().unwrap();
            flag.1 = Some(cx.waker().clone());
            if flag.0 { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }

    #[test]
    fn a_runtime_of_its_own() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let two = runtime.block_on(async { tokio::spawn(async { 2 }).await.unwrap() });
        assert_eq!(two, 2);
    }
}
"#,
    ),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The first example of the README, and what it says of its output.
fn readme() -> (String, String) {
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let block = |fence: &str| {
        let (_, rest) = readme.split_once(fence).expect("the README has it");
        rest.split_once("```").expect("it ends").0.to_owned()
    };
    (block("```rust,ignore\n"), block("```text\n"))
}

fn cargo_dally(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dally"));
    command.arg("dally").current_dir(directory).env_remove("RUST_BACKTRACE");
    command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
    command
}

/// All files below a directory with what is in them.
fn files(directory: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false => drop(found.insert(path.clone(), std::fs::read(path).unwrap())),
        }
    }
}

#[test]
fn the_tests_of_a_tokio_workspace_are_explored_as_they_are() {
    let scratch = Scratch::new("tokio");
    let directory = std::fs::canonicalize(&scratch.0).unwrap();
    for (path, text) in WORKSPACE {
        let path = directory.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let dally = std::fs::canonicalize(repository()).unwrap().join("crates/dally");
        std::fs::write(path, text.replace("DALLY", &dally.display().to_string())).unwrap();
    }
    let (example, its_output) = readme();
    std::fs::create_dir(directory.join("account/src")).unwrap();
    std::fs::write(directory.join("account/src/lib.rs"), example).unwrap();
    // On a new machine cargo has downloaded only what is built here; without a network it stays so.
    let fetch =
        Command::new(env!("CARGO")).args(["fetch", "--locked"]).current_dir(repository()).output();
    assert!(fetch.is_ok(), "{fetch:?}");
    // The versions that this repository uses, which are there without a network.
    std::fs::copy(repository().join("Cargo.lock"), directory.join("Cargo.lock")).unwrap();
    let mut before = BTreeMap::new();
    files(&directory, &mut before);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tokio");

    let mut command = cargo_dally(&directory);
    command.args(["test", "--config", "profile.dev.package.outside.debug=true"]);
    command.args(["--offline", "--locked", "--lib", "--no-fail-fast", "--target-dir"]);
    command.arg(&target);
    let explored = ran(command.output().unwrap(), &directory);
    let Ran { out, err, code } = &explored;
    assert_eq!(*code, 101, "{out}\n{err}");
    assert!(out.contains("test result: FAILED. 9 passed; 1 failed"), "{out}\n{err}");
    let told = out.replace("account/src/", "src/");
    assert!(
        told.contains(its_output.trim_end()),
        "the README says:\n{its_output}\nand it is:\n{told}"
    );
    assert!(out.contains("bug[panic]: assertion `left == right` failed"), "{out}");
    assert!(out.contains("--> bank/src/lib.rs:32:9, in main"), "{out}");
    assert!(out.contains("granularity operations, timers by deadline"), "{out}");
    // The command has the arguments that this one had.
    let replay = "-p bank tests::bad_deposits_add_up -- --exact";
    let called = "--offline --locked --lib --target-dir ";
    let is_replay = |line: &str| line.contains(called) && line.ends_with(replay);
    assert!(out.lines().any(is_replay), "{out}");
    assert!(
        err.contains("`block_on` outside of a #[tokio::test] is run under one schedule"),
        "{err}"
    );

    let nothing_explored =
        "warning: bank::tests::a_flag_of_its_own passes, but nothing was explored: tasks wait only";
    let line = err.lines().find(|line| line.contains(nothing_explored)).unwrap_or_default();
    assert!(line.contains(", by `core::task::wake::Waker::clone` at "), "where it waits: {err}");

    what_is_not_under_control_is_told(out, err);

    let mut after = BTreeMap::new();
    files(&directory, &mut after);
    assert!(before == after, "something of the user's was written to");

    let found = std::fs::read_dir(target.join("dally")).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| {
        let name = path.to_string_lossy();
        name.contains("bad_deposits_add_up-") && name.ends_with(".schedule")
    };
    let schedule = found.into_iter().find(is_it).expect("the schedule is saved");
    let mut command = cargo_dally(&directory);
    command.env("DALLY_REPLAY", &schedule).args(["test", "--offline", "--lib", "--target-dir"]);
    let replayed = ran(command.arg(&target).output().unwrap(), &directory);
    assert_eq!(replayed.code, 101, "{replayed:?}");
    assert!(replayed.out.contains("assertion `left == right` failed"), "{replayed:?}");

    let mut command = cargo_dally(&directory);
    command.env("DALLY_REPLAY", &schedule).args(["test", "--offline", "--lib", "--target-dir"]);
    let nothing = ran(command.arg(&target).arg("no_such_test").output().unwrap(), &directory);
    assert_eq!(nothing.code, 2, "{nothing:?}");
    assert!(nothing.err.contains("no test took the schedule in DALLY_REPLAY"), "{nothing:?}");
}

/// A test of the package `outside` never passes without a word: the operation and its place are named.
fn what_is_not_under_control_is_told(out: &str, err: &str) {
    let line = |text: &str| {
        let lib = include_str!("uncontrolled/lib.rs").lines();
        1 + lib.take_while(|line| !line.contains(text)).count()
    };
    let warned = |test: &str, of: &str, operation: &str, at: &str| {
        let begins = format!("warning: outside::tests::{test} passes, but {of}");
        let (call, place) = (format!("{operation}` at "), format!("src/lib.rs:{}:", line(at)));
        let is_it = |told: &str| [&begins, &call, &place].iter().all(|part| told.contains(*part));
        assert!(err.lines().any(is_it), "{test}: {begins} ... {call}{place}\n{err}");
    };
    let spawn = "thread::spawn(|| (1..10)";
    warned("a_thread_of_its_own", "tasks start threads", "spawn", spawn);
    warned("a_thread_of_its_own", "tasks block their threads", "join", "sum.join()");
    warned("a_sleep_of_its_thread", "tasks block their threads", "sleep", "from_micros(1)");
    warned("a_socket_of_the_system", "tasks use real sockets", "connect", "let mut client");
    warned("a_lock_of_a_real_file", "tasks lock real files", "lock_shared", "file.lock_shared()");
    let parked = "parked.1.wait_while";
    warned("another_runtime_that_blocks", "tasks block their threads", "wait_while", parked);
    let blocked = |test: &str, operation: &str, at: &str| {
        let told = out.split(&format!("---- tests::{test} stdout ----")).nth(1).unwrap_or_default();
        let told = told.split("\n---- ").next().unwrap_or_default();
        let first =
            told.lines().find(|line| line.contains("bug[endless-step]")).unwrap_or_default();
        let names = first.contains(operation) && first.contains("waits for what another holds: 0");
        assert!(names, "{told}");
        assert!(told.contains(&format!("src/lib.rs:{}:", line(at))), "{told}");
    };
    blocked("a_std_lock_across_an_await", "Mutex::lock`", "*theirs.lock().unwrap() += 1");
    blocked("a_parking_lot_lock_across_an_await", "RwLock::write`", "*lock.write() += 1");
}

/// Stands in for cargo: answers `metadata` with what is in two files.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
metadata*--no-deps*) cat workspace.json ;;
metadata*) cat "$(dirname "$0")/resolved.json" ;;
*) echo "cargo is called" ; exit 1 ;;
esac
"#;

/// What is said of a workspace that resolves to these packages called tokio, as (version, source).
fn told_of(name: &str, tokios: &[(&str, &str)], arguments: &[&str]) -> String {
    let scratch = Scratch::new(name);
    let directory = std::fs::canonicalize(&scratch.0).unwrap();
    let cargo = directory.join("cargo");
    std::fs::write(&cargo, CARGO).unwrap();
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(directory.join("Cargo.toml"), "").unwrap();
    let root = directory.display();
    let workspace = format!(
        r#"{{"workspace_root": "{root}", "target_directory": "{root}/target", "packages": []}}"#
    );
    std::fs::write(directory.join("workspace.json"), workspace).unwrap();
    let packages = tokios.iter().map(|(version, source)| {
        format!(
            r#"{{"name": "tokio", "version": "{version}", "source": "{source}", "manifest_path":
               "/registry/tokio-{version}/Cargo.toml", "features": {{"io-util": []}}, "dependencies": []}}"#
        )
    });
    let resolved = format!(r#"{{"packages": [{}]}}"#, packages.collect::<Vec<_>>().join(", "));
    std::fs::write(directory.join("resolved.json"), resolved).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dally"));
    command.args(["dally", "test"]).args(arguments).current_dir(&directory).env("CARGO", cargo);
    let ran = ran(command.output().unwrap(), &directory);
    assert_eq!((ran.code, &*ran.out), (2, ""), "{ran:?}");
    ran.err
}

#[test]
fn a_workspace_where_nothing_could_be_explored_is_refused_with_the_reason() {
    const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
    assert_snapshot!(told_of("no-tokio", &[], &[]), @"
    error: nothing here is for Dally to explore: no package of this workspace depends on `dally`, and none on tokio 1.x
      see docs/first-test.md and docs/tokio.md of Dally
    ");
    assert_snapshot!(told_of("old-tokio", &[("0.2.25", REGISTRY)], &[]), @"
    error: this workspace uses tokio 0.2.25, and Dally can stand in for 1.x only
      only tests that use tokio 1.x can be explored
    ");
    let fork = "git+https://example.org/tokio#1a2b3c";
    assert_snapshot!(told_of("forked-tokio", &[("1.54.1", fork)], &[]), @"
    error: tokio 1.54.1 comes from git+https://example.org/tokio#1a2b3c, and Dally can stand in for the one of crates.io only
      remove the `[patch]` or the path of tokio to explore the tests
    ");
    // Cargo goes on with the one of the registry and only warns.
    assert_snapshot!(told_of("unused-patch", &[("1.54.1", REGISTRY)], &[]), @"
    error: cargo does not use Dally's tokio in place of tokio 1.54.1, so nothing would be explored
      does something pin tokio to a source of its own, such as `[patch]`, `[replace]` or another registry?
    ");
}

#[test]
fn a_target_directory_that_cannot_be_written_is_told() {
    let told = told_of("no-target", &[], &["--target-dir", "Cargo.toml/target"]);
    assert_snapshot!(told, @"
    error: `DIR/Cargo.toml/target/dally/shadow` cannot be written: Not a directory (os error 20)
      a workspace that uses tokio is built there a second time; name another place: --target-dir DIR
    ");
}
