//! Programs made of tasks.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use dally_core::{Bug, Foreign, IntoMonitor, Monitors, Program};

use crate::control::Control;
use crate::exec::BoxFuture;
use crate::model::{Clock, Model, Points, TaskPanics};
use crate::system::TaskSystem;

type Main = dyn Fn() -> BoxFuture + Send + Sync;
type AddMonitor = dyn Fn(&mut Monitors) -> Result<(), Bug> + Send + Sync;

/// A program whose workers are async tasks.
///
/// The closure is called for every execution and makes the main task; the execution is over when
/// that task is. What tasks share is made in the closure or in the task, so that every execution
/// starts afresh.
///
/// ```
/// use dally_tasks::{TaskProgram, spawn};
///
/// let program = TaskProgram::new("two and two", || async {
///     let two = spawn(async { 2 });
///     assert_eq!(two.await.unwrap() + 2, 4);
/// });
/// assert_eq!(program.name(), "two and two");
/// ```
#[derive(Clone)]
pub struct TaskProgram {
    name: String,
    main: Arc<Main>,
    model: Model,
    control: Arc<Control>,
    monitors: Vec<Arc<AddMonitor>>,
}

impl TaskProgram {
    /// A program of this name whose main task is what `main` makes.
    pub fn new<F>(
        name: impl Into<String>,
        main: impl Fn() -> F + Send + Sync + 'static,
    ) -> TaskProgram
    where
        F: Future<Output = ()> + 'static,
    {
        let main = Arc::new(move || Box::pin(main()) as BoxFuture);
        TaskProgram {
            name: name.into(),
            main,
            model: Model::default(),
            control: Arc::default(),
            monitors: Vec::new(),
        }
    }

    /// The same program with a monitor more; `make` is called for every execution.
    ///
    /// # Panics
    /// On the 65th monitor: an execution has at most 64.
    #[must_use]
    pub fn monitor<M: IntoMonitor>(
        mut self,
        make: impl Fn() -> M + Send + Sync + 'static,
    ) -> TaskProgram {
        assert!(self.monitors.len() < 64, "a program has at most 64 monitors");
        self.monitors.push(Arc::new(move |monitors| {
            monitors.add(make().into_monitor()?);
            Ok(())
        }));
        self
    }

    /// The same program where these panics of tasks are bugs.
    #[must_use]
    pub fn task_panics(mut self, task_panics: TaskPanics) -> TaskProgram {
        self.model.task_panics = task_panics;
        self
    }

    /// The same program where time moves like this.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> TaskProgram {
        self.model.clock = clock;
        self
    }

    /// The same program where steps end at these points.
    #[must_use]
    pub fn points(mut self, points: Points) -> TaskProgram {
        self.model.points = points;
        self
    }

    /// The same program with at most so many faults of the network, of disks and of [`hosts`](crate::hosts) in
    /// an execution. When they are spent, time moves as with [`Clock::Idle`].
    #[must_use]
    pub fn fault_budget(mut self, faults: u32) -> TaskProgram {
        self.model.faults = faults;
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for TaskProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskProgram").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Program for TaskProgram {
    type System = TaskSystem;

    fn name(&self) -> &str {
        &self.name
    }

    fn start(&self) -> Result<TaskSystem, Bug> {
        let mut system = TaskSystem::new();
        self.restart(&mut system)?;
        Ok(system)
    }

    fn restart(&self, system: &mut TaskSystem) -> Result<(), Bug> {
        system.control = Arc::clone(&self.control);
        system.begin(self.model, &*self.main, |monitors| {
            self.monitors.iter().try_for_each(|add| add(monitors))
        })
    }

    fn set(&mut self, setting: &str, value: &str) -> Option<String> {
        /// Replaces a value by the one that was read, if there is one.
        fn replaced<T: Copy + ToString>(field: &mut T, read: Option<T>) -> Option<String> {
            let was = std::mem::replace(field, read.unwrap_or(*field));
            Some(was.to_string())
        }
        let Model { task_panics, clock, points, faults, once: _ } = &mut self.model;
        match setting {
            "task_panics" => replaced(task_panics, TaskPanics::named(value)),
            "timers" => replaced(clock, Clock::named(value)),
            "points" => replaced(points, Points::named(value)),
            "fault_budget" => replaced(faults, value.parse().ok()),
            _ => None,
        }
    }

    fn granularity(&self) -> &'static str {
        self.model.granularity()
    }

    fn foreign(&self) -> Option<Foreign> {
        self.control.foreign()
    }
}
