//! States that do not exist, and names that cannot be states.

use dally::machine;
use dally::machines::Cx;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Begin;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Stop;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Coordinator;

#[machine(states(Idle, Voting, Done))]
impl Coordinator {
    #[on(Idel, Begin)]
    fn begin(&mut self, cx: &mut Cx<Self>) {
        cx.goto(Votng);
    }

    #[entry(Voting | Finished)]
    fn enter(&mut self, cx: &mut Cx<Self>) {
        self.somewhere_else(cx);
    }

    fn somewhere_else(&self, cx: &mut Cx<Self>) {
        cx.push(Nowhere);
    }

    #[goto(Voting, Begin => Doen)]
    #[ignore(CoordinatorState::Done, Begin)]
    const RULES: () = ();
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Server;

#[machine(states(Up, Stop, hot Down, Up, Server))]
impl Server {
    #[on(Up, Stop)]
    fn stop(&mut self) {}
}

fn main() {}
