use dally::machine;
use dally::machines::{Addr, Cx, Setup};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Join(Addr<Server>);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Begin;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Master {
    servers: Vec<Addr<Server>>,
}

#[machine(states(Forming, Serving))]
impl Master {
    #[on(Forming, Join)]
    fn join(&mut self, cx: &mut Cx<Self>, Join(server): Join) {
        self.servers.push(server);
        if self.servers.len() == 3 {
            cx.goto(Serving);
        }
    }

    #[entry(Serving)]
    fn begin(&mut self, cx: &mut Cx<Self>) {
        for &server in &self.servers {
            cx.send(server, Begin);
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Server {
    master: Addr<Master>,
}

#[machine(states(Waiting, Running))]
impl Server {
    #[entry(Waiting)]
    fn join(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.master, Join(cx.me()));
    }

    #[goto(Waiting, Begin => Running)]
    const RULES: () = ();
}

#[dally::test(search = "ses", explorer = "rr")]
fn a_cluster_that_has_formed_serves(setup: &mut Setup) {
    let master = setup.create(Master { servers: Vec::new() });
    for _ in 0..3 {
        setup.create(Server { master });
    }
    // How it forms is not under test.
    setup.seal_while(|_: &Master, state| state == MasterState::Forming);
}
