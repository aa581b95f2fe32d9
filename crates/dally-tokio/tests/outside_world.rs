//! What comes from outside of a program, and what a program starts there: signals are faults, which come within the budget, at any
//! point after somebody listens; processes are refused.

mod search;

use std::time::Duration;

use dally_tasks::{Clock, TaskProgram};
use dally_tokio::io::{AsyncReadExt, AsyncWriteExt};
use dally_tokio::net::{TcpListener, TcpStream};
use dally_tokio::signal;
use dally_tokio::signal::unix::SignalKind;
use dally_tokio::time::timeout;
use insta::assert_snapshot;
use search::{first_finding, random};

/// A server that ends when Ctrl-C comes. The bug, if it has it: it drops the connection that it serves.
fn server(drops_connections: bool) -> TaskProgram {
    TaskProgram::new("server", move || async move {
        let listener = TcpListener::bind("127.0.0.1:80").await.unwrap();
        let server = dally_tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let serve = async {
                let byte = stream.read_u8().await.unwrap();
                stream.write_u8(byte + 1).await.unwrap();
            };
            if drops_connections {
                dally_tokio::select! {
                    () = serve => {}
                    stopped = signal::ctrl_c() => stopped.unwrap(),
                }
            } else {
                serve.await;
            }
        });
        let mut client = TcpStream::connect("127.0.0.1:80").await.unwrap();
        client.write_u8(1).await.unwrap();
        assert_eq!(client.read_u8().await.ok(), Some(2), "the client was answered");
        server.await.unwrap();
    })
    .clock(Clock::Idle)
}

/// What was found in 500 schedules in which so many faults may happen.
fn found(program: TaskProgram, faults: u32) -> String {
    first_finding(&random(program.fault_budget(faults), 500))
}

#[test]
fn no_signal_comes_without_a_budget_of_faults() {
    assert_snapshot!(found(server(true), 0), @"nothing was found");
}

#[test]
fn a_signal_comes_while_the_program_does_something_else() {
    assert_snapshot!(found(server(true), 1), @"
    assertion `left == right` failed: the client was answered
      left: None
     right: Some(2)
      Ctrl-C comes
    ");
}

#[test]
fn each_listener_hears_a_signal_once_and_others_hear_nothing() {
    let program = TaskProgram::new("listeners", || async {
        let mut heard = signal::unix::signal(SignalKind::terminate()).unwrap();
        let mut too = signal::unix::signal(SignalKind::terminate()).unwrap();
        let mut other = signal::unix::signal(SignalKind::hangup()).unwrap();
        let patience = Duration::from_secs(1);
        let came = timeout(patience, heard.recv()).await.is_ok();
        assert_eq!(timeout(patience, too.recv()).await.is_ok(), came);
        assert!(timeout(patience, heard.recv()).await.is_err());
        // There is a budget for one.
        assert!(!came || timeout(patience, other.recv()).await.is_err());
        assert!(!came, "SIGTERM was heard");
    });
    let program = program.clock(Clock::Idle);
    assert_snapshot!(found(program, 1), @"
    SIGTERM was heard
      SIGTERM comes
    ");
}

#[test]
fn a_process_is_refused_with_the_reason() {
    let program = TaskProgram::new("process", || async {
        let refused = dally_tokio::process::Command::new("date").arg("-u").output().await;
        panic!("{}", refused.unwrap_err());
    });
    let told = found(program, 0);
    assert!(
        told.starts_with("`date` is not started: what a process of its own does is not"),
        "{told}"
    );
}
