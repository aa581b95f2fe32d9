//! The signals of an execution: whether they come, and who hears them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use dally_tasks::hosts::Host;
use dally_tasks::pipe::{self, Pipe};
use dally_tasks::{faults, task};

/// Who listens for one signal on one host. What has come and was not heard yet is kept for each once, as with the system.
type Ears = BTreeMap<u32, Pipe<()>>;

/// The signals that somebody has listened for, with their hosts.
#[derive(Default)]
struct Signals {
    execution: u64,
    ears: BTreeMap<(Host, i32), Ears>,
    /// How many have listened.
    listeners: u32,
}

thread_local! {
    static SIGNALS: RefCell<Signals> = RefCell::default();
}

/// Who listens for a signal of the host that it was made on.
#[derive(Debug)]
pub(super) struct Listener {
    /// What has come; absent outside of an execution, where nothing comes.
    ear: Option<Pipe<()>>,
    of: (Host, i32),
    id: u32,
}

impl Listener {
    /// The first one for a signal on a host decides whether that comes.
    #[track_caller]
    pub fn new(number: i32) -> Listener {
        let of = (Host::here(), number);
        let Some(execution) = pipe::execution() else { return Listener { ear: None, of, id: 0 } };
        let ear = Pipe::new("signal", 1);
        let (id, is_first) = SIGNALS.with_borrow_mut(|signals| {
            if signals.execution != execution {
                *signals = Signals { execution, ..Signals::default() };
            }
            signals.listeners += 1;
            let is_first = !signals.ears.contains_key(&of);
            signals.ears.entry(of).or_default().insert(signals.listeners, ear.clone());
            (signals.listeners, is_first)
        });
        let name = name(number);
        if is_first && faults::comes(&format!("{name} comes")) {
            drop(task::Builder::new().name(&name).spawn(async move { send(of) }));
        }
        Listener { ear: Some(ear), of, id }
    }

    pub async fn recv(&mut self) {
        poll_fn(|cx| self.poll_recv(cx)).await;
    }

    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(ear) = &self.ear else { return Poll::Pending };
        ready!(ear.poll_readable(cx));
        match ear.take(|queue| queue.pop_front()) {
            Some(()) => Poll::Ready(()),
            None => Poll::Pending,
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let gone = SIGNALS.try_with(|signals| {
            let mut signals = signals.try_borrow_mut().ok()?;
            let same = Some(signals.execution) == pipe::execution();
            signals.ears.get_mut(&self.of).filter(|_| same)?.remove(&self.id)
        });
        drop(gone);
    }
}

/// All who listen hear it.
fn send(of: (Host, i32)) {
    let ears = SIGNALS.with_borrow(|signals| signals.ears.get(&of).cloned());
    for ear in ears.into_iter().flat_map(Ears::into_values) {
        ear.put(|queue| queue.push_back(()));
    }
}

fn name(number: i32) -> String {
    match number {
        2 => "Ctrl-C".to_owned(),
        15 => "SIGTERM".to_owned(),
        number => format!("signal {number}"),
    }
}
