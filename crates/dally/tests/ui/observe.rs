//! Functions that nobody can observe by.

use dally::machine;
use dally::monitor;
use std::hash::Hash;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Begin;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Shapes;

#[machine(states(Idle))]
impl Shapes {
    #[observe]
    fn nothing(&self) {}
    #[observe]
    fn changes(&mut self) -> u8 {
        0
    }
    #[observe(Idle)]
    fn arguments(&self) -> u8 {
        0
    }
    #[observe]
    fn first(&self) -> u8 {
        0
    }
    #[observe]
    fn second(&self) -> u8 {
        0
    }
    #[ignore(Idle, Begin)]
    const RULES: () = ();
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Watch;

#[monitor(states(Watching))]
impl Watch {
    #[observe]
    fn count(&self) -> impl Hash {
        0
    }
    #[ignore(Watching, Begin)]
    const RULES: () = ();
}

fn main() {}
