//! The receiver as a worker of its own, which takes messages out of its inbox.

use std::hash::Hash;

use dally::machine;
use dally::machines::{Addr, Cx, MachineProgram};

use super::{Bug, INBOX, SENDS, cast, matching};

pub(super) fn program(bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(INBOX.name, move |setup| {
        let (string, senders) = cast(bug);
        let to = setup.create(Receiver { string, matched: Some(0) });
        if senders.is_empty() {
            setup.create(Chooser { to, left: SENDS });
        }
        for (digit, sends) in senders {
            setup.create(Sender { to, digit, sends });
        }
    })
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Digit(char);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Sender {
    to: Addr<Receiver>,
    digit: char,
    sends: usize,
}

#[machine(states(Sending))]
impl Sender {
    #[entry(Sending)]
    fn send(&mut self, cx: &mut Cx<Self>) {
        for _ in 0..self.sends {
            cx.send(self.to, Digit(self.digit));
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Again;

/// Sends digits that it chooses, each after a message to itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Chooser {
    to: Addr<Receiver>,
    left: usize,
}

#[machine(states(Choosing))]
impl Chooser {
    #[observe(only)]
    fn nothing(&self) -> impl Hash {}

    #[entry(Choosing)]
    #[on(Choosing, Again)]
    fn choose(&mut self, cx: &mut Cx<Self>) {
        let digit = *cx.pick(&['0', '1']);
        cx.send(self.to, Digit(digit));
        self.left -= 1;
        if self.left > 0 {
            cx.send(cx.me(), Again);
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Receiver {
    string: &'static str,
    matched: Option<usize>,
}

#[machine(states(Reading))]
impl Receiver {
    #[observe(only)]
    fn matched(&self) -> impl Hash {
        self.matched
    }

    #[on(Reading, Digit)]
    fn read(&mut self, _: &mut Cx<Self>, Digit(digit): Digit) {
        self.matched = matching(self.string, self.matched, digit);
    }
}
