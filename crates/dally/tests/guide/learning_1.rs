use dally::machine;
use dally::machines::{Addr, Cx, Setup};
use std::hash::Hash;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Zero;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct One;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Keypad {
    door: Addr<Door>,
    ones: bool,
}

#[machine(states(Pressing))]
impl Keypad {
    #[entry(Pressing)]
    fn press(&mut self, cx: &mut Cx<Self>) {
        for _ in 0..6 {
            if self.ones { cx.send(self.door, One) } else { cx.send(self.door, Zero) }
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Door {
    right: usize,
}

#[machine(states(Locked))]
impl Door {
    #[observe]
    fn progress(&self) -> impl Hash {
        self.right
    }

    #[on(Locked, Zero)]
    fn zero(&mut self, cx: &mut Cx<Self>) {
        self.digit(cx, '0');
    }

    #[on(Locked, One)]
    fn one(&mut self, cx: &mut Cx<Self>) {
        self.digit(cx, '1');
    }

    fn digit(&mut self, cx: &mut Cx<Self>, digit: char) {
        const CODE: &str = "010011010110";
        if CODE.as_bytes()[self.right] != digit as u8 {
            return cx.halt(); // One mistake is enough.
        }
        self.right += 1;
        assert!(self.right < CODE.len(), "the door is open");
    }
}

#[dally::test(strategy = "ql-c", schedules = 2_000, should_fail = "the door is open")]
fn the_code_is_found(setup: &mut Setup) {
    let door = setup.create(Door::default());
    setup.create(Keypad { door, ones: false });
    setup.create(Keypad { door, ones: true });
}
