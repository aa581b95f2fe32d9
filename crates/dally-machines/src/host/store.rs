//! Stores of durable state.

use std::any::Any;
use std::io;
use std::marker::PhantomData;

use dally_core::{Bug, Stop, panics};

use crate::cell::{Cell, MachineCell};
use crate::machine::Machine;

/// Keeps the durable state of one machine, for example in a file. Both calls may block.
pub trait Store<D>: Send + 'static {
    /// What was saved last; `None` if nothing ever was. Called once, before the machine starts.
    fn load(&mut self) -> io::Result<Option<D>>;

    /// Saves. Once this returns, the state must survive a crash: effects that the machine queued after
    /// its `persist` are released only then.
    fn save(&mut self, durable: &D) -> io::Result<()>;
}

/// A durable state whose type only the machine knows.
pub(crate) type Durable = Box<dyn Any + Send>;

/// A [`Store`] with access to the durable state of its machine's cell.
pub(crate) trait Keeper: Send {
    fn load(&mut self) -> io::Result<Option<Durable>>;
    fn save(&mut self, durable: &Durable) -> io::Result<()>;
    /// What [`Cell::persist`] stores next.
    fn next(&self, cell: &dyn Cell) -> Option<Durable>;
    fn recover(&self, cell: &mut dyn Cell, durable: Durable) -> Result<(), Stop>;
}

pub(crate) fn keeper<M: Machine>(store: impl Store<M::Durable>) -> Box<dyn Keeper> {
    Box::new(TypedStore { store, machine: PhantomData::<fn() -> M> })
}

struct TypedStore<M, S> {
    store: S,
    machine: PhantomData<fn() -> M>,
}

impl<M: Machine, S: Store<M::Durable>> Keeper for TypedStore<M, S> {
    fn load(&mut self) -> io::Result<Option<Durable>> {
        Ok(self.store.load()?.map(|durable| Box::new(durable) as Durable))
    }

    fn save(&mut self, durable: &Durable) -> io::Result<()> {
        match durable.downcast_ref() {
            Some(durable) => self.store.save(durable),
            None => Ok(()),
        }
    }

    fn next(&self, cell: &dyn Cell) -> Option<Durable> {
        let cell = (cell as &dyn Any).downcast_ref::<MachineCell<M>>()?;
        cell.next_unsaved().map(|durable| Box::new(durable.clone()) as Durable)
    }

    fn recover(&self, cell: &mut dyn Cell, durable: Durable) -> Result<(), Stop> {
        let typed = (cell as &mut dyn Any).downcast_mut::<MachineCell<M>>();
        if let (Some(typed), Ok(durable)) = (typed, durable.downcast()) {
            typed.set_durable(*durable);
            return typed.restart();
        }
        Ok(())
    }
}

/// Runs a call to a store on a thread that may block; `what` names the call in a bug.
pub(crate) async fn blocking<R: Send + 'static>(
    what: &'static str,
    mut keeper: Box<dyn Keeper>,
    job: impl FnOnce(&mut dyn Keeper) -> io::Result<R> + Send + 'static,
) -> Result<(Box<dyn Keeper>, R), Bug> {
    let done = tokio::task::spawn_blocking(move || {
        let result = panics::catch(|| job(&mut *keeper));
        (keeper, result)
    });
    let failed = |why: &dyn std::fmt::Display| {
        Bug::panic(format!("its durable state could not be {what}: {why}"))
    };
    match done.await {
        Ok((keeper, Ok(Ok(result)))) => Ok((keeper, result)),
        Ok((_, Ok(Err(error)))) => Err(failed(&error)),
        Ok((_, Err(Stop::Bug(bug)))) => Err(failed(&bug.message()).at(bug.location)),
        Ok((_, Err(Stop::Cut))) => Err(failed(&"its store was cut short")),
        Err(_) => Err(failed(&"the runtime is shutting down")),
    }
}
