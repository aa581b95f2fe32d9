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
    /// The tasks by their places.
    tasks: Vec<WorkerId>,
    /// The places of tasks by the beginning of their ids. Of several with the same beginning it is
    /// the last, and what earlier executions left stays: only a guess, and mostly right.
    guesses: Box<[u32; 256]>,
}

impl Roster {
    pub fn new() -> Roster {
        let guesses = Box::new([0; 256]);
        let (enabled, known, tasks) = (Vec::new(), Vec::new(), Vec::new());
        Roster { enabled, known, whose: Vec::new(), tasks, guesses }
    }

    pub fn clear(&mut self) {
        self.enabled.clear();
        self.known.clear();
        self.whose.clear();
        self.tasks.clear();
    }

    /// A new worker, which can step. Tasks have the places 0, 1, 2 and so on.
    pub fn meet(&mut self, id: WorkerId, who: Who) {
        if let Who::Task(place) = who {
            debug_assert_eq!(place, self.tasks.len(), "tasks come in the order of their places");
            self.tasks.push(id);
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
    #[inline]
    pub fn who(&self, worker: WorkerId) -> Option<Who> {
        match self.guess(worker) {
            Some(place) => Some(Who::Task(place)),
            None => self.look_up(worker),
        }
    }

    fn look_up(&self, worker: WorkerId) -> Option<Who> {
        let place = worker.place_in(&self.known).ok()?;
        Some(self.whose[place])
    }

    /// The place of the task with this id, if a guess finds it: mostly it does.
    #[inline]
    pub fn guess(&self, worker: WorkerId) -> Option<usize> {
        let place = self.guesses[usize::from(worker.beginning())] as usize;
        (self.tasks.get(place) == Some(&worker)).then_some(place)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_that_an_earlier_execution_left_is_not_believed() {
        let main = WorkerId::root(0);
        let (first, second) = (main.child(0), main.child(1));
        let mut roster = Roster::new();
        for (place, id) in [main, first, second].into_iter().enumerate() {
            roster.meet(id, Who::Task(place));
        }
        assert_eq!(roster.who(second), Some(Who::Task(2)));

        roster.clear();
        assert_eq!(roster.who(main), None);
        for (place, id) in [main, second].into_iter().enumerate() {
            roster.meet(id, Who::Task(place));
        }
        assert_eq!(roster.who(second), Some(Who::Task(1)));
        assert_eq!(roster.who(first), None);
    }
}
