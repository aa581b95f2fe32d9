use dally::machine;
use dally::machines::Cx;
use dally::machines::host::Host;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

#[derive(Debug)]
struct Answer(u32);

/// The way out: hands answers to code that is no machine.
#[derive(Debug)]
struct Outlet {
    to: UnboundedSender<u32>,
}

#[machine(uncaptured, states(Open))]
impl Outlet {
    #[on(Open, Answer)]
    fn answer(&mut self, cx: &mut Cx<Self>, Answer(n): Answer) {
        if self.to.send(n).is_err() {
            cx.halt(); // Nobody listens any more.
        }
    }
}

async fn ask(host: &Host) -> Option<u32> {
    let (to, mut answers): (_, UnboundedReceiver<u32>) = unbounded_channel();
    let outlet = host.create(Outlet { to });
    host.send(outlet, Answer(42)).ok()?; // From anywhere; here it is another machine's part.
    answers.recv().await
}

#[test]
fn an_answer_comes_out() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let host = Host::new();
        assert_eq!(ask(&host).await, Some(42));
        assert!(host.shutdown().await.is_clean());
    });
}
