use dally::machine;
use dally::machines::{Cx, Faults, Setup};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Add(u64);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Counter {
    total: u64,
}

#[machine(states(Counting), durable = u64)]
impl Counter {
    // `self` is the machine as it was created, `durable` what it last persisted.
    fn recover(self, durable: Option<u64>) -> Self {
        Counter { total: durable.unwrap_or(0) }
    }

    #[on(Counting, Add)]
    fn add(&mut self, cx: &mut Cx<Self>, Add(n): Add) {
        self.total += n;
        cx.persist(self.total);
    }
}

#[dally::test(faults = Faults { crash: 1, ..Faults::default() })]
fn a_counter_survives(setup: &mut Setup) {
    let counter = setup.create(Counter { total: 0 });
    setup.send(counter, Add(1));
}
