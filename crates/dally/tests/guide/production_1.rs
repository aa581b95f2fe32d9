use dally::machine;
use dally::machines::host::Host;
use dally::machines::{Addr, Cx};
use std::time::Duration;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ping(Addr<Client>);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Pong;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Timeout;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Server;

#[machine(states(Serving))]
impl Server {
    #[on(Serving, Ping)]
    fn ping(&mut self, cx: &mut Cx<Self>, Ping(from): Ping) {
        cx.send(from, Pong);
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Client {
    server: Addr<Server>,
}

#[machine(states(Asking))]
impl Client {
    #[entry(Asking)]
    fn ask(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.server, Ping(cx.me()));
        cx.after(Duration::from_secs(1), Timeout);
    }

    #[on(Asking, Timeout)]
    fn again(&mut self, cx: &mut Cx<Self>) {
        cx.goto(Asking);
    }

    #[on(Asking, Pong)]
    fn answered(&mut self, cx: &mut Cx<Self>) {
        cx.halt();
    }
}

async fn serve() {
    let host = Host::new();
    let server = host.create(Server);
    let client = host.create(Client { server });
    host.wait_for(client).await;
    let report = host.shutdown().await;
    println!("{report}"); // 2 machines: 1 halted, 1 stopped, 0 failed
}

#[test]
fn the_client_is_answered() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(serve());
}
