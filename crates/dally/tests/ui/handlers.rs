//! Handlers that cannot be called.

use dally::machine;
use dally::machines::Cx;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Begin;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Stop;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Shapes;

#[machine(states(Idle, Busy, Ready, Last))]
impl Shapes {
    #[on(Idle, Begin)]
    fn context_is_missing(&mut self, _: Begin) {}
    #[on(Idle, Stop)]
    fn by_value(self) {}
    #[on(Busy, Begin)]
    fn too_much(&mut self, _: &mut Cx<Self>, _: Begin, _: u32) {}
    #[on(Busy, Stop)]
    fn without_self(_: &mut Cx<Self>) {}
    #[entry(Busy)]
    fn entered(&mut self, _: &mut Cx<Self>, _: Begin) {}
    #[on(Ready, Begin, Stop)]
    fn several(&mut self, _: &mut Cx<Self>, _: Begin) {}
    #[on(Last, _)]
    fn any(&mut self, _: &mut Cx<Self>, _: Stop) {}
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Modifiers;

#[machine(states(Idle, Busy, Ready))]
impl Modifiers {
    #[on(Idle, Begin)]
    async fn waits(&mut self) {}
    #[on(Idle, Stop)]
    fn answers(&mut self) -> u32 {
        0
    }
    #[on(Busy, Begin)]
    #[cfg(test)]
    fn sometimes(&mut self) {}
    #[on(Busy, Stop)]
    fn generic<T>(&mut self) {}
    #[on(Ready, Stop)]
    unsafe fn dangerous(&mut self) {}
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Types;

#[machine(states(Idle))]
impl Types {
    #[on(Idle, Begin)]
    fn another_event(&mut self, _: &mut Cx<Self>, _: Stop) {}
    #[on(Idle, Stop)]
    fn another_context(&mut self, _: &mut Cx<Shapes>) {}
}

fn main() {}
