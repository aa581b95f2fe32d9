//! Rules that contradict each other, are written wrongly, or stand in the wrong place.

use dally::machine;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Begin;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Stop;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Twice;

#[machine(states(Idle, Busy))]
impl Twice {
    #[on(Idle, Begin)]
    fn first(&mut self) {}
    #[on(Busy | Idle, Begin)]
    fn second(&mut self) {}
    #[on(_, Stop)]
    fn third(&mut self) {}
    #[goto(_, Stop => Idle)]
    #[ignore(Busy, _)]
    #[defer(Busy, _)]
    const RULES: () = ();
    #[entry(Idle)]
    fn fourth(&mut self) {}
    #[entry(Idle)]
    fn fifth(&mut self) {}
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Malformed;

#[machine(states(Idle, Busy))]
impl Malformed {
    #[on]
    fn nothing(&mut self) {}
    #[on(Idle)]
    fn no_event(&mut self) {}
    #[on(Idle, Begin | Stop)]
    fn events_as_states(&mut self) {}
    #[on(Idle, Begin, _)]
    fn wildcard_among_events(&mut self) {}
    #[entry(Idle, Busy)]
    fn states_as_events(&mut self) {}
    #[exit("Idle")]
    fn text(&mut self) {}
    #[goto(Idle, Begin)]
    #[goto(Idle, Stop => Busy, Begin => Busy)]
    const RULES: () = ();
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Misplaced;

#[machine(states(Idle, Busy))]
impl Misplaced {
    #[ignore(Idle, Stop)]
    fn dropped(&mut self) {}
    #[goto(Idle, Begin => Busy)]
    fn go(&mut self) {}
    #[on(Busy, Begin)]
    const HANDLER: () = ();
    #[defer(Busy, Stop)]
    const LIMIT: u32 = 3;
}

fn main() {}
