use dally::machine;
use dally::machines::{Addr, Cx, Setup};
use std::hash::Hash;

const CODE: [usize; 8] = [2, 0, 3, 1, 1, 2, 0, 3];

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Digit {
    digit: usize,
    from: Addr<Thief>,
}
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Click;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Thief {
    safe: Addr<Safe>,
    digit: usize,
    turns: usize,
}

#[machine(states(Trying))]
impl Thief {
    #[observe]
    fn digit(&self) -> impl Hash {
        self.digit
    }

    #[entry(Trying)]
    #[on(Trying, Click)]
    fn turn(&mut self, cx: &mut Cx<Self>) {
        if self.turns == CODE.len() {
            return cx.halt();
        }
        self.turns += 1;
        self.digit = cx.choose(4);
        cx.send(self.safe, Digit { digit: self.digit, from: cx.me() });
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Safe {
    /// How many digits were right; nothing after a wrong one.
    right: Option<usize>,
}

#[machine(states(Locked))]
impl Safe {
    #[observe]
    fn progress(&self) -> impl Hash {
        self.right
    }

    #[on(Locked, Digit)]
    fn turned(&mut self, cx: &mut Cx<Self>, Digit { digit, from }: Digit) {
        self.right = self.right.filter(|&right| CODE[right] == digit).map(|right| right + 1);
        assert!(self.right != Some(CODE.len()), "the safe is open");
        cx.send(from, Click);
    }
}

#[dally::test(strategy = "ql-c", schedules = 1_000, should_fail = "the safe is open")]
fn the_code_is_found(setup: &mut Setup) {
    let safe = setup.create(Safe { right: Some(0) });
    setup.create(Thief { safe, digit: 0, turns: 0 });
}
