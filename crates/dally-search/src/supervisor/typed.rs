//! Supervision with the types of commands and answers.

use std::any::Any;
use std::io;
use std::marker::PhantomData;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::{LeaveBehind, Message, Notice, OnAbort, Parcel, Threads, Wire};
use crate::choice_log::ChoiceWriter;

/// Threads that take commands `C` and answer with `A`, seen by their supervisor.
pub(crate) struct Supervisor<C, A> {
    threads: Threads,
    exchange: PhantomData<fn(C) -> A>,
}

impl<C: Send + 'static, A: Send + 'static> Supervisor<C, A> {
    pub(crate) fn new(
        program: &str,
        step_time: Duration,
        on_abort: Option<OnAbort>,
    ) -> Supervisor<C, A> {
        Supervisor { threads: Threads::new(program, step_time, on_abort), exchange: PhantomData }
    }

    /// Starts a thread, which ends when `work` returns.
    pub(crate) fn spawn(
        &mut self,
        work: impl FnOnce(ChoiceWriter, &Supervised<C, A>) + Send + 'static,
    ) -> io::Result<()> {
        self.threads.spawn(Box::new(|writer, wire| {
            work(writer, &Supervised { wire, exchange: PhantomData });
        }))
    }

    pub(crate) fn len(&self) -> usize {
        self.threads.threads.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.threads.threads.is_empty()
    }

    /// Gives the first thread a command; `false` if there is no thread or it is gone.
    pub(crate) fn command_first(&mut self, command: C) -> bool {
        self.threads.command_first(Box::new(command))
    }

    /// Gives each thread the command for its place among the threads.
    pub(crate) fn command_all(&mut self, mut command: impl FnMut(usize) -> C) {
        self.threads.command_all(&mut |place| Box::new(command(place)) as Parcel);
    }

    /// Waits until every thread has answered or is gone. Threads are to stop when `halt` is set.
    pub(crate) fn wait(
        &mut self,
        halt: Option<(&AtomicBool, LeaveBehind)>,
        mut notice: impl FnMut(Notice<A>),
    ) {
        self.threads.wait(halt, &mut |heard| {
            notice(match heard {
                Notice::Answer(number, answer) => Notice::Answer(number, opened(answer)),
                Notice::Died(panic) => Notice::Died(panic),
                Notice::Stuck(log) => Notice::Stuck(log),
                Notice::LeftBehind => Notice::LeftBehind,
                Notice::Tick => Notice::Tick,
            });
        });
    }

    /// Has the first thread answer within this time, or leaves it behind.
    pub(crate) fn ask_first(&mut self, command: C, limit: Duration) -> Option<A> {
        self.threads.ask_first(Box::new(command), limit).map(opened)
    }

    /// Has the threads end and drop their last executions, and waits for them for a while.
    pub(crate) fn finish(self) {
        self.threads.finish();
    }
}

/// The side of a supervisor that a thread sees.
pub(crate) struct Supervised<C, A> {
    wire: Wire,
    exchange: PhantomData<fn(C) -> A>,
}

impl<C: 'static, A: Send + 'static> Supervised<C, A> {
    /// The next command; `None` if there will be none.
    pub(crate) fn command(&self) -> Option<C> {
        self.wire.commands.recv().ok().map(opened)
    }

    pub(crate) fn answer(&self, answer: A) {
        self.send(Message::Answer(Box::new(answer)));
    }

    /// Answers something before the present command is done.
    pub(crate) fn tell(&self, interim: A) {
        self.send(Message::Interim(Box::new(interim)));
    }

    fn send(&self, message: Message) {
        // A supervisor that is gone needs no answer, and gives no further command.
        let _ = self.wire.messages.send((self.wire.number, message));
    }
}

/// What is in a parcel: both ends have the same types.
fn opened<T: Any>(parcel: Parcel) -> T {
    match parcel.downcast() {
        Ok(inside) => *inside,
        Err(_) => unreachable!("a supervisor and its threads exchange what they were made for"),
    }
}
