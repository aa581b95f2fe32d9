//! The threads of a run, seen from outside.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use dally_core::Program;

use super::{GRACE, Run};
use crate::batch::{News, Order, Ran, Told, work};
use crate::deadline::Stopwatch;
use crate::options::Phase;
use crate::report::Ended;
use crate::tape::Pen;
use crate::watchdog::{Watch, spawn, tick};

/// A thread that runs schedules, seen from outside.
pub(crate) struct Hand {
    pub(super) orders: Sender<Order>,
    pub(super) news: Receiver<News>,
    ran: Arc<Mutex<Vec<Ran>>>,
    pub(super) watch: Watch,
    /// It has an order and has not answered.
    pub(super) busy: bool,
}

impl Hand {
    fn results(&self) -> Vec<Ran> {
        std::mem::take(&mut *self.ran.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<P: Program + 'static> Run<P> {
    /// Starts a thread that runs schedules.
    pub(super) fn hire(&mut self) -> Option<Hand> {
        let (orders, told) = mpsc::channel();
        let (answer, news) = mpsc::channel();
        let ran = Arc::new(Mutex::new(Vec::new()));
        let pen = Pen::new();
        let watch = Watch::new(pen.tape().clone());
        let (program, shared) = (self.program.clone(), self.shared.clone());
        let strategy = self.options.strategy.fork();
        let told = Told { orders: told, news: answer, ran: ran.clone() };
        let spawned = spawn(&self.options.program, move || {
            work(&*program, strategy, pen, &shared, &told);
        });
        match spawned {
            Ok(()) => Some(Hand { orders, news, ran, watch, busy: false }),
            Err(error) => {
                self.report.notes.push(format!("A thread could not be started: {error}."));
                None
            }
        }
    }

    /// Waits for all threads to answer; those that never will are left behind.
    pub(super) fn await_batch(&mut self, hands: &mut Vec<Hand>) -> Vec<Ran> {
        let mut all = Vec::new();
        let mut halted: Option<Stopwatch> = None;
        let tick = tick(self.options.step_time);
        while let Some(busy) = hands.iter().position(|hand| hand.busy) {
            match hands[busy].news.recv_timeout(tick) {
                Ok(_) => {
                    hands[busy].busy = false;
                    all.extend(hands[busy].results());
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let hand = hands.remove(busy);
                    all.extend(hand.results());
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
            for hand in hands.extract_if(.., |hand| hand.busy && hand.watch.is_stuck(step_time)) {
                all.extend(hand.results());
                self.step_is_stuck(hand.watch.tape());
            }
            if self.shared.halt.load(Ordering::Relaxed) {
                let since = *halted.get_or_insert_with(Stopwatch::start);
                if since.is_past(GRACE) {
                    for hand in hands.extract_if(.., |hand| hand.busy) {
                        all.extend(hand.results());
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
