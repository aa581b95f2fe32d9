//! Inboxes: the order in which messages come out, deferred and ignored events.

use std::collections::BTreeMap;

use dally_core::{Discard, Event, Program, System};
use dally_machines::{Addr, Cx, Granularity, MachineProgram, Mailbox, Setup};
use dally_macros::machine;

use crate::driver::{Quiet, first, outcomes, schedules};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Item(&'static str);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Receiver;

#[machine(states(Open))]
impl Receiver {
    #[on(Open, Item)]
    fn item(&mut self, cx: &mut Cx<Self>, Item(name): Item) {
        cx.announce(name);
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Sender(Addr<Receiver>, Vec<&'static str>);

#[machine(states(Start))]
impl Sender {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        for item in &self.1 {
            cx.send(self.0, Item(item));
        }
    }
}

fn two_senders(mailbox: Mailbox) -> MachineProgram {
    MachineProgram::new("two senders", |setup: &mut Setup| {
        let to = setup.create(Receiver);
        setup.create(Sender(to, vec!["a", "b"]));
        setup.create(Sender(to, vec!["x", "y"]));
    })
    .mailbox(mailbox)
}

/// How many schedules two senders of two messages have, by plain enumeration: each sender has a
/// start and two sends, the receiver a start and four receives.
fn expected(mailbox: Mailbox) -> usize {
    #[derive(Clone, Copy)]
    struct At {
        senders: [usize; 2],
        up: bool,
        received: [usize; 2],
        taken: usize,
    }
    fn count(at: At, mailbox: Mailbox) -> usize {
        let sent = at.senders.map(|steps| steps.saturating_sub(1));
        let waiting = sent[0] + sent[1] - at.taken;
        if at.senders == [3, 3] && at.up && waiting == 0 {
            return 1;
        }
        let mut ways = 0;
        for who in 0..2 {
            if at.senders[who] < 3 {
                let mut next = at;
                next.senders[who] += 1;
                ways += count(next, mailbox);
            }
        }
        if !at.up {
            return ways + count(At { up: true, ..at }, mailbox);
        }
        let next = At { taken: at.taken + 1, ..at };
        match mailbox {
            Mailbox::Fifo if waiting > 0 => ways += count(next, mailbox),
            Mailbox::Unordered if waiting > 0 => ways += waiting * count(next, mailbox),
            Mailbox::PerSender => {
                for who in (0..2).filter(|&who| sent[who] > at.received[who]) {
                    let mut next = next;
                    next.received[who] += 1;
                    ways += count(next, mailbox);
                }
            }
            _ => {}
        }
        ways
    }
    count(At { senders: [0, 0], up: false, received: [0, 0], taken: 0 }, mailbox)
}

#[test]
fn every_interleaving_is_run_exactly_once() {
    for mailbox in [Mailbox::Fifo, Mailbox::PerSender, Mailbox::Unordered] {
        let runs = schedules(&two_senders(mailbox));
        assert_eq!(runs.len(), expected(mailbox), "{mailbox:?}");
    }
}

#[test]
fn fifo_and_per_sender_keep_the_order_of_each_sender_and_unordered_keeps_none() {
    let orders = |mailbox| outcomes(&two_senders(mailbox)).len();
    assert_eq!(orders(Mailbox::Fifo), 6, "4! / (2! 2!)");
    assert_eq!(orders(Mailbox::PerSender), 6);
    assert_eq!(orders(Mailbox::Unordered), 24, "4!");
}

#[test]
fn with_one_queue_messages_come_out_in_the_order_of_sending() {
    for run in schedules(&two_senders(Mailbox::Fifo)) {
        let sent: Vec<&String> = run
            .events
            .iter()
            .filter_map(|(_, event)| match event {
                Event::Sent { payload, .. } => Some(payload),
                _ => None,
            })
            .collect();
        let received: Vec<&String> = run
            .events
            .iter()
            .filter_map(|(_, event)| match event {
                Event::Received { payload, .. } => Some(payload),
                _ => None,
            })
            .collect();
        assert_eq!(sent, received);
    }
}

#[test]
fn atomic_handlers_lose_no_order_where_inboxes_have_no_total_order() {
    for mailbox in [Mailbox::PerSender, Mailbox::Unordered] {
        let orders = |granularity| -> Vec<String> {
            outcomes(&two_senders(mailbox).granularity(granularity)).into_keys().collect()
        };
        assert_eq!(orders(Granularity::Atomic), orders(Granularity::PerSend), "{mailbox:?}");
    }
    let fifo = two_senders(Mailbox::Fifo).granularity(Granularity::Atomic);
    assert_eq!(outcomes(&fifo).into_keys().collect::<Vec<_>>(), ["a b x y", "x y a b"]);
}

/// Searches know a way round a loop by the places of deliveries among those that were possible.
#[test]
fn without_an_order_the_same_state_offers_the_same_messages_in_the_same_places() {
    /// Remembers nothing of what it has sent.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Forgetful(Option<Addr<Receiver>>, Vec<&'static str>);

    #[machine(states(Start))]
    impl Forgetful {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            for item in std::mem::take(&mut self.1) {
                self.0.iter().for_each(|&to| cx.send(to, Item(item)));
            }
        }
    }
    let sends = |items: [&'static str; 2]| {
        MachineProgram::new("forgetful", move |setup: &mut Setup| {
            let sender = setup.reserve();
            let to = setup.create(Receiver);
            setup.fill(sender, Forgetful(Some(to), items.to_vec()));
        })
        .mailbox(Mailbox::Unordered)
    };
    let [one, other] = [sends(["a", "b"]), sends(["b", "a"])];
    let sent = |program: &MachineProgram| {
        let mut system = program.start().unwrap();
        (0..3).for_each(|_| system.step(system.enabled()[0], &mut Quiet).unwrap());
        system.fingerprint()
    };
    assert_eq!(sent(&one), sent(&other));
    assert_eq!(first(&one).announced(), first(&other).announced());
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Work(u8);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Noise;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Open;

/// Keeps work for later until it is open, and never hears noise while it is closed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Shop;

#[machine(states(Closed, Serving))]
impl Shop {
    #[on(Closed, Open)]
    fn open(&mut self, cx: &mut Cx<Self>) {
        cx.goto(Serving);
    }
    #[on(Serving, Work)]
    fn work(&mut self, cx: &mut Cx<Self>, work: Work) {
        cx.announce(work);
    }
    #[on(Serving, Noise)]
    fn noise(&mut self, cx: &mut Cx<Self>) {
        cx.announce("noise");
    }
    #[defer(Closed, Work)]
    #[ignore(Closed, Noise)]
    const RULES: () = ();
}

fn shop(
    mailbox: Mailbox,
    setup: impl Fn(&mut Setup, Addr<Shop>) + Send + Sync + 'static,
) -> MachineProgram {
    MachineProgram::new("shop", move |all: &mut Setup| {
        let shop = all.create(Shop);
        setup(all, shop);
    })
    .mailbox(mailbox)
}

#[test]
fn deferred_events_keep_their_place_and_ignored_ones_are_gone() {
    let program = shop(Mailbox::Fifo, |setup, shop| {
        setup.send(shop, Work(1));
        setup.send(shop, Noise);
        setup.send(shop, Work(2));
        setup.send(shop, Open);
        setup.send(shop, Noise);
        setup.send(shop, Work(3));
    });
    let outcome = BTreeMap::from([("Work(1) Work(2) noise Work(3)".to_owned(), 1)]);
    assert_eq!(outcomes(&program), outcome);
}

#[test]
fn a_machine_whose_inbox_holds_only_deferred_events_is_done() {
    let program = shop(Mailbox::Fifo, |setup, shop| {
        setup.send(shop, Work(1));
        setup.send(shop, Noise);
    });
    let runs = schedules(&program);
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].steps.len(), 1, "the start, and nothing to dequeue after it");
    assert!(runs[0].has(|event| matches!(event, Event::Discarded { why: Discard::Ignored, .. })));
}

#[test]
fn an_event_that_an_idle_machine_ignores_is_dropped_on_arrival_without_a_step() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Noisy(Addr<Shop>);

    #[machine(states(Start))]
    impl Noisy {
        #[entry(Start)]
        fn start(&mut self, cx: &mut Cx<Self>) {
            cx.send(self.0, Noise);
        }
    }
    let program = shop(Mailbox::Fifo, |setup, shop| {
        setup.create(Noisy(shop));
    });
    let runs = schedules(&program);
    // Two starts and a send, in any order that keeps the sender's own.
    assert_eq!(runs.len(), 3);
    assert!(runs.iter().all(|run| run.steps.len() == 3));
}

/// Without an order an ignored message is still under way: it may as well come later.
#[test]
fn without_an_order_an_ignored_event_may_also_arrive_in_a_later_state() {
    for (mailbox, outcomes_expected) in
        [(Mailbox::Fifo, vec![""]), (Mailbox::Unordered, vec!["", "noise"])]
    {
        let program = shop(mailbox, |setup, shop| {
            setup.send(shop, Noise);
            setup.send(shop, Open);
        });
        let seen: Vec<String> = outcomes(&program).into_keys().collect();
        assert_eq!(seen, outcomes_expected, "{mailbox:?}");
    }
}

#[test]
fn without_an_order_deferred_events_are_not_offered() {
    let program = shop(Mailbox::Unordered, |setup, shop| {
        setup.send(shop, Work(1));
        setup.send(shop, Open);
        setup.send(shop, Work(2));
    });
    let seen: Vec<String> = outcomes(&program).into_keys().collect();
    assert_eq!(seen, ["Work(1) Work(2)", "Work(2) Work(1)"]);
}
