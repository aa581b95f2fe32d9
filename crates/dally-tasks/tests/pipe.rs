//! Pipes: bytes on their way between tasks.

mod driver;

use std::future::poll_fn;

use dally_core::Status;
use dally_tasks::pipe::Pipe;
use dally_tasks::{TaskProgram, note, spawn};
use driver::{explore, run_one};

async fn put(pipe: &Pipe<u8>, bytes: &[u8]) {
    for byte in bytes {
        poll_fn(|cx| pipe.poll_writable(cx)).await;
        pipe.put(|queue| queue.push_back(*byte));
    }
}

#[test]
fn who_takes_gets_some_prefix_and_then_the_rest_and_then_the_end() {
    let program = TaskProgram::new("prefixes", || async {
        let pipe = Pipe::new("pipe", 8);
        let other = pipe.clone();
        spawn(async move {
            put(&other, b"abc").await;
            other.finish();
        });
        let mut got = Vec::new();
        loop {
            poll_fn(|cx| pipe.poll_readable(cx)).await;
            let piece: Vec<u8> = pipe.take(|queue| queue.drain(..).collect());
            if piece.is_empty() {
                break;
            }
            got.push(String::from_utf8(piece).unwrap());
        }
        note(got.join(" "));
    });
    assert_eq!(explore(&program).kinds(), ["a b c done", "a bc done", "ab c done", "abc done"]);
}

#[test]
fn a_full_pipe_makes_who_puts_wait_until_somebody_takes_or_nobody_will() {
    let program = TaskProgram::new("full", || async {
        let pipe = Pipe::new("pipe", 1);
        let other = pipe.clone();
        let writer = spawn(async move {
            put(&other, b"a").await;
            poll_fn(|cx| other.poll_writable(cx)).await;
            note(if other.is_abandoned() { "nobody takes" } else { "there is room" });
        });
        pipe.abandon();
        writer.await.unwrap();
    });
    assert_eq!(explore(&program).kinds(), ["nobody takes done"]);
}

#[test]
fn a_pipe_that_nobody_fills_is_a_deadlock_that_names_it() {
    let program = TaskProgram::new("empty", || async {
        let pipe = Pipe::<u8>::new("connection", 1);
        poll_fn(|cx| pipe.poll_readable(cx)).await;
    });
    let (_, _, status) = run_one(&program, &[]);
    let Status::Stuck(waiting) = status else { panic!("{status:?}") };
    let object = waiting[0].on[0].object.as_ref().unwrap();
    assert_eq!((&*object.kind, &*object.id), ("connection", "0#0"));
}
