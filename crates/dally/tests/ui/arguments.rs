//! Attributes with wrong arguments, or on the wrong item.

use dally::{machine, monitor};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ledger;

struct A;
#[machine]
impl A {}

struct B;
#[machine(states())]
impl B {}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct C;
#[machine(states(Idle Busy), start = Idle, durabel = Ledger)]
impl C {}

struct D;
#[machine(states(Idle), durable)]
impl D {}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct E;
#[machine(states(Idle), durable = Ledger, uncaptured)]
impl E {}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct F;
#[machine(states(Idle), durable = Ledger)]
impl F {
    fn recover(&mut self, _: Ledger) {}
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct G;
#[machine(states(Idle))]
impl G {
    fn recover(self) -> G {
        self
    }
}

struct H;
#[machine(states(Idle))]
impl Default for H {
    fn default() -> H {
        H
    }
}

struct I<'a>(&'a u32);
#[machine(states(Idle))]
impl<'a> I<'a> {}

#[machine(states(Idle))]
struct J;

#[machine(states(Idle))]
impl [u32] {}

#[derive(Clone, Hash, Debug)]
struct K;
#[monitor(states(Calm, warm Waiting, hot Late), uncaptured)]
impl K {
    #[defer(Calm, Ledger)]
    const RULES: () = ();
    #[default(Calm)]
    fn idle(&mut self) {}
}

fn main() {}
