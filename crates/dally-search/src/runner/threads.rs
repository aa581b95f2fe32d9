//! The threads of a run, seen from outside.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use dally_core::Program;

use super::{GRACE, Run};
use crate::batch::{BatchCommand, BatchMessage, Ran, Told, work};
use crate::choice_log::ChoiceWriter;
use crate::deadline::Stopwatch;
use crate::options::Phase;
use crate::report::Ended;
use crate::watchdog::{Watch, spawn, tick};

/// A thread that runs schedules, seen from outside.
pub(crate) struct ScheduleThread {
    pub(super) orders: Sender<BatchCommand>,
    pub(super) news: Receiver<BatchMessage>,
    ran: Arc<Mutex<Vec<Ran>>>,
    pub(super) watch: Watch,
    /// It has an order and has not answered.
    pub(super) busy: bool,
}

impl ScheduleThread {
    fn results(&self) -> Vec<Ran> {
        std::mem::take(&mut *self.ran.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<P: Program + 'static> Run<P> {
    /// Starts a thread that runs schedules.
    pub(super) fn hire(&mut self) -> Option<ScheduleThread> {
        let (orders, told) = mpsc::channel();
        let (answer, news) = mpsc::channel();
        let ran = Arc::new(Mutex::new(Vec::new()));
        let writer = ChoiceWriter::new();
        let watch = Watch::new(writer.choice_log().clone());
        let (program, shared) = (self.program.clone(), self.shared.clone());
        let strategy = self.options.strategy.fork();
        let told = Told { orders: told, news: answer, ran: ran.clone() };
        let spawned = spawn(&self.options.program, move || {
            work(&*program, strategy, writer, &shared, &told);
        });
        match spawned {
            Ok(()) => Some(ScheduleThread { orders, news, ran, watch, busy: false }),
            Err(error) => {
                self.report.notes.push(format!("A thread could not be started: {error}."));
                None
            }
        }
    }

    /// Waits for all threads to answer; those that never will are left behind.
    pub(super) fn await_batch(&mut self, threads: &mut Vec<ScheduleThread>) -> Vec<Ran> {
        let mut all = Vec::new();
        let mut halted: Option<Stopwatch> = None;
        let tick = tick(self.options.step_time);
        while let Some(busy) = threads.iter().position(|thread| thread.busy) {
            match threads[busy].news.recv_timeout(tick) {
                Ok(_) => {
                    threads[busy].busy = false;
                    all.extend(threads[busy].results());
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let thread = threads.remove(busy);
                    all.extend(thread.results());
                    self.report.notes.push(
                        "A thread that ran schedules died: a strategy or a sink panicked.".into(),
                    );
                    self.end(Ended::Failed);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.look_up();
            self.show(Phase::Searching);
            let step_time = self.options.step_time;
            for thread in
                threads.extract_if(.., |thread| thread.busy && thread.watch.is_stuck(step_time))
            {
                all.extend(thread.results());
                self.step_is_stuck(thread.watch.choice_log());
            }
            if self.shared.halt.load(Ordering::Relaxed) {
                let since = *halted.get_or_insert_with(Stopwatch::start);
                if since.is_past(GRACE) {
                    for thread in threads.extract_if(.., |thread| thread.busy) {
                        all.extend(thread.results());
                        self.report.notes.push(
                            "A step was still running when the run ended: its thread was left \
                             behind."
                                .into(),
                        );
                    }
                }
            }
        }
        all
    }
}
