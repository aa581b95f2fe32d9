//! State and events that cannot be copied, compared and hashed.

use dally::machine;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Begin;
#[derive(Clone, PartialEq, Eq, Debug)]
struct NotHash;

#[derive(PartialEq, Eq, Hash, Debug)]
struct NotClone;
#[machine(states(Idle))]
impl NotClone {
    #[on(Idle, Begin)]
    fn begin(&mut self) {}
}

#[derive(Debug)]
struct NoDerives {
    ratio: f64,
}
#[machine(states(Idle))]
impl NoDerives {
    #[on(Idle, Begin)]
    fn begin(&mut self) {
        self.ratio = 0.5;
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Receiver;
#[machine(states(Idle))]
impl Receiver {
    #[on(Idle, NotHash)]
    fn receive(&mut self) {}
}

fn main() {}
