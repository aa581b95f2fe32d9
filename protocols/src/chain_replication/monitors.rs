//! What must hold.

use std::collections::BTreeMap;

use dally::machines::MonitorCx;
use dally::monitor;

use super::Update;

/// Announced by a server when it adds an update to its history.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Applied {
    /// Which server.
    pub server: u32,
    /// Which update.
    pub update: Update,
}

/// Announced by a server when it fails.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Failed {
    /// Which server.
    pub server: u32,
}

/// Announced by a client when its update has been acknowledged.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Acknowledged {
    /// Which update.
    pub update: Update,
}

/// Announced by a client before its query.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Asked {
    /// After which update of its own.
    pub after: Update,
}

/// Announced by a client when it has the answer to its query.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Answered {
    /// After which update of its own it asked.
    pub after: Update,
    /// The updates that have been made, in order.
    pub history: Vec<Update>,
}

/// Safety: the history of a server is a prefix of that of every server before it, among those
/// that have not failed, and no update is in it twice. The paper calls it the Update Propagation
/// Invariant.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Propagation {
    histories: BTreeMap<u32, Vec<Update>>,
    failed: Vec<u32>,
}

#[monitor(states(Watching))]
impl Propagation {
    #[on(Watching, Applied)]
    fn applied(&mut self, _: &mut MonitorCx<Self>, Applied { server, update }: Applied) {
        let history = self.histories.entry(server).or_default();
        assert!(!history.contains(&update), "server {server} applies {update:?} twice");
        history.push(update);
        let last = self.histories.keys().copied().max().unwrap_or(server);
        let mut before: Option<(u32, &[Update])> = None;
        for server in (1..=last).filter(|server| !self.failed.contains(server)) {
            let history = self.histories.get(&server).map_or(&[][..], Vec::as_slice);
            if let Some((earlier, longer)) = before {
                assert!(
                    longer.starts_with(history),
                    "server {server} has {history:?}, server {earlier} before it {longer:?}"
                );
            }
            before = Some((server, history));
        }
    }

    #[on(Watching, Failed)]
    fn failed(&mut self, _: &mut MonitorCx<Self>, Failed { server }: Failed) {
        self.histories.remove(&server);
        self.failed.push(server);
        self.failed.sort_unstable();
    }
}

/// Safety: an update that was acknowledged before a query was asked is in the answer, and so is
/// all that was in earlier answers, in the same order.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct NothingLost {
    /// Acknowledged updates, sorted.
    acknowledged: Vec<Update>,
    /// The longest answer.
    known: Vec<Update>,
    /// What was acknowledged, and how long the longest answer was, when a query was asked.
    asked: BTreeMap<Update, (Vec<Update>, usize)>,
}

#[monitor(states(Watching))]
impl NothingLost {
    #[on(Watching, Acknowledged)]
    fn acknowledged(&mut self, _: &mut MonitorCx<Self>, Acknowledged { update }: Acknowledged) {
        self.acknowledged.push(update);
        self.acknowledged.sort_unstable();
    }

    #[on(Watching, Asked)]
    fn asked(&mut self, _: &mut MonitorCx<Self>, Asked { after }: Asked) {
        self.asked.insert(after, (self.acknowledged.clone(), self.known.len()));
    }

    #[on(Watching, Answered)]
    fn answered(&mut self, _: &mut MonitorCx<Self>, Answered { after, history }: Answered) {
        let (acknowledged, known) = self.asked.remove(&after).unwrap_or_default();
        for update in acknowledged {
            assert!(history.contains(&update), "{update:?} was acknowledged, and now it is lost");
        }
        let (short, long) = if history.len() < self.known.len() {
            (&history, &self.known)
        } else {
            (&self.known, &history)
        };
        assert!(long.starts_with(short), "one answer was {:?}, another {history:?}", self.known);
        assert!(history.len() >= known, "{history:?} is older than an earlier answer");
        if history.len() > self.known.len() {
            self.known = history;
        }
    }
}
