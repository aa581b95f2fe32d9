//! Who adds, reads and removes.

use std::collections::BTreeSet;

use dally::machine;
use dally::machines::{Addr, Cx};

use super::{ELEMENT, Element, Replica};

/// To a replica: add this element.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Add {
    pub(super) element: Element,
    pub(super) client: Addr<Client>,
}

/// To a replica: remove this element.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Remove {
    pub(super) element: Element,
}

/// To a replica: what is in the set?
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Read {
    pub(super) client: Addr<Client>,
}

/// From a replica: it is added.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Added;

/// From a replica: this is in the set.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Elements(pub(super) BTreeSet<Element>);

/// Either adds an element and reads the set, or removes the element.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Client {
    pub(super) replica: Addr<Replica>,
}

#[machine(states(Deciding, Adding, Done))]
impl Client {
    #[entry(Deciding)]
    fn decide(&mut self, cx: &mut Cx<Self>) {
        if cx.flip() {
            cx.send(self.replica, Remove { element: ELEMENT });
            cx.goto(Done);
        } else {
            cx.send(self.replica, Add { element: ELEMENT, client: cx.me() });
            cx.goto(Adding);
        }
    }

    #[on(Adding, Added)]
    fn added(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.replica, Read { client: cx.me() });
        cx.goto(Done);
    }

    #[ignore(Done, Elements)]
    const RULES: () = ();
}
