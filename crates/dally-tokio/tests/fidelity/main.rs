//! Sockets do what those of the system do: random sequences of operations are run on real tokio and on ours, and give
//! the same results.
//!
//! Each kind has a file, whose interpreter is compiled twice. `DALLY_FIDELITY=10000` sets how many sequences each has.
#![cfg(unix)]

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex};

use dally_core::{Cut, Env, Event, MessageId, Program, Status, System, Tag, Text};
use dally_tasks::TaskProgram;

mod tcp;
mod udp;
mod unix;

/// What happened, a line for each operation.
#[derive(Default)]
pub struct Log(Vec<String>);

impl Log {
    /// Another line: the operation and its result; of an error its kind.
    pub fn add<T: Debug>(&mut self, what: &str, result: io::Result<T>) {
        let result = result.map_err(|why| why.kind());
        self.0.push(format!("{what} = {result:?}"));
    }
}

/// Answers at random, so that bytes arrive in pieces.
struct Pieces(fastrand::Rng);

impl Env for Pieces {
    fn value(&mut self, of: u32, _: Tag) -> Result<u32, Cut> {
        Ok(self.0.u32(..of))
    }

    fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> {
        Ok(0)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }
}

/// Runs sequences on both and compares what happened.
pub fn compare<T, O>(theirs: fn(u64) -> T, ours: fn(u64) -> O)
where
    T: Future<Output = Log>,
    O: Future<Output = Log> + 'static,
{
    let given = std::env::var("DALLY_FIDELITY").ok();
    let sequences = given.map_or(200, |text| text.parse().expect("DALLY_FIDELITY is a number"));
    let real = tokio_real::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for seed in 0..sequences {
        let theirs = real.block_on(theirs(seed)).0;
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let to = told.clone();
        let program = TaskProgram::new("fidelity", move || {
            let to = to.clone();
            async move { *to.lock().unwrap() = ours(seed).await.0 }
        });
        let mut system = program.start().unwrap();
        let mut env = Pieces(fastrand::Rng::with_seed(seed));
        while let Some(&worker) = system.enabled().first() {
            system.step(worker, &mut env).unwrap_or_else(|stop| panic!("{seed}: {stop:?}"));
        }
        assert!(matches!(system.status(), Status::Done), "{seed}: {:?}", system.status());
        system.end().unwrap();
        let ours = std::mem::take(&mut *told.lock().unwrap());
        assert_eq!(theirs, ours, "sequence {seed}: tokio's and ours");
    }
}

/// An interpreter, compiled against both.
macro_rules! both {
    ($run:ident($seed:ident) in |$lib:ident| $body:block) => {
        mod ours {
            use dally_tokio as $lib;

            use super::*;
            pub async fn $run($seed: u64) -> Log $body
        }

        mod theirs {
            use tokio_real as $lib;

            use super::*;
            pub async fn $run($seed: u64) -> Log $body
        }
    };
}
pub(crate) use both;
