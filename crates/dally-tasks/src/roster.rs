//! The workers of an execution: who each is, and which of them can step.

use dally_core::WorkerId;

/// Who a worker is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Who {
    /// The task of this place.
    Task(usize),
    /// The timer of this place.
    Timer(usize),
}

/// All workers, in the order of their ids.
pub(crate) struct Roster {
    /// Those that can step.
    pub enabled: Vec<WorkerId>,
    /// All, and beside each who it is.
    known: Vec<WorkerId>,
    whose: Vec<Who>,
    /// The places of tasks by the beginning of their ids. Of several with the same beginning it is
    /// the last, and what earlier executions left stays: only a guess, and mostly right.
    guesses: Box<[u32; 256]>,
}

impl Roster {
    pub fn new() -> Roster {
        let guesses = Box::new([0; 256]);
        Roster { enabled: Vec::new(), known: Vec::new(), whose: Vec::new(), guesses }
    }

    pub fn clear(&mut self) {
        self.enabled.clear();
        self.known.clear();
        self.whose.clear();
    }

    /// A new worker, which can step.
    pub fn meet(&mut self, id: WorkerId, who: Who) {
        if let Who::Task(place) = who {
            self.guesses[usize::from(id.beginning())] = place as u32;
        }
        if let Err(place) = id.place_in(&self.known) {
            self.known.insert(place, id);
            self.whose.insert(place, who);
        }
        self.enable(id);
    }

    /// A worker that is no more.
    pub fn forget(&mut self, id: WorkerId) {
        if let Ok(place) = id.place_in(&self.known) {
            self.known.remove(place);
            self.whose.remove(place);
        }
    }

    pub fn enable(&mut self, id: WorkerId) {
        if let Err(place) = id.place_in(&self.enabled) {
            self.enabled.insert(place, id);
        }
    }

    pub fn disable(&mut self, id: WorkerId) {
        if let Ok(place) = id.place_in(&self.enabled) {
            self.enabled.remove(place);
        }
    }

    /// Who a worker is.
    pub fn who(&self, worker: WorkerId) -> Option<Who> {
        let place = worker.place_in(&self.known).ok()?;
        Some(self.whose[place])
    }

    /// The place that the task with this id has, if it is one with an id like those of most.
    #[inline]
    pub fn guess(&self, worker: WorkerId) -> usize {
        self.guesses[usize::from(worker.beginning())] as usize
    }

    /// All workers, and who each is.
    pub fn all(&self) -> impl Iterator<Item = (WorkerId, Who)> {
        self.known.iter().copied().zip(self.whose.iter().copied())
    }

    /// The task that comes after this worker, or the first.
    pub fn task_after(&self, last: Option<WorkerId>) -> Option<(WorkerId, usize)> {
        let from = last.map_or(0, |last| self.known.partition_point(|&id| id <= last));
        let rest = self.known[from..].iter().zip(&self.whose[from..]);
        rest.filter_map(|(&id, who)| match *who {
            Who::Task(place) => Some((id, place)),
            Who::Timer(_) => None,
        })
        .next()
    }
}
