//! The threads of a run, under its supervision.

use std::io;
use std::sync::Arc;

use dally_core::Program;
use dally_core::report::Ended;

use super::Run;
use crate::batch::{BatchCommand, BatchMessage, work};
use crate::options::Phase;
use crate::supervisor::{LeaveBehind, Notice, Supervisor};

pub(crate) type ScheduleThreads = Supervisor<BatchCommand, BatchMessage>;

impl<P: Program + 'static> Run<P> {
    /// A supervisor for threads of this run, none of which is started yet.
    pub(crate) fn supervisor<C: Send + 'static, A: Send + 'static>(&self) -> Supervisor<C, A> {
        let shared = self.shared.clone();
        let on_abort = move |bug, log: &_| shared.save_before_abort(bug, log);
        let Run { options, .. } = self;
        Supervisor::new(&options.program, options.step_time, Some(Arc::new(on_abort)))
    }

    pub(super) fn start_thread(&mut self, threads: &mut ScheduleThreads) -> bool {
        let (program, shared) = (self.program.clone(), self.shared.clone());
        let strategy = self.options.strategy.fork();
        let started = threads.spawn(move |writer, supervised| {
            work(&*program, strategy, writer, &shared, supervised);
        });
        self.is_started(started)
    }

    /// Whether a thread was started; if not, adds a note.
    pub(crate) fn is_started(&mut self, started: io::Result<()>) -> bool {
        if let Err(error) = &started {
            self.report.notes.push(format!("A thread could not be started: {error}."));
        }
        started.is_ok()
    }

    /// Waits until all threads answered or are left behind, checking limits and calling `tick`.
    pub(crate) fn supervise<C: Send + 'static, A: Send + 'static>(
        &mut self,
        threads: &mut Supervisor<C, A>,
        leave: LeaveBehind,
        mut tick: impl FnMut(&mut Run<P>),
        mut answered: impl FnMut(usize, A),
    ) {
        let shared = self.shared.clone();
        threads.wait(Some((&shared.halt, leave)), |notice| match notice {
            Notice::Answer(thread, answer) => answered(thread, answer),
            Notice::Died(panic) => {
                let why = panic.map_or_else(
                    || "A thread of the run has died.".to_owned(),
                    |bug| {
                        format!(
                            "A thread of the run panicked, in a strategy, an explorer, a sink or a \
                             front end: {bug}"
                        )
                    },
                );
                // Two threads may have died of the same bug.
                if !self.report.notes.contains(&why) {
                    self.report.notes.push(why);
                }
                self.end(Ended::Failed);
            }
            Notice::Stuck(choice_log) => self.step_is_stuck(&choice_log),
            Notice::LeftBehind => self.report.notes.push(
                "A step was still running when the run ended: its thread was left behind.".into(),
            ),
            Notice::Tick => {
                self.check_limits();
                tick(self);
                self.show_progress(Phase::Searching);
            }
        });
    }
}
