//! A small cluster on simulated hosts, with two planted bugs: one needs a crash, the other a partition.

mod search;

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dally_tasks::hosts::{self, Host};
use dally_tasks::{Clock, TaskProgram};
use dally_tokio::io::{AsyncReadExt, AsyncWriteExt};
use dally_tokio::net::{TcpListener, TcpStream};
use dally_tokio::time::{sleep, timeout};
use insta::assert_snapshot;
use search::{first_finding, random};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Planted {
    Nothing,
    /// The primary answers before the backup has the value.
    AnswersFirst,
    /// The primary gives up on a backup that does not answer.
    GivesUp,
}

const SET: u8 = 1;
const GET: u8 = 2;
const PATIENCE: Duration = Duration::from_millis(100);

/// Asks one of the two, and waits for the answer for a while.
async fn ask(whom: &str, request: [u8; 2]) -> io::Result<u8> {
    let answer = async {
        let mut stream = TcpStream::connect((whom, 80)).await?;
        stream.write_all(&request).await?;
        stream.read_u8().await
    };
    timeout(PATIENCE, answer).await?
}

async fn ask_until_answered(whom: &str, request: [u8; 2]) -> u8 {
    loop {
        if let Ok(answer) = ask(whom, request).await {
            return answer;
        }
        sleep(PATIENCE).await;
    }
}

/// Either of the two. One that has crashed gets the value from the other.
async fn serve(other: &'static str, is_primary: bool, planted: Planted) -> io::Result<()> {
    let value = Arc::new(Mutex::new(0));
    if Host::here().crashes() > 0 {
        let known = ask_until_answered(other, [GET, 0]).await;
        *value.lock().unwrap() = known;
    }
    let listener = TcpListener::bind("0.0.0.0:80").await?;
    loop {
        let Ok((mut stream, _)) = listener.accept().await else { continue };
        let value = value.clone();
        dally_tokio::spawn(async move {
            let mut request = [0; 2];
            stream.read_exact(&mut request).await?;
            if request[0] == GET {
                let known = *value.lock().unwrap();
                return stream.write_u8(known).await;
            }
            *value.lock().unwrap() = request[1];
            if planted == Planted::AnswersFirst {
                stream.write_u8(0).await?;
            }
            while is_primary && let Err(why) = ask(other, request).await {
                if planted == Planted::GivesUp && why.kind() == io::ErrorKind::TimedOut {
                    break;
                }
                sleep(PATIENCE).await;
            }
            stream.write_u8(0).await
        });
    }
}

/// Sets a value and reads it from one of the two.
fn cluster(planted: Planted, read_from: &'static str) -> TaskProgram {
    TaskProgram::new("cluster", move || async move {
        hosts::start("primary", move || async move {
            serve("backup", true, planted).await.unwrap();
        });
        hosts::start("backup", move || async move {
            serve("primary", false, planted).await.unwrap();
        });
        ask_until_answered("backup", [GET, 0]).await;
        ask_until_answered("primary", [SET, 7]).await;
        assert_eq!(ask_until_answered(read_from, [GET, 0]).await, 7, "a value is lost");
    })
    .clock(Clock::Idle)
}

#[test]
fn the_correct_cluster_survives_every_fault() {
    for read_from in ["primary", "backup"] {
        let report = random(cluster(Planted::Nothing, read_from).fault_budget(1), 400);
        assert_eq!(first_finding(&report), "nothing was found");
    }
}

#[test]
fn the_planted_bugs_need_a_fault() {
    for (planted, read_from) in [(Planted::AnswersFirst, "primary"), (Planted::GivesUp, "backup")] {
        let report = random(cluster(planted, read_from), 400);
        assert_eq!(first_finding(&report), "nothing was found");
    }
}

#[test]
fn a_value_that_only_the_primary_has_is_lost_in_a_crash() {
    let report = random(cluster(Planted::AnswersFirst, "primary").fault_budget(1), 4_000);
    assert_snapshot!(first_finding(&report));
}

#[test]
fn a_value_that_the_backup_did_not_get_is_not_read_there() {
    let report = random(cluster(Planted::GivesUp, "backup").fault_budget(1), 4_000);
    assert_snapshot!(first_finding(&report));
}
