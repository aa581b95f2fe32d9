//! The hosts of an execution, and the faults that may still happen to it.

use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::task::Waker;

use crate::exec::{BoxFuture, Exec};

/// The host that the test itself runs on. It has no faults.
pub(crate) const OWN_HOST: u32 = 0;

/// How many chances there are for each fault. Strategies that draw at random let one in eight happen.
const CHANCES: u32 = 8;

/// A way between two hosts, the one with the smaller number first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Link(u32, u32);

impl Link {
    /// The way between two hosts; none between a host and itself, which is never cut.
    pub fn between(one: u32, other: u32) -> Option<Link> {
        (one != other).then(|| Link(one.min(other), one.max(other)))
    }

    /// Both of them.
    pub fn hosts(self) -> [u32; 2] {
        [self.0, self.1]
    }

    pub fn reaches(self, host: u32) -> bool {
        self.0 == host || self.1 == host
    }
}

/// What a host runs each time that it starts.
pub(crate) type Boot = Rc<dyn Fn() -> BoxFuture>;

pub(crate) struct Host {
    pub name: String,
    pub boot: Boot,
    pub up: bool,
    /// How often it has crashed.
    pub crashes: u32,
    /// How many seconds its calendar is ahead.
    pub skew: i64,
    /// Somebody has asked it for the date.
    pub dated: bool,
}

#[derive(Default)]
pub(crate) struct Hosts {
    /// All but the test's own.
    all: Vec<Host>,
    /// The ways that nothing passes.
    cut: Vec<Link>,
    /// Who waits for one of them to be healed.
    waiting: Vec<Waker>,
    /// Those whose tasks are to be dropped when the step ends.
    pub crashing: Vec<u32>,
    /// The program may have faults.
    has_faults: bool,
    /// How many are left.
    budget: u32,
    /// How many operations are left at which one may happen.
    chances: u32,
    /// How many operations there are before the next of these, once that was chosen.
    pub distance: Option<u32>,
}

impl Hosts {
    /// An execution begins that may have so many faults.
    pub fn begin(&mut self, faults: u32) {
        self.all.clear();
        self.cut.clear();
        self.waiting.clear();
        self.crashing.clear();
        (self.has_faults, self.budget, self.distance) = (faults > 0, faults, None);
        self.chances = faults.saturating_mul(CHANCES);
    }

    /// A new host, which is down; answers its number.
    pub fn add(&mut self, name: String, boot: Boot) -> u32 {
        self.all.push(Host { name, boot, up: false, crashes: 0, skew: 0, dated: false });
        self.all.len() as u32
    }

    /// The host of this number; none for the test's own.
    pub fn get(&self, host: u32) -> Option<&Host> {
        self.all.get((host as usize).checked_sub(1)?)
    }

    pub fn get_mut(&mut self, host: u32) -> Option<&mut Host> {
        self.all.get_mut((host as usize).checked_sub(1)?)
    }

    /// Their numbers, without that of the test's own.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        1..=self.all.len() as u32
    }

    pub fn is_up(&self, host: u32) -> bool {
        self.get(host).is_none_or(|host| host.up)
    }

    pub fn name(&self, host: u32) -> &str {
        self.get(host).map_or("localhost", |host| &host.name)
    }

    pub fn named(&self, name: &str) -> Option<u32> {
        self.numbers().find(|&host| self.name(host) == name)
    }

    pub fn at(&self, address: IpAddr) -> Option<u32> {
        (0..=self.all.len() as u32).find(|&host| Hosts::address(host) == address)
    }

    /// Where others reach a host.
    pub fn address(host: u32) -> IpAddr {
        let [_, b, c, d] = host.saturating_add(1).to_be_bytes();
        Ipv4Addr::new(10, b, c, d).into()
    }

    pub fn is_cut(&self, link: Link) -> bool {
        self.cut.contains(&link)
    }

    pub fn cut(&mut self, link: Link) {
        if !self.is_cut(link) {
            self.cut.push(link);
        }
    }

    /// Answers who has waited for it.
    pub fn heal(&mut self, heals: impl Fn(Link) -> bool) -> Vec<Waker> {
        self.cut.retain(|&link| !heals(link));
        std::mem::take(&mut self.waiting)
    }

    /// Somebody waits for a way that is cut.
    pub fn wait(&mut self, waker: &Waker) {
        if !self.waiting.iter().any(|known| known.will_wake(waker)) {
            self.waiting.push(waker.clone());
        }
    }

    /// Whether the program may have faults, and this execution has had them all and recovered: from then on
    /// everybody is in time.
    pub fn is_calm(&self) -> bool {
        self.has_faults
            && self.is_spent()
            && self.cut.is_empty()
            && self.all.iter().all(|host| host.up)
    }

    pub fn has_faults(&self) -> bool {
        self.has_faults
    }

    /// Whether no fault is left.
    pub fn is_spent(&self) -> bool {
        self.budget == 0 || self.chances == 0
    }

    /// A chance for a fault is over, and there was one or not.
    pub fn spend(&mut self, fault: bool) {
        self.chances -= 1;
        self.budget -= u32::from(fault);
    }
}

impl Exec {
    /// Faults came or went: time may move in another way from here on.
    pub fn settle(&mut self) {
        if self.hosts.has_faults {
            self.order_timers();
        }
    }
}
