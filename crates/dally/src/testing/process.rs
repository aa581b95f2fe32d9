//! A test of this workspace in a process of its own, which answers over its standard streams.

use std::io::{self, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use dally_explore::lines::Remote;
use dally_explore::{Reply, Request};
use dally_report::tell;

/// The process of a test. It ends when it is no longer asked.
pub struct TestProcess {
    child: Child,
    /// There until the process is dropped.
    remote: Option<Remote<BufReader<ChildStdout>, ChildStdin>>,
}

impl TestProcess {
    /// Starts it.
    pub fn start(mut command: Command) -> io::Result<TestProcess> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(requests), Some(replies)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both streams are pipes");
        };
        Ok(TestProcess { child, remote: Some(Remote::new(BufReader::new(replies), requests)) })
    }

    /// Sends a document, and waits for the one that answers it.
    pub fn exchange(&mut self, document: &str) -> io::Result<String> {
        self.remote()?.exchange(document, &mut told)
    }

    /// Asks the session that it has, if it is explored.
    pub fn ask(&mut self, request: Request) -> io::Result<Reply> {
        self.remote()?.ask(0, request, &mut told)
    }

    fn remote(&mut self) -> io::Result<&mut Remote<BufReader<ChildStdout>, ChildStdin>> {
        self.remote.as_mut().ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }
}

/// What cargo and the harness print before the test begins is not for whoever asks.
fn told(line: &str) {
    if !is_of_harness(line) {
        tell::err(line);
    }
}

fn is_of_harness(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with("running ") || line.starts_with("test ")
}

impl Drop for TestProcess {
    fn drop(&mut self) {
        // Without requests to come the test ends by itself, and cargo with it.
        if let Some(remote) = self.remote.take() {
            remote.close();
        }
        let _ = io::stderr().flush();
        let _ = self.child.wait();
    }
}
