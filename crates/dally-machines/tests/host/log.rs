//! What machines announce, with the time on tokio's clock.

use std::sync::{Arc, Mutex};

use dally_core::{Event, Text, WorkerId};
use dally_machines::host::{Builder, Host};
use tokio::time::Instant;

#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<(u128, String)>>>);

impl Log {
    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|line| line.1.clone()).collect()
    }

    /// As `milliseconds: text`.
    pub fn timed(&self) -> Vec<String> {
        let lines = self.0.lock().unwrap();
        lines.iter().map(|(at, text)| format!("{at}: {text}")).collect()
    }

    pub fn add(&self, at: Instant, text: &str) {
        let line = (at.elapsed().as_millis(), text.trim_matches('"').to_owned());
        self.0.lock().unwrap().push(line);
    }

    /// A callback that keeps what is announced.
    pub fn listener(&self) -> impl Fn(WorkerId, Event<Text<'_>>) + Send + Sync + 'static {
        let (log, start) = (self.clone(), Instant::now());
        move |_, event| {
            if let Event::Announced { payload } = event {
                log.add(start, &payload.to_string());
            }
        }
    }
}

/// A host that keeps failures to itself, and a log of what its machines announce.
pub fn quiet() -> (Builder, Log) {
    let log = Log::default();
    (Host::builder().on_event(log.listener()).on_failure(|_| {}), log)
}
