//! Simulated disks, and what crashes leave on them.

mod search;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use dally_tasks::hosts;
use dally_tasks::sync::oneshot;
use dally_tasks::{Clock, TaskProgram};
use dally_tokio::fs::{self, File};
use dally_tokio::io::AsyncWriteExt;
use search::{first_finding, random};

/// Runs something on a host, then crashes it; afterwards it looks at what is left. Answers all that it saw.
fn after_a_crash<F, L>(before: fn() -> F, look: fn() -> L) -> BTreeSet<String>
where
    F: Future<Output = ()> + 'static,
    L: Future<Output = String> + 'static,
{
    let seen: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let all = seen.clone();
    let program = TaskProgram::new("disk", move || {
        let seen = seen.clone();
        async move {
            let (tx, rx) = dally_tasks::sync::mpsc::unbounded_channel();
            let mut rx = rx;
            let server = hosts::start("server", move || {
                let tx = tx.clone();
                async move {
                    if hosts::Host::here().crashes() == 0 {
                        before().await;
                        tx.send(String::new()).unwrap();
                        std::future::pending::<()>().await;
                    }
                    tx.send(look().await).unwrap();
                }
            });
            rx.recv().await.unwrap();
            server.crash();
            dally_tasks::yield_now().await;
            server.restart();
            let left = rx.recv().await.unwrap();
            seen.lock().unwrap().insert(left);
        }
    })
    .clock(Clock::Idle);
    let report = random(program, 400);
    assert_eq!(first_finding(&report), "nothing was found");
    Arc::into_inner(all).unwrap().into_inner().unwrap()
}

async fn left() -> String {
    match fs::read("/file").await {
        Ok(bytes) => String::from_utf8(bytes).unwrap(),
        Err(why) => why.kind().to_string(),
    }
}

fn set<const N: usize>(all: [&str; N]) -> BTreeSet<String> {
    all.map(str::to_owned).into()
}

#[test]
fn what_was_not_synced_is_there_or_lost_or_torn() {
    let seen = after_a_crash(|| async { fs::write("/file", "abcd").await.unwrap() }, left);
    assert_eq!(seen, set(["", "ab", "abcd", "entity not found"]));
}

#[test]
fn a_file_that_was_synced_keeps_its_content_and_may_lose_its_name() {
    let synced = || async {
        let mut file = File::create("/file").await.unwrap();
        file.write_all(b"abcd").await.unwrap();
        file.sync_all().await.unwrap();
    };
    assert_eq!(after_a_crash(synced, left), set(["abcd", "entity not found"]));
}

#[test]
fn a_file_whose_directory_was_synced_too_is_safe() {
    let synced = || async {
        let mut file = File::create("/file").await.unwrap();
        file.write_all(b"abcd").await.unwrap();
        file.sync_data().await.unwrap();
        File::open("/").await.unwrap().sync_all().await.unwrap();
    };
    assert_eq!(after_a_crash(synced, left), set(["abcd"]));
}

#[test]
fn a_file_that_replaces_another_must_be_synced_before_it_is_renamed() {
    async fn replace(sync: bool) {
        fs::write("/file", "old").await.unwrap();
        File::open("/file").await.unwrap().sync_all().await.unwrap();
        File::open("/").await.unwrap().sync_all().await.unwrap();
        let mut new = File::create("/new").await.unwrap();
        new.write_all(b"renewed!").await.unwrap();
        new.flush().await.unwrap();
        if sync {
            new.sync_all().await.unwrap();
        }
        fs::rename("/new", "/file").await.unwrap();
    }
    assert_eq!(after_a_crash(|| replace(true), left), set(["old", "renewed!"]));
    assert_eq!(after_a_crash(|| replace(false), left), set(["", "old", "rene", "renewed!"]));
}

#[test]
fn names_are_changed_in_order() {
    let names = || async {
        fs::create_dir_all("/a/b").await.unwrap();
        fs::rename("/a", "/c").await.unwrap();
        fs::create_dir("/d").await.unwrap();
    };
    let list = || async {
        let mut names = Vec::new();
        for name in ["/a", "/a/b", "/c", "/c/b", "/d"] {
            if fs::try_exists(name).await.unwrap() {
                names.push(name);
            }
        }
        names.join(" ")
    };
    assert_eq!(after_a_crash(names, list), set(["", "/a", "/a /a/b", "/c /c/b", "/c /c/b /d"]));
}

#[test]
fn a_file_that_is_dropped_before_it_was_flushed_is_written_later() {
    let seen: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let all = seen.clone();
    let program = TaskProgram::new("dropped", move || {
        let seen = seen.clone();
        async move {
            let (tx, rx) = oneshot::channel();
            let tx = Mutex::new(Some(tx));
            hosts::start("server", move || {
                let tx = tx.lock().unwrap().take();
                async move {
                    let mut file = File::create("/file").await.unwrap();
                    file.write_all(b"abcd").await.unwrap();
                    drop(file);
                    let _ = tx.unwrap().send(left().await);
                }
            });
            let left = rx.await.unwrap();
            seen.lock().unwrap().insert(left);
        }
    });
    assert_eq!(first_finding(&random(program, 100)), "nothing was found");
    assert_eq!(*all.lock().unwrap(), set(["", "abcd"]));
}

/// A sequence of operations, on the system's files and on simulated ones.
macro_rules! sequence {
    ($name:ident, $lib:ident) => {
        async fn $name(seed: u64, root: std::path::PathBuf) -> Vec<String> {
            use $lib::fs::{self, OpenOptions};
            use $lib::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, SeekFrom};

            let mut rng = fastrand::Rng::with_seed(seed);
            let mut log = Vec::new();
            let names = ["a", "b", "c", "c/a", "c/b", "missing/a"].map(|name| root.join(name));
            for step in 0..60_u8 {
                let [one, other] = [(); 2].map(|()| &names[rng.usize(..names.len())]);
                let kind = |why: std::io::Error| why.kind();
                log.push(match rng.u8(..10) {
                    0 => format!(
                        "{:?}",
                        fs::write(one, vec![step; rng.usize(..9)]).await.map_err(kind)
                    ),
                    1 => format!("{:?}", fs::read(one).await.map_err(kind)),
                    2 => format!("{:?}", fs::rename(one, other).await.map_err(kind)),
                    3 => format!("{:?}", fs::remove_file(one).await.map_err(kind)),
                    4 => format!("{:?}", fs::create_dir(one).await.map_err(kind)),
                    5 if rng.u8(..3) == 0 => {
                        format!("{:?}", fs::remove_dir(one).await.map_err(kind))
                    }
                    5 => format!("{:?}", fs::create_dir_all(one).await.map_err(kind)),
                    6 => {
                        let known = fs::metadata(one).await.map_err(kind);
                        let known = known.map(|known| {
                            (known.is_file(), known.is_dir(), known.is_file().then(|| known.len()))
                        });
                        format!("{known:?} {:?}", fs::try_exists(other).await.map_err(kind))
                    }
                    7 => match fs::read_dir(one).await {
                        Err(why) => format!("{:?}", why.kind()),
                        Ok(mut all) => {
                            let mut names = Vec::new();
                            while let Some(entry) = all.next_entry().await.unwrap() {
                                names.push(entry.file_name());
                            }
                            names.sort();
                            format!("{names:?}")
                        }
                    },
                    _ => {
                        let mut options = OpenOptions::new();
                        options.read(rng.bool()).write(rng.bool()).append(rng.bool());
                        options
                            .create(rng.bool())
                            .create_new(rng.u8(..4) == 0)
                            .truncate(rng.u8(..4) == 0);
                        match options.open(one).await {
                            Err(why) => format!("{:?}", why.kind()),
                            Ok(mut file) => {
                                let mut told =
                                    format!("{:?}", file.write_all(&[step; 3]).await.is_ok());
                                let flushed = file.flush().await.is_ok();
                                let to = SeekFrom::Start(rng.u64(..5));
                                told += &format!(" {flushed} {:?}", file.seek(to).await.is_ok());
                                let mut buf = vec![0; 4];
                                let read = file.read(&mut buf).await.map_err(|_| ());
                                told += &format!(" {read:?} {buf:?}");
                                let length = rng.u64(..12);
                                told += &format!(" {:?}", file.set_len(length).await.is_ok());
                                told
                            }
                        }
                    }
                });
            }
            log
        }
    };
}

sequence!(ours, dally_tokio);
sequence!(theirs, tokio_real);

#[test]
fn simulated_files_do_what_those_of_the_system_do() {
    let real = tokio_real::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for seed in 0..100 {
        let root = std::env::temp_dir().join(format!("dally-disks-{}-{seed}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        let theirs = real.block_on(theirs(seed, root.clone()));
        std::fs::remove_dir_all(&root).unwrap();
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let to = told.clone();
        let program = TaskProgram::new("files", move || {
            let to = to.clone();
            async move {
                let (tx, rx) = oneshot::channel();
                let tx = Mutex::new(Some(tx));
                hosts::start("server", move || {
                    let tx = tx.lock().unwrap().take().unwrap();
                    async move {
                        fs::create_dir("/root").await.unwrap();
                        let _ = tx.send(ours(seed, "/root".into()).await);
                    }
                });
                *to.lock().unwrap() = rx.await.unwrap();
            }
        });
        assert_eq!(first_finding(&random(program, 1)), "nothing was found");
        assert_eq!(theirs, *told.lock().unwrap(), "sequence {seed}: the system's and ours");
    }
}
