//! The messaging strings: the smallest programs that tell strategies apart.
//!
//! Two senders send their digit, 0 or 1, ten times each to a receiver that compares what arrives
//! with a fixed string. The first mismatch is final; a full match is the bug. So each string
//! asks for one order of the senders: `0000000001` for one late change of worker,
//! `0101010101` for a change at every send. With a third sender that sends a single 2, the
//! string says how early or late that one message must be. In the variants whose names begin
//! with `choose`, one sender chooses each digit, so that the string asks for values and not for an
//! order. Random spells any string of ten digits from two senders once in 2^10 schedules; PCT finds
//! only those that few changes of worker make, and these soon.
//!
//! There are two receivers, of both of which strategies observe how many digits match, and nothing
//! else. In [`PROTOCOL`] a message is received when it is sent, in the same step, as in the program
//! published with the paper: so it shows at once whether a send was right, and that can be learnt. In
//! [`INBOX`] the receiver is a worker of its own, to whose inbox messages are sent.
//!
//! From "Learning-based controlled concurrency testing" (Mukherjee et al., OOPSLA 2020), figure 1
//! and table 1. The correct version has two senders and a string with a 2 in it.

mod inbox;

use std::sync::Arc;

use dally::tasks::sync::Mutex;
use dally::tasks::{self, TaskProgram, task};

use crate::registry::{PlantedBug, Protocol};

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

    /// The string, and whether one sender chooses it.
    fn string(self) -> (&'static str, bool) {
        let name = self.planted().name;
        name.strip_prefix("choose-").map_or((name, false), |string| (string, true))
    }
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "messaging",
    summary: "senders race to spell a string at a receiver",
    bugs: &PLANTED,
    max_steps: 100,
    program: |bug| Arc::new(program(bug.and_then(Bug::named))),
};

/// The same with a receiver that has an inbox. It is not in the registry: it is there to be compared.
pub const INBOX: Protocol = Protocol {
    name: "messaging-inbox",
    summary: "senders race to spell a string in the inbox of a receiver",
    bugs: &PLANTED,
    max_steps: 100,
    program: |bug| Arc::new(inbox::program(bug.and_then(Bug::named))),
};

const PLANTED: [PlantedBug; 9] = [
    Bug::Late.planted(),
    Bug::Alternating.planted(),
    Bug::Mixed.planted(),
    Bug::TwoThenLate.planted(),
    Bug::LateThenTwo.planted(),
    Bug::AlternatingThenTwo.planted(),
    Bug::ChooseLate.planted(),
    Bug::ChooseAlternating.planted(),
    Bug::ChooseMixed.planted(),
];

/// The senders and the receiver, with a string that can be spelt or, without a bug, cannot.
pub fn program(bug: Option<Bug>) -> TaskProgram {
    TaskProgram::new(PROTOCOL.name, move || async move {
        let (string, senders) = cast(bug);
        let receiver = Arc::new(Receiver::new(string));
        if senders.is_empty() {
            return choose(&receiver).await;
        }
        let senders: Vec<_> = senders
            .into_iter()
            .map(|(digit, sends)| {
                let sender = send(receiver.clone(), digit, sends);
                let name = format!("sender of {digit}");
                task::Builder::new().name(&name).spawn(sender).expect("tasks can be spawned")
            })
            .collect();
        for sender in senders {
            sender.await.expect("senders do not fail");
        }
    })
}

const SENDS: usize = 10;

/// The string, and what each sender sends how often; no senders if there is one that chooses.
fn cast(bug: Option<Bug>) -> (&'static str, Vec<(char, usize)>) {
    let (string, chosen) = bug.map_or(("0101010102", false), Bug::string);
    let mut senders = if chosen { vec![] } else { vec![('0', SENDS), ('1', SENDS)] };
    if bug.is_some() && string.contains('2') {
        senders.push(('2', 1));
    }
    (string, senders)
}

/// How many digits match after one more, if so many did before; nothing after a mismatch.
fn matching(string: &str, matched: Option<usize>, digit: char) -> Option<usize> {
    let goes_on = |&place: &usize| string.as_bytes().get(place) == Some(&(digit as u8));
    let matched = matched.filter(goes_on).map(|place| place + 1);
    assert!(matched != Some(string.len()), "{string} was spelt");
    matched
}

/// Sends its digit again and again, each time in a step of its own: the first is the task's first.
async fn send(receiver: Arc<Receiver>, digit: char, sends: usize) {
    receiver.receive(digit);
    for _ in 1..sends {
        tasks::yield_now().await;
        receiver.receive(digit);
    }
}

/// Sends digits that it chooses, each in a step of its own.
async fn choose(receiver: &Receiver) {
    for _ in 0..SENDS {
        tasks::yield_now().await;
        receiver.receive(*tasks::pick(&['0', '1']));
    }
}

struct Receiver {
    string: &'static str,
    /// How many digits match, and nothing after a mismatch.
    matched: Mutex<Option<usize>>,
}

impl Receiver {
    fn new(string: &'static str) -> Receiver {
        tasks::observe_only_shown();
        tasks::observe_shared("matched", &Some(0_usize));
        Receiver { string, matched: Mutex::new(Some(0)) }
    }

    /// No scheduling point: whoever sends is also the one to compare.
    fn receive(&self, digit: char) {
        let mut matched = self.matched.try_lock().expect("the lock is free between steps");
        *matched = matching(self.string, *matched, digit);
        tasks::observe_shared("matched", &*matched);
    }
}
