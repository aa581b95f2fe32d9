//! Processes. None can be started in a test: what one does is not under control, and not the same in every schedule.
//! A command can be written, and starting it is refused with an error that says so.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::future::{Future, ready};
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::process::{Command as StdCommand, ExitStatus, Output, Stdio};
use std::task::{Context, Poll};

use crate::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A command that cannot be started.
#[derive(Debug)]
pub struct Command {
    std: StdCommand,
    kill_on_drop: bool,
}

/// Methods of the standard library's command.
macro_rules! passed_on {
    ($($(#[$attribute:meta])* $name:ident<$($parameter:ident: $bound:path),*>($($argument:ident: $type:ty),*);)*) => {
        impl Command {
            $(
                #[doc = concat!("As the standard library's `", stringify!($name), "`.")]
                $(#[$attribute])*
                pub fn $name<$($parameter: $bound),*>(&mut self, $($argument: $type),*) -> &mut Command {
                    self.std.$name($($argument),*);
                    self
                }
            )*
        }
    };
}

passed_on! {
    arg<S: AsRef<OsStr>>(arg: S);
    env_remove<K: AsRef<OsStr>>(key: K);
    env_clear<>();
    current_dir<P: AsRef<Path>>(dir: P);
    stdin<T: Into<Stdio>>(cfg: T);
    stdout<T: Into<Stdio>>(cfg: T);
    stderr<T: Into<Stdio>>(cfg: T);
}

impl Command {
    /// A command that runs this program.
    pub fn new<S: AsRef<OsStr>>(program: S) -> Command {
        StdCommand::new(program).into()
    }

    /// As the standard library's `args`.
    pub fn args<I, S>(&mut self, args: I) -> &mut Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.std.args(args);
        self
    }

    /// As the standard library's `env`.
    pub fn env<K: AsRef<OsStr>, V: AsRef<OsStr>>(&mut self, key: K, val: V) -> &mut Command {
        self.std.env(key, val);
        self
    }

    /// As the standard library's `envs`.
    pub fn envs<I, K, V>(&mut self, vars: I) -> &mut Command
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.envs(vars);
        self
    }

    /// The command of the standard library.
    pub fn as_std(&self) -> &StdCommand {
        &self.std
    }

    /// The command of the standard library.
    pub fn as_std_mut(&mut self) -> &mut StdCommand {
        &mut self.std
    }

    /// The command of the standard library.
    pub fn into_std(self) -> StdCommand {
        self.std
    }

    /// Changes nothing but what [`Command::get_kill_on_drop`] answers.
    pub fn kill_on_drop(&mut self, kill_on_drop: bool) -> &mut Command {
        self.kill_on_drop = kill_on_drop;
        self
    }

    /// What [`Command::kill_on_drop`] has set.
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }

    /// Refuses to start it.
    pub fn spawn(&mut self) -> io::Result<Child> {
        let program = self.std.get_program().to_string_lossy();
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!(
                "`{program}` is not started: what a process of its own does is not under Dally's control, and not the \
                 same in every schedule; leave it out of this test, or have the test answer in its place"
            ),
        ))
    }

    /// Refuses to start it.
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + use<> {
        ready(self.spawn().map(|child| child.never()))
    }

    /// Refuses to start it.
    pub fn output(&mut self) -> impl Future<Output = io::Result<Output>> + use<> {
        ready(self.spawn().map(|child| child.never()))
    }
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::io;
    use std::os::unix::process::CommandExt;

    use super::Command;

    impl Command {
        /// As the standard library's `uid`.
        pub fn uid(&mut self, id: u32) -> &mut Command {
            self.std.uid(id);
            self
        }

        /// As the standard library's `gid`.
        pub fn gid(&mut self, id: u32) -> &mut Command {
            self.std.gid(id);
            self
        }

        /// As the standard library's `arg0`.
        pub fn arg0<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Command {
            self.std.arg0(arg);
            self
        }

        /// As the standard library's `process_group`.
        pub fn process_group(&mut self, pgroup: i32) -> &mut Command {
            self.std.process_group(pgroup);
            self
        }

        /// Has no effect: there is no process that could call it.
        ///
        /// # Safety
        /// As for the standard library's, although it is never called here.
        #[allow(unsafe_code, reason = "its signature is tokio's")]
        pub unsafe fn pre_exec<F>(&mut self, _: F) -> &mut Command
        where
            F: FnMut() -> io::Result<()> + Send + Sync + 'static,
        {
            self
        }
    }
}

impl From<StdCommand> for Command {
    fn from(std: StdCommand) -> Command {
        Command { std, kill_on_drop: false }
    }
}

/// A process, of which there is none.
#[derive(Debug)]
pub struct Child {
    /// Its standard input.
    pub stdin: Option<ChildStdin>,
    /// Its standard output.
    pub stdout: Option<ChildStdout>,
    /// Its standard error.
    pub stderr: Option<ChildStderr>,
    none: Infallible,
}

impl Child {
    fn never<T>(&self) -> T {
        match self.none {}
    }

    /// The number of the process.
    pub fn id(&self) -> Option<u32> {
        self.never()
    }

    /// Kills it.
    pub fn start_kill(&mut self) -> io::Result<()> {
        self.never()
    }

    /// Kills it and waits for its end.
    pub async fn kill(&mut self) -> io::Result<()> {
        self.never()
    }

    /// Waits for its end.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.never()
    }

    /// How it has ended, if it has.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.never()
    }

    /// Waits for its end and all of its output.
    pub async fn wait_with_output(self) -> io::Result<Output> {
        self.never()
    }
}

/// The standard input of a process, of which there is none.
#[derive(Debug)]
pub struct ChildStdin(Infallible);

/// The standard output of a process, of which there is none.
#[derive(Debug)]
pub struct ChildStdout(Infallible);

/// The standard error of a process, of which there is none.
#[derive(Debug)]
pub struct ChildStderr(Infallible);

macro_rules! passed_to_others {
    ($($end:ident)*) => {$(
        impl TryFrom<$end> for Stdio {
            type Error = io::Error;

            fn try_from(end: $end) -> io::Result<Stdio> {
                match end.0 {}
            }
        }
    )*};
}

passed_to_others! { ChildStdin ChildStdout ChildStderr }

impl AsyncWrite for ChildStdin {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        match self.0 {}
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.0 {}
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.0 {}
    }
}

macro_rules! readable {
    ($($end:ident)*) => {$(
        impl AsyncRead for $end {
            fn poll_read(
                self: Pin<&mut Self>,
                _: &mut Context<'_>,
                _: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                match self.0 {}
            }
        }
    )*};
}

readable! { ChildStdout ChildStderr }
