//! Who makes updates and looks at the result.

use dally::machine;
use dally::machines::Cx;

use super::{Acknowledged, Answer, Answered, Asked, Made, Query, Request, Route, Update};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Client {
    route: Option<Route>,
    /// Which of its updates is the present one.
    number: u32,
    updates: u32,
}

#[machine(states(Starting, Updating, Asking, Satisfied))]
impl Client {
    pub(super) fn new(updates: u32) -> Client {
        Client { route: None, number: 0, updates }
    }

    fn update(&self, cx: &Cx<Self>) -> Update {
        Update { client: cx.me(), number: self.number }
    }

    #[on(Starting, Route)]
    fn start(&mut self, cx: &mut Cx<Self>, route: Route) {
        self.route = Some(route);
        cx.goto(Updating);
    }

    #[entry(Updating)]
    fn request(&mut self, cx: &mut Cx<Self>) {
        if let Some(Route { head, .. }) = self.route {
            cx.send(head, Request { update: self.update(cx) });
        }
    }

    #[on(Updating, Route)]
    fn request_again(&mut self, cx: &mut Cx<Self>, route: Route) {
        let old = self.route.replace(route.clone());
        if old.is_some_and(|old| old.head != route.head) {
            self.request(cx);
        }
    }

    #[on(Updating, Made)]
    fn made(&mut self, cx: &mut Cx<Self>, Made { update }: Made) {
        if update == self.update(cx) {
            cx.announce(Acknowledged { update });
            cx.goto(Asking);
        }
    }

    #[entry(Asking)]
    fn ask(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Asked { after: self.update(cx) });
        self.query(cx);
    }

    fn query(&mut self, cx: &mut Cx<Self>) {
        if let Some(Route { tail, .. }) = self.route {
            cx.send(tail, Query { after: self.update(cx) });
        }
    }

    #[on(Asking, Route)]
    fn ask_again(&mut self, cx: &mut Cx<Self>, route: Route) {
        let old = self.route.replace(route.clone());
        if old.is_some_and(|old| old.tail != route.tail) {
            self.query(cx);
        }
    }

    #[on(Asking, Answer)]
    fn answered(&mut self, cx: &mut Cx<Self>, Answer { after, history }: Answer) {
        if after != self.update(cx) {
            return; // a second answer to an earlier question
        }
        cx.announce(Answered { after, history });
        self.number += 1;
        cx.goto(if self.number < self.updates { Updating } else { Satisfied });
    }

    #[ignore(Updating, Answer)]
    #[ignore(Asking, Made)]
    #[ignore(Satisfied, Route, Made, Answer)]
    const RULES: () = ();
}
