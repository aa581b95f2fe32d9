use dally::machine;
use dally::machines::{Addr, Cx, Setup};

/// Counts to one, twice.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Counter {
    of: Addr<Total>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct One;

#[machine(states(Counting))]
impl Counter {
    #[entry(Counting)]
    fn count(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.of, One);
        cx.send(self.of, One);
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Total(u32);

#[machine(states(Adding))]
impl Total {
    #[on(Adding, One)]
    fn add(&mut self, _cx: &mut Cx<Self>, _: One) {
        self.0 += 1;
        assert!(self.0 <= 4);
    }
}

#[dally::test(search = "ses", explorer = "rtc")]
fn two_counters_make_four_at_most(setup: &mut Setup) {
    let of = setup.create(Total(0));
    setup.create(Counter { of });
    setup.create(Counter { of });
}
