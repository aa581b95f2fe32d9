//! The execution under way: what it follows, and what it was like.

use std::sync::{Arc, Mutex};

use dally_core::fingerprint::{mix, part};
use dally_core::{Choice, MessageId, Tag, WorkerId};
use dally_search::reduction::InputDriver;
use dally_search::strata::HappensBefore;
use rustc_hash::FxHashSet;

use super::agenda::{Begin, Ended};
use crate::coverage::{Coverage, Drawn};
use crate::driver::{ConcolicInputs, with};
use crate::recorder::Branch;

pub(super) struct Execution {
    pub(super) driver: ConcolicInputs,
    pub(super) order: HappensBefore,
    /// Whether any execution could choose between orders or values.
    pub(super) chose: bool,
    /// What it begins with, if its inputs were solved for, and how much of that it has made.
    begins: Option<Begin>,
    followed: usize,
    /// The choices that no input makes, each with how long the path was when it was made.
    choices: Vec<(Choice, usize)>,
    /// Who has stepped.
    steps: Vec<WorkerId>,
    /// Hashes of what executions were like.
    different: FxHashSet<u64>,
    paths: FxHashSet<u64>,
    solved: u64,
    strayed: u64,
}

impl Execution {
    pub(super) fn new(coverage: Arc<Mutex<Coverage>>) -> Execution {
        Execution {
            driver: ConcolicInputs::new(coverage),
            order: HappensBefore::default(),
            chose: false,
            begins: None,
            followed: 0,
            choices: Vec::new(),
            steps: Vec::new(),
            different: FxHashSet::default(),
            paths: FxHashSet::default(),
            solved: 0,
            strayed: 0,
        }
    }

    /// Starts over; with inputs that were solved for, and the choices that lead to where they matter.
    pub(super) fn begin(&mut self, begins: Option<Begin>) {
        self.solved += u64::from(begins.is_some());
        let inputs = begins.as_ref().map(|begins| Arc::clone(&begins.inputs));
        self.driver.begin_execution(inputs.as_ref(), 0);
        self.begins = begins;
        self.followed = 0;
        self.choices.clear();
        self.steps.clear();
        self.order.clear();
    }

    /// The choice that comes next in what the execution begins with.
    pub(super) fn foreseen(&self) -> Option<Choice> {
        let choices = &self.begins.as_ref()?.choices;
        // Once it has made another choice, what would follow means nothing.
        let on_the_way = self.followed == self.choices.len();
        choices.get(self.followed).copied().filter(|_| on_the_way)
    }

    fn choose(&mut self, choice: Choice, of: usize) {
        self.chose |= of > 1;
        self.followed += usize::from(self.foreseen() == Some(choice));
        let at = with(|recorder| recorder.path().len());
        self.choices.push((choice, at));
    }

    pub(super) fn step(&mut self, worker: WorkerId, of: usize) {
        if !self.steps.is_empty() {
            self.order.end();
        }
        self.choose(Choice::Worker(worker), of);
        self.driver.begin_step(self.steps.len(), worker);
        self.steps.push(worker);
        self.order.begin(worker);
    }

    pub(super) fn value(&mut self, index: u32, of: u32, tag: Tag) {
        self.choose(Choice::Value { index, of, tag }, of as usize);
        self.order.value(index, of, tag);
    }

    pub(super) fn delivery(&mut self, message: MessageId, of: usize) {
        self.choose(Choice::Delivery(message), of);
    }

    /// The execution is over; from here on nothing is recorded.
    pub(super) fn end(&mut self) -> Ended {
        if !self.steps.is_empty() {
            self.order.end();
        }
        let (taken, brought) = with(|recorder| {
            recorder.stop();
            (recorder.taken(), recorder.brought())
        });
        let path = self.hash_of_path(&taken.path);
        self.paths.insert(path);
        self.different.insert(mix(self.order.fingerprint(), path));
        if let Some(begins) = &self.begins {
            self.strayed += u64::from(!begins.is_followed_by(&taken.path));
        }
        Ended {
            from: self.begins.as_ref().map_or(0, |begins| begins.branch + 1),
            brought,
            taken,
            choices: std::mem::take(&mut self.choices),
            inputs: self.driver.asked().to_vec(),
        }
    }

    /// A hash of the constraints of each worker in their order, in whichever order workers stepped.
    fn hash_of_path(&self, path: &[Branch]) -> u64 {
        let mut workers: Vec<(WorkerId, u64)> = Vec::new();
        let begins = self.driver.steps();
        for (number, &worker) in self.steps.iter().enumerate() {
            let from = begins.get(number).copied().unwrap_or(path.len());
            let to = begins.get(number + 1).copied().unwrap_or(path.len());
            if from == to {
                continue;
            }
            let place = workers.iter().position(|&(known, _)| known == worker);
            let place = place.unwrap_or_else(|| {
                workers.push((worker, 0));
                workers.len() - 1
            });
            let hash = &mut workers[place].1;
            *hash =
                path[from..to].iter().fold(*hash, |hash, branch| mix(hash, branch.holds.hashed()));
        }
        let parts = workers.iter().map(|&(worker, hash)| part(worker.to_bits(), hash));
        parts.fold(0, u64::wrapping_add)
    }

    pub(super) fn drawn(&self) -> Drawn {
        Drawn {
            different: self.different.len() as u64,
            paths: self.paths.len() as u64,
            solved: self.solved,
            strayed: self.strayed,
            dropped: 0,
        }
    }
}
