//! Who makes servers fail.

use dally::machine;
use dally::machines::{Addr, Cx};

use super::{Fail, Server};

/// Lets one server after another fail, in any order and at any time, until one is left.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Fault {
    /// Who has not failed.
    spared: Vec<Addr<Server>>,
}

#[machine(states(Lurking))]
impl Fault {
    pub(super) fn new(servers: Vec<Addr<Server>>) -> Fault {
        Fault { spared: servers }
    }

    #[default(Lurking)]
    fn strike(&mut self, cx: &mut Cx<Self>) {
        if self.spared.len() < 2 {
            return cx.halt();
        }
        let victim = cx.choose(self.spared.len());
        cx.send(self.spared.remove(victim), Fail);
    }
}
