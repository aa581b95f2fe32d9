//! Events that a machine never handles, or that do not exist.

use dally::machine;
use dally::machines::{Addr, Cx};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ping;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Pong;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Stop;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Server;
#[machine(states(Up))]
impl Server {
    #[on(Up, Ping)]
    fn ping(&mut self) {}
    #[on(Up, Stop)]
    fn stop(&mut self) {}
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Misspelt;
#[machine(states(Up))]
impl Misspelt {
    #[on(Up, Stopp)]
    fn stop(&mut self) {}
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Client {
    server: Addr<Server>,
}
#[machine(states(Idle))]
impl Client {
    #[on(Idle, Stop)]
    fn stop(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.server, Pong);
    }
    #[on(Idle, Ping)]
    fn ping(&mut self, cx: &mut Cx<Self>) {
        cx.raise(Pong);
    }
}

fn main() {}
