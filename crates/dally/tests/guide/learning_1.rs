use dally::machine;
use dally::machines::{Addr, Cx, Setup};
use std::hash::Hash;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Digit(char);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Keypad {
    door: Addr<Door>,
    digit: char,
}

#[machine(states(Pressing))]
impl Keypad {
    #[entry(Pressing)]
    fn press(&mut self, cx: &mut Cx<Self>) {
        for _ in 0..6 {
            cx.send(self.door, Digit(self.digit));
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

    #[on(Locked, Digit)]
    fn digit(&mut self, cx: &mut Cx<Self>, Digit(digit): Digit) {
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
    setup.create(Keypad { door, digit: '0' });
    setup.create(Keypad { door, digit: '1' });
}
