//! Simulated hosts: each runs a part of the system under test, and has an address, a calendar and a life of its
//! own.
//!
//! A host is started with a function that makes what it runs. Its tasks, and those that they spawn, are on
//! that host; the code of the test is on a host of its own that never fails. Sockets of `dally-tokio` reach
//! hosts by their address or their name.
//!
//! Within the [budget of faults](crate::faults) any host may crash and start again, be cut off from one other
//! or from all for a while, and have its calendar (what `SystemTime` shows) jump; when and where is explored. A
//! crash drops the tasks of a host where they stand, and its connections are reset. The test may do the same by
//! the methods of [`Host`].
//!
//! ```
//! use dally_tasks::{TaskProgram, hosts, sync::mpsc};
//!
//! TaskProgram::new("two lives", || async {
//!     let (tx, mut rx) = mpsc::unbounded_channel();
//!     let server = hosts::start("server", move || {
//!         let tx = tx.clone();
//!         async move {
//!             tx.send("up").unwrap();
//!             std::future::pending::<()>().await;
//!         }
//!     });
//!     assert_eq!(rx.recv().await, Some("up"));
//!     server.crash();
//!     server.restart();
//!     assert_eq!(rx.recv().await, Some("up"));
//! });
//! ```

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::rc::Rc;

use dally_core::{Access, Event, Resource, Text};

use crate::current;
use crate::exec::{Exec, Hosts, Link, OWN_HOST, PendingEvent};
use crate::task;
use crate::text::TaskName;
use crate::waker::rouse;

/// A host of the running execution. Copies are the same host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host(u32);

/// Starts a host with this name, which must be its own. It runs what `boot` makes, now and each time that it
/// starts again after a crash.
///
/// # Panics
/// If there is a host with this name, and outside of a Dally execution.
#[track_caller]
pub fn start<F>(name: impl Into<String>, boot: impl Fn() -> F + 'static) -> Host
where
    F: Future<Output = ()> + 'static,
{
    let name = name.into();
    let boot = Rc::new(move || Box::pin(boot()) as crate::exec::BoxFuture);
    let added = current::with("`hosts::start`", |exec| {
        if exec.hosts.named(&name).is_some() || name == "localhost" {
            return Err(name);
        }
        let host = exec.hosts.add(name, boot);
        exec.change_hosts();
        Ok(host)
    });
    let host = added.unwrap_or_else(|name| panic!("there are two hosts with the name `{name}`"));
    self::boot(host);
    Host(host)
}

impl Host {
    /// The host that the running task is on.
    pub fn here() -> Host {
        Host(current::try_with(|exec| exec.tasks[exec.current].host).unwrap_or(OWN_HOST))
    }

    /// The host with this name; that of the test is `localhost`.
    pub fn named(name: &str) -> Option<Host> {
        if name == "localhost" {
            return Some(Host(OWN_HOST));
        }
        current::try_with(|exec| exec.hosts.named(name)).flatten().map(Host)
    }

    /// The host that others reach by this address.
    pub fn at(address: IpAddr) -> Option<Host> {
        current::try_with(|exec| exec.hosts.at(address)).flatten().map(Host)
    }

    /// Which one it is: 0 is that of the test, the others are numbered from 1 in the order in which they
    /// were first started.
    pub fn number(self) -> u32 {
        self.0
    }

    /// Its name.
    pub fn name(self) -> String {
        current::try_with(|exec| exec.hosts.name(self.0).to_owned()).unwrap_or_default()
    }

    /// Where the others reach it.
    pub fn address(self) -> IpAddr {
        Hosts::address(self.0)
    }

    /// Whether it has not crashed, or has started again.
    pub fn is_up(self) -> bool {
        current::try_with(|exec| exec.hosts.is_up(self.0)).unwrap_or(true)
    }

    /// How often it has crashed.
    pub fn crashes(self) -> u32 {
        current::try_with(|exec| exec.hosts.get(self.0).map_or(0, |host| host.crashes)).unwrap_or(0)
    }

    /// Whether nothing passes between it and another one.
    pub fn is_cut_off_from(self, other: Host) -> bool {
        let link = Link::between(self.0, other.0);
        link.is_some_and(|link| current::try_with(|exec| exec.hosts.is_cut(link)).unwrap_or(false))
    }

    /// Crashes it, unless it is down: its tasks are dropped when the running step ends. It stays down until
    /// [`Host::restart`].
    ///
    /// # Panics
    /// If it is the host of the test, and outside of a Dally execution.
    #[track_caller]
    pub fn crash(self) {
        assert_ne!(
            self.0, OWN_HOST,
            "the host of the test cannot crash: start one by `hosts::start`"
        );
        current::with("`Host::crash`", |exec| {
            exec.crash(self.0);
            exec.settle();
        });
        tell(&format!("{} crashes", self.name()));
    }

    /// Starts it again, if it is down.
    ///
    /// # Panics
    /// Outside of a Dally execution.
    #[track_caller]
    pub fn restart(self) {
        boot(self.0);
    }

    /// Lets nothing pass between it and another one, until [`Host::heal`]. Streams wait, datagrams are lost.
    ///
    /// # Panics
    /// Outside of a Dally execution.
    #[track_caller]
    pub fn cut_off_from(self, other: Host) {
        let Some(link) = Link::between(self.0, other.0) else { return };
        current::with("`Host::cut_off_from`", |exec| {
            exec.hosts.cut(link);
            exec.change_hosts();
        });
        tell(&format!("the way between {} and {} is cut", self.name(), other.name()));
    }

    /// Lets everything pass again between it and all others.
    ///
    /// # Panics
    /// Outside of a Dally execution.
    #[track_caller]
    pub fn heal(self) {
        heal(&format!("{} is reached again", self.name()), |link| link.reaches(self.0));
    }

    /// Lets its calendar, which `SystemTime` shows, be so many seconds ahead of the test's, or behind it.
    ///
    /// # Panics
    /// Outside of a Dally execution.
    #[track_caller]
    pub fn set_skew(self, seconds: i64) {
        current::with("`Host::set_skew`", |exec| {
            if let Some(host) = exec.hosts.get_mut(self.0) {
                host.skew = seconds;
            }
            exec.change_hosts();
        });
    }
}

/// Its number and, inside of its execution, its name.
impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Host({} {:?})", self.0, self.name())
    }
}

/// Starts a host that is down.
#[track_caller]
pub(crate) fn boot(number: u32) {
    let down = current::with("starting a host", |exec| {
        let host = exec.hosts.get_mut(number).filter(|host| !host.up)?;
        host.up = true;
        let down = (Rc::clone(&host.boot), host.name.clone(), host.crashes > 0);
        exec.change_hosts();
        Some(down)
    });
    let Some((boot, name, again)) = down else { return };
    if again {
        tell(&format!("{name} starts again"));
    }
    // The program's code: no execution is borrowed.
    drop(task::spawn_on(Some(number), TaskName::Given(name), boot()));
}

/// Opens the ways for which this holds.
#[track_caller]
pub(crate) fn heal(words: &str, heals: impl Fn(Link) -> bool) {
    let woken = current::with("healing a network", |exec| {
        let woken = exec.hosts.heal(heals);
        exec.change_hosts();
        woken
    });
    tell(words);
    woken.into_iter().for_each(rouse);
}

/// Tells the reader of a trace what happens to hosts.
fn tell(what: &str) {
    current::try_with(|exec| {
        current::ask(exec, |exec, env| {
            exec.cut |= env.event(Event::Faulted { fault: Text::Str(what) }).is_err();
        });
    });
}

impl Exec {
    /// Takes a host down; its tasks are dropped when the step ends.
    pub(crate) fn crash(&mut self, host: u32) {
        if let Some(crashed) = self.hosts.get_mut(host).filter(|host| host.up) {
            crashed.up = false;
            crashed.crashes += 1;
            self.hosts.crashing.push(host);
        }
        self.change_hosts();
    }

    /// What others do from here on depends on what has happened to hosts in this step.
    pub(crate) fn change_hosts(&mut self) {
        self.tell(|| PendingEvent::Accessed(Access::write(Resource::Execution)));
        self.settle();
    }
}
