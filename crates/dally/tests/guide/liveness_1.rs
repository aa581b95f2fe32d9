use dally::machine;
use dally::machines::{Addr, Cx, Setup};
use dally::{Property, Proposition};

/// Two people meet in a corridor. Who is polite steps aside when the other is on the same side.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Walker {
    other: Addr<Walker>,
    on_the_left: bool,
    polite: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Seen {
    on_the_left: bool,
}
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Passed;

#[machine(states(Walking, Past))]
impl Walker {
    #[entry(Walking)]
    fn walk(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.other, Seen { on_the_left: self.on_the_left });
    }

    #[on(Walking, Seen)]
    fn see(&mut self, cx: &mut Cx<Self>, seen: Seen) {
        if seen.on_the_left != self.on_the_left {
            cx.announce(Passed);
            cx.goto(Past);
            return;
        }
        if self.polite {
            self.on_the_left = !self.on_the_left;
        }
        cx.send(self.other, Seen { on_the_left: self.on_the_left });
    }

    #[ignore(Past, Seen)]
    const RULES: () = ();
}

fn corridor(setup: &mut Setup, polite: [bool; 2]) {
    let (one, two) = (setup.reserve(), setup.reserve());
    setup.fill(one, Walker { other: two, on_the_left: true, polite: polite[0] });
    setup.fill(two, Walker { other: one, on_the_left: true, polite: polite[1] });
    let passed = Proposition::new("somebody has passed").on(|_: &Passed| true);
    setup.monitor(Property::always_eventually("they pass", passed));
}

#[dally::test(search = "map", should_fail = "livelock")]
fn two_polite_people_never_pass(setup: &mut Setup) {
    corridor(setup, [true, true]);
}

#[dally::test(search = "map")]
fn one_polite_person_is_enough(setup: &mut Setup) {
    corridor(setup, [true, false]);
}
