//! The tasks of an execution and the states they are in.

use std::ops::{Index, IndexMut};
use std::sync::Arc;
use std::task::Waker;

use dally_core::{Access, ObjectId, WorkerId};

use crate::exec::OWN_HOST;
use crate::text::{TaskName, Wait};
use crate::waker::{Shared, TaskWaker};

/// What a task can be doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// Enabled: its next step polls it.
    Runnable,
    Running,
    Blocked,
    Finished,
}

/// A task but for what it runs.
pub(crate) struct Task {
    pub id: WorkerId,
    pub name: TaskName,
    /// A hash of the name.
    pub kind: u64,
    /// The host that it runs on.
    pub host: u32,
    pub state: State,
    /// Its next step drops the future.
    pub aborted: bool,
    /// Woken, by itself or by others, since its poll began.
    pub ready: bool,
    /// Woken after it was blocked.
    woken: bool,
    /// A combinator in it has put a waker of its own in between. Whatever it does may touch that.
    pub linked: bool,
    /// What it touches next, where a poll is suspended before an operation.
    stands_before: Option<Option<Access>>,
    /// What it waits for since its last poll, if that is one thing.
    next: Option<Access>,
    points: u32,
    pub waits: Vec<Wait>,
    /// Whom `yield_now` is to wake when the poll ends.
    pub deferred: Vec<Waker>,
    /// Its code may block its thread: it is no async code.
    pub may_block: bool,
    wake: Arc<TaskWaker>,
    children: u32,
    objects: u32,
    timers: u32,
}

impl Task {
    /// Notes an operation that the task waits for. Of several it may do any.
    #[inline]
    pub fn announce(&mut self, next: Option<Access>) {
        self.next = next.filter(|_| self.points == 0);
        self.points += 1;
    }

    /// Notes the operation before which a poll is suspended.
    #[inline]
    pub fn stand_before(&mut self, next: Option<Access>) {
        self.stands_before = Some(next);
    }

    /// What its next step touches first, where that is known.
    pub fn pending(&self) -> Option<Access> {
        match self.stands_before {
            Some(next) => next,
            None => self.next.filter(|_| self.points > 0 && !self.aborted),
        }
    }

    /// Whether nobody waits for the end of its poll, and nobody wants it to end.
    #[inline]
    pub fn is_left_alone(&self) -> bool {
        !self.aborted && self.deferred.is_empty()
    }

    /// Lets it step again.
    pub fn unblock(&mut self) {
        self.state = State::Runnable;
        self.woken = true;
    }

    /// Whether this waker is the task's own and not one that a combinator put in between.
    #[inline]
    pub fn owns(&self, waker: &Waker) -> bool {
        waker.data() == Arc::as_ptr(&self.wake).cast()
    }

    /// Another waker of its own.
    pub fn waker(&self) -> Waker {
        self.wake.waker()
    }

    /// Its wakers do nothing from here on.
    pub fn silence(&self) {
        self.wake.silence();
    }

    /// The id of the next task that it spawns.
    pub fn next_child(&mut self) -> WorkerId {
        self.children += 1;
        self.id.child(self.children - 1)
    }

    /// The id of the next object that it makes.
    pub fn next_object(&mut self) -> ObjectId {
        self.objects += 1;
        ObjectId { creator: self.id, number: self.objects - 1 }
    }

    /// The id of the next timer that it arms.
    pub fn next_timer(&mut self) -> WorkerId {
        self.timers += 1;
        self.id.timer(self.timers - 1)
    }

    /// A poll begins; answers whether the task was woken for it.
    #[inline]
    pub fn begin_poll(&mut self) -> bool {
        self.state = State::Running;
        self.ready = false;
        self.points = 0;
        self.waits.clear();
        std::mem::take(&mut self.woken)
    }

    /// A poll that was suspended goes on; answers whether it had blocked its thread and was woken.
    #[inline]
    pub fn resume_poll(&mut self) -> bool {
        self.state = State::Running;
        self.stands_before = None;
        std::mem::take(&mut self.woken)
    }

    /// A poll that has blocked its thread goes on.
    pub fn unpark(&mut self) {
        self.ready = false;
        self.points = 0;
        self.waits.clear();
    }

    fn new(id: WorkerId, name: TaskName, wake: Arc<TaskWaker>) -> Task {
        Task {
            id,
            kind: name.kind(),
            name,
            host: OWN_HOST,
            state: State::Runnable,
            aborted: false,
            ready: false,
            woken: false,
            linked: false,
            stands_before: None,
            next: None,
            points: 0,
            waits: Vec::new(),
            deferred: Vec::new(),
            may_block: false,
            wake,
            children: 0,
            objects: 0,
            timers: 0,
        }
    }

    /// Becomes a new task in the memory of one of an earlier execution, all but its waker.
    fn begin_again(&mut self, id: WorkerId, name: TaskName) {
        self.id = id;
        // Mostly it is what it was in the execution before.
        if self.name != name {
            self.kind = name.kind();
            self.name = name;
        }
        (self.host, self.state) = (OWN_HOST, State::Runnable);
        (self.aborted, self.may_block) = (false, false);
        (self.ready, self.woken, self.linked) = (false, false, false);
        self.stands_before = None;
        self.points = 0;
        self.waits.clear();
        (self.children, self.objects, self.timers) = (0, 0, 0);
    }
}

/// The tasks of an execution by their places, which are in the order of their creation.
#[derive(Default)]
pub(crate) struct Tasks {
    /// Those beyond `live` are memory of earlier executions, kept for reuse.
    all: Vec<Task>,
    live: usize,
}

impl Tasks {
    /// The tasks of the present execution.
    #[inline]
    pub fn live(&self) -> &[Task] {
        &self.all[..self.live]
    }

    /// The task of this place, if there is one.
    pub fn get_mut(&mut self, place: usize) -> Option<&mut Task> {
        self.all.get_mut(place)
    }

    /// An execution begins, which has none yet.
    pub fn clear(&mut self) {
        self.live = 0;
    }

    /// A new task; answers its place.
    pub fn add(&mut self, id: WorkerId, name: TaskName, shared: &Arc<Shared>) -> usize {
        let place = self.live;
        self.live += 1;
        match self.all.get_mut(place) {
            None => self.all.push(Task::new(id, name, TaskWaker::new(place, shared))),
            Some(task) => {
                // A clone that outlived its execution must not wake a task of this one. Two are
                // expected: this one, and that of the body.
                if Arc::strong_count(&task.wake) > 2 {
                    task.wake = TaskWaker::new(place, shared);
                }
                task.begin_again(id, name);
                task.wake.revive();
            }
        }
        place
    }
}

impl Index<usize> for Tasks {
    type Output = Task;

    #[inline]
    fn index(&self, place: usize) -> &Task {
        &self.all[place]
    }
}

impl IndexMut<usize> for Tasks {
    #[inline]
    fn index_mut(&mut self, place: usize) -> &mut Task {
        &mut self.all[place]
    }
}
