//! Who wants transactions.

use dally::machine;
use dally::machines::{Addr, Cx};

use super::{Answered, Begin, Begun, Bug, Coordinator, Decided, Hello, TRANSACTIONS, Tx};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Client {
    coordinator: Option<Addr<Coordinator>>,
    tx: Tx,
    bug: Option<Bug>,
}

#[machine(states(Idle, Waiting, Satisfied))]
impl Client {
    pub(super) fn new(bug: Option<Bug>) -> Client {
        Client { coordinator: None, tx: 0, bug }
    }

    #[on(Idle, Hello)]
    fn start(&mut self, cx: &mut Cx<Self>, Hello { coordinator }: Hello) {
        self.coordinator = Some(coordinator);
        cx.goto(Waiting);
    }

    #[entry(Waiting)]
    fn begin(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Begun);
        self.request(cx);
    }

    #[on(Waiting, Hello)]
    fn begin_again(&mut self, cx: &mut Cx<Self>) {
        if self.bug != Some(Bug::NeverRetries) {
            self.request(cx);
        }
    }

    fn request(&mut self, cx: &mut Cx<Self>) {
        if let Some(coordinator) = self.coordinator {
            cx.send(coordinator, Begin { tx: self.tx });
        }
    }

    #[on(Waiting, Decided)]
    fn answered(&mut self, cx: &mut Cx<Self>, Decided { tx, decision }: Decided) {
        if tx != self.tx {
            return; // a second answer to an earlier request
        }
        cx.announce(Answered { tx, decision });
        self.tx += 1;
        cx.goto(if self.tx < TRANSACTIONS { Waiting } else { Satisfied });
    }

    #[ignore(Satisfied, Hello, Decided)]
    const RULES: () = ();
}
