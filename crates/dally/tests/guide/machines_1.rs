use dally::machine;
use dally::machines::{Addr, Cx, Setup};
use std::time::Duration;

// Events are plain types.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ping {
    from: Addr<Client>,
}
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Pong;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Timeout;

// A machine is a struct with its data ...
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Server;

// ... and a block with its states (the first is where it starts) and what it does in them.
#[machine(states(Serving))]
impl Server {
    #[on(Serving, Ping)]
    fn ping(&mut self, cx: &mut Cx<Self>, Ping { from }: Ping) {
        cx.send(from, Pong);
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Client {
    server: Addr<Server>,
    attempts: u32,
}

#[machine(states(Asking, Done))]
impl Client {
    #[entry(Asking)]
    fn ask(&mut self, cx: &mut Cx<Self>) {
        self.attempts += 1;
        cx.send(self.server, Ping { from: cx.me() });
        cx.after(Duration::from_secs(1), Timeout);
    }

    #[on(Asking, Timeout)]
    fn again(&mut self, cx: &mut Cx<Self>) {
        if self.attempts < 3 {
            cx.goto(Asking);
        } else {
            cx.goto(Done);
        }
    }

    #[on(Asking, Pong)]
    fn answered(&mut self, cx: &mut Cx<Self>) {
        cx.cancel(&Timeout);
        cx.goto(Done);
    }

    // A late answer to an earlier attempt.
    #[ignore(Done, Pong)]
    const RULES: () = ();
}

#[dally::test(schedules = 500)]
fn the_client_comes_to_its_end(setup: &mut Setup) {
    let server = setup.create(Server);
    setup.create(Client { server, attempts: 0 });
}

#[path = "machines_2.rs"]
mod machines_2;
