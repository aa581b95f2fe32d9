//! A crate that re-exports Dally says where it is.

#![deny(warnings)]

/// Where a crate of one's own would have it.
mod tools {
    pub use dally as testing;
}

use tools::testing::machines::{Cx, MonitorCx, Setup};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Go;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Runner;

#[tools::testing::machine(states(Waiting), crate = crate::tools::testing)]
impl Runner {
    #[on(Waiting, Go)]
    fn go(&mut self, cx: &mut Cx<Self>, go: Go) {
        cx.announce(go);
    }
}

#[derive(Clone, Hash, Debug, Default)]
struct Watch;

#[tools::testing::monitor(states(hot Open, Closed), crate = crate::tools::testing)]
impl Watch {
    #[on(Open, Go)]
    fn go(&mut self, cx: &mut MonitorCx<Self>) {
        cx.goto(Closed);
    }
}

#[tools::testing::test(crate = crate::tools::testing, schedules = 10)]
fn machines(setup: &mut Setup) {
    setup.monitor(Watch);
    let runner = setup.create(Runner);
    setup.send(runner, Go);
}

#[tools::testing::test(crate = crate::tools::testing)]
async fn tasks() {}

fn main() {
    let _ = Runner;
    let _ = Watch;
}
