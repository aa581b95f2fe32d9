//! The messaging strings: the smallest programs that tell strategies apart.
//!
//! Two senders send their digit, 0 or 1, ten times each to a receiver that compares what arrives
//! with a fixed string. The first mismatch is final; a full match is the bug. So each string
//! asks for one order of the senders: `0000000001` for one late change of worker,
//! `0101010101` for a change at every send. With a third sender that sends a single 2, the
//! string says how early or late that one message must be. In the variants whose names begin
//! with `choose`, one sender chooses each digit, so that the string asks for values and not for an
//! order. Random needs about 2^n schedules for any string of n digits from two senders; PCT finds
//! only those that few changes of worker make, and these soon.
//!
//! From "Learning-based controlled concurrency testing" (Mukherjee et al., OOPSLA 2020), figure 1
//! and table 1. The correct version has two senders and a string with a 2 in it.

use std::hash::Hash;

use dally::machine;
use dally::machines::{Addr, Cx, MachineProgram};

use crate::registry::{PlantedBug, Protocol, Subject};

/// The string that is found: 0 to the power of 9 and so on, in the notation of the paper.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// `0000000001` from two senders.
    Late,
    /// `0101010101` from two senders.
    Alternating,
    /// `0101010001` from two senders.
    Mixed,
    /// `20000000001` from three senders: the single message comes first.
    TwoThenLate,
    /// `00000000012` from three senders: the single message comes last.
    LateThenTwo,
    /// `01010101012` from three senders: what random and PCT each find hard, at once.
    AlternatingThenTwo,
    /// `0000000001` from one sender that chooses.
    ChooseLate,
    /// `0101010101` from one sender that chooses.
    ChooseAlternating,
    /// `0101010001` from one sender that chooses.
    ChooseMixed,
}

impl Bug {
    /// All of them.
    pub const ALL: [Bug; 9] = [
        Bug::Late,
        Bug::Alternating,
        Bug::Mixed,
        Bug::TwoThenLate,
        Bug::LateThenTwo,
        Bug::AlternatingThenTwo,
        Bug::ChooseLate,
        Bug::ChooseAlternating,
        Bug::ChooseMixed,
    ];

    fn named(name: &str) -> Option<Bug> {
        Bug::ALL.into_iter().find(|bug| bug.planted().name == name)
    }

    const fn planted(self) -> PlantedBug {
        let (name, summary) = match self {
            Bug::Late => ("0000000001", "one sender is nine messages ahead"),
            Bug::Alternating => ("0101010101", "two senders take turns"),
            Bug::Mixed => ("0101010001", "two senders take turns, then one gets ahead"),
            Bug::TwoThenLate => ("20000000001", "the single message of a third sender is first"),
            Bug::LateThenTwo => ("00000000012", "the single message of a third sender is last"),
            Bug::AlternatingThenTwo => ("01010101012", "two senders take turns, a third is last"),
            Bug::ChooseLate => ("choose-0000000001", "one sender chooses nine zeros and a one"),
            Bug::ChooseAlternating => ("choose-0101010101", "one sender chooses in turns"),
            Bug::ChooseMixed => ("choose-0101010001", "one sender chooses in turns, then zeros"),
        };
        PlantedBug { name, summary }
    }

    fn string(self) -> &'static str {
        self.planted().name.trim_start_matches("choose-")
    }
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "messaging",
    summary: "senders race to spell a string at a receiver",
    bugs: &[
        Bug::Late.planted(),
        Bug::Alternating.planted(),
        Bug::Mixed.planted(),
        Bug::TwoThenLate.planted(),
        Bug::LateThenTwo.planted(),
        Bug::AlternatingThenTwo.planted(),
        Bug::ChooseLate.planted(),
        Bug::ChooseAlternating.planted(),
        Bug::ChooseMixed.planted(),
    ],
    max_steps: 200,
    program: |bug| Subject::Machines(program(bug.and_then(Bug::named))),
};

/// The senders and the receiver, with a string that can be spelt or, without a bug, cannot.
pub fn program(bug: Option<Bug>) -> MachineProgram {
    use Bug::*;
    MachineProgram::new(PROTOCOL.name, move |setup| {
        let string = bug.map_or("0101010102", Bug::string);
        let to = setup.create(Receiver { string, matched: 0 });
        let mut sender = |what, sends| setup.create(Sender { to, what, sends });
        match bug {
            Some(ChooseLate | ChooseAlternating | ChooseMixed) => {
                sender(What::ZeroOrOne, SENDS);
            }
            None | Some(Late | Alternating | Mixed) => {
                sender(What::Always(0), SENDS);
                sender(What::Always(1), SENDS);
            }
            Some(TwoThenLate | LateThenTwo | AlternatingThenTwo) => {
                sender(What::Always(0), SENDS);
                sender(What::Always(1), SENDS);
                sender(What::Always(2), 1);
            }
        }
    })
}

const SENDS: usize = 10;

/// Digits are events of their own: what is in an inbox is observed by the names of events.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Zero;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct One;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Two;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Sender {
    to: Addr<Receiver>,
    what: What,
    sends: usize,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum What {
    Always(u8),
    ZeroOrOne,
}

#[machine(states(Sending))]
impl Sender {
    #[entry(Sending)]
    fn send(&mut self, cx: &mut Cx<Self>) {
        for _ in 0..self.sends {
            let digit = match self.what {
                What::Always(digit) => digit,
                What::ZeroOrOne => u8::from(cx.flip()),
            };
            match digit {
                0 => cx.send(self.to, Zero),
                1 => cx.send(self.to, One),
                _ => cx.send(self.to, Two),
            }
        }
        cx.halt();
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Receiver {
    string: &'static str,
    matched: usize,
}

#[machine(states(Matching))]
impl Receiver {
    /// How far the string is: what the paper observes. After a mismatch the machine is over, and
    /// that shows too.
    #[observe]
    fn progress(&self) -> impl Hash {
        self.matched
    }

    #[on(Matching, Zero)]
    fn zero(&mut self, cx: &mut Cx<Self>) {
        self.compare(cx, b'0');
    }

    #[on(Matching, One)]
    fn one(&mut self, cx: &mut Cx<Self>) {
        self.compare(cx, b'1');
    }

    #[on(Matching, Two)]
    fn two(&mut self, cx: &mut Cx<Self>) {
        self.compare(cx, b'2');
    }

    fn compare(&mut self, cx: &mut Cx<Self>, digit: u8) {
        if self.string.as_bytes()[self.matched] != digit {
            return cx.halt();
        }
        self.matched += 1;
        assert!(self.matched < self.string.len(), "{} was spelt", self.string);
    }
}
