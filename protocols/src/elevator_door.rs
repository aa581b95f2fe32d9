//! The door of an elevator: a controller with a timer, a motor, two buttons, and things that get
//! in the way.
//!
//! The button to open opens a door that is closed, or is about to close. A door that has opened
//! stays open for a time. Then the button to close closes it, or it closes by itself after a
//! further time, unless there is something in the way. What gets in the way of a door that is
//! closing makes it open again. Buttons are pressed, and things are put into the way and taken
//! out of it again, at any time but not for ever. [`Closes`] checks that the door is always closed
//! in the end.
//!
//! The planted bugs are in [`Bug`]. Without its timer an open door stays open, and all ends. A
//! controller that sees things which are gone waits for ever, from timer to timer.
//!
//! See Desai, Gupta, Jackson, Qadeer, Rajamani and Zufferey, "P: Safe Asynchronous Event-Driven
//! Programming" (PLDI 2013), for the elevator that this one is modelled on.

use std::sync::Arc;
use std::time::Duration;

use dally::machines::{Addr, Cx, MachineProgram, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in the controller.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// When a door that was about to close has opened again, no timer is set.
    ForgetsTimer,
    /// The controller takes no notice of things that are taken out of the way while the door opens
    /// again.
    SeesGhosts,
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "elevator-door",
    summary: "the door of an elevator closes in the end, whatever people do to it",
    bugs: &[
        PlantedBug {
            name: "forgets-timer",
            summary: "a door that was opened while it was closing is left open",
        },
        PlantedBug {
            name: "sees-ghosts",
            summary: "the controller waits for ever for a thing that is gone from the door",
        },
    ],
    max_steps: 400,
    program: |name| {
        let bug = match name {
            Some("forgets-timer") => Some(Bug::ForgetsTimer),
            Some("sees-ghosts") => Some(Bug::SeesGhosts),
            _ => None,
        };
        Arc::new(program(PRESSES, THINGS, bug))
    },
};

const PRESSES: u32 = 3;
const THINGS: u32 = 2;
const STAYS_OPEN: Duration = Duration::from_secs(3);

/// A door whose buttons are pressed so many times and that has so many things put into its way,
/// with this bug or without any.
pub fn program(presses: u32, things: u32, bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, presses, things, bug))
}

/// Creates the door, its environment and the monitor.
pub fn deploy(setup: &mut Setup, presses: u32, things: u32, bug: Option<Bug>) {
    let controller = setup.reserve();
    let motor = setup.create(Motor { controller });
    setup.fill(controller, Controller { motor, obstructed: false, bug });
    setup.create(User { controller, presses });
    setup.create(Thing { controller, times: things });
    setup.begin();
    setup.monitor(Closes);
}

/// To the controller: the button to open is pressed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct OpenButton;

/// To the controller: the button to close is pressed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct CloseButton;

/// To the controller: there is something in the way.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Obstructed;

/// To the controller: there is nothing in the way any more.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Cleared;

/// From the controller's timer: the door was open long enough.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct TimeIsUp;

/// To the motor: open the door.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Open;

/// To the motor: close the door.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Close;

/// To the controller: the door is open.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct IsOpen;

/// To the controller: the door is closed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct IsClosed;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Controller {
    motor: Addr<Motor>,
    /// Whether there is something in the way.
    obstructed: bool,
    bug: Option<Bug>,
}

#[machine(states(Closed, Opening, Reopening, MustStayOpen, MayClose, Closing))]
impl Controller {
    #[on(Closed, OpenButton)]
    fn open(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.motor, Open);
        cx.goto(Opening);
    }

    #[on(Opening, IsOpen)]
    fn opened(&mut self, cx: &mut Cx<Self>) {
        cx.after(STAYS_OPEN, TimeIsUp);
        cx.goto(MustStayOpen);
    }

    #[on(MustStayOpen, TimeIsUp)]
    fn may_close(&mut self, cx: &mut Cx<Self>) {
        cx.after(STAYS_OPEN, TimeIsUp);
        cx.goto(MayClose);
    }

    #[on(MayClose, TimeIsUp, CloseButton)]
    fn close(&mut self, cx: &mut Cx<Self>) {
        cx.cancel(&TimeIsUp);
        if self.obstructed {
            return self.may_close(cx);
        }
        cx.send(self.motor, Close);
        cx.goto(Closing);
    }

    #[on(Closing, OpenButton)]
    fn reopen(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.motor, Open);
        cx.goto(Reopening);
    }

    #[on(Reopening, IsOpen)]
    fn opened_again(&mut self, cx: &mut Cx<Self>) {
        match self.bug {
            Some(Bug::ForgetsTimer) => cx.goto(MustStayOpen),
            _ => self.opened(cx),
        }
    }

    #[on(Closing, Obstructed)]
    fn make_way(&mut self, cx: &mut Cx<Self>) {
        self.obstructed = true;
        self.reopen(cx);
    }

    #[on(_, Obstructed)]
    fn take_note(&mut self) {
        self.obstructed = true;
    }

    #[on(_, Cleared)]
    fn cleared(&mut self) {
        self.obstructed = false;
    }

    #[on(Reopening, Cleared)]
    fn cleared_meanwhile(&mut self) {
        self.obstructed &= self.bug == Some(Bug::SeesGhosts);
    }

    #[goto(Closing, IsClosed => Closed)]
    #[defer(MustStayOpen, CloseButton)]
    #[ignore(Closed | Opening | Reopening | Closing, CloseButton)]
    #[ignore(Opening | Reopening | MustStayOpen | MayClose, OpenButton)]
    // It closed before it could be reversed, and now it opens.
    #[ignore(Reopening, IsClosed)]
    const RULES: () = ();
}

/// Moves the door.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Motor {
    controller: Addr<Controller>,
}

#[machine(states(Shut, GoesOpen, Ajar, GoesShut))]
impl Motor {
    #[on(Shut, Open)]
    fn open(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Opens);
        cx.goto(GoesOpen);
    }

    #[default(GoesOpen)]
    fn opened(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.controller, IsOpen);
        cx.goto(Ajar);
    }

    #[default(GoesShut)]
    fn closed(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Closed);
        cx.send(self.controller, IsClosed);
        cx.goto(Shut);
    }

    #[goto(Ajar, Close => GoesShut)]
    #[goto(GoesShut, Open => GoesOpen)]
    const RULES: () = ();
}

/// Presses buttons.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct User {
    controller: Addr<Controller>,
    presses: u32,
}

#[machine(states(Impatient, Gone))]
impl User {
    #[default(Impatient)]
    fn press(&mut self, cx: &mut Cx<Self>) {
        if self.presses == 0 {
            return cx.goto(Gone);
        }
        self.presses -= 1;
        if cx.flip() {
            cx.send(self.controller, CloseButton);
        } else {
            cx.send(self.controller, OpenButton);
        }
    }
}

/// Is put into the way of the door, and taken out of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Thing {
    controller: Addr<Controller>,
    times: u32,
}

#[machine(states(Outside, InTheWay, Gone))]
impl Thing {
    #[default(Outside)]
    fn obstruct(&mut self, cx: &mut Cx<Self>) {
        if self.times == 0 {
            return cx.goto(Gone);
        }
        self.times -= 1;
        cx.send(self.controller, Obstructed);
        cx.goto(InTheWay);
    }

    #[default(InTheWay)]
    fn clear(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.controller, Cleared);
        cx.goto(Outside);
    }
}

/// Announced by a door that begins to open.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Opens;

/// Announced by a door that has closed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Closed;

/// Liveness: an open door is closed in the end.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Closes;

#[monitor(states(cold Shut, hot Ajar))]
impl Closes {
    #[goto(Shut, Opens => Ajar)]
    #[goto(Ajar, Closed => Shut)]
    const RULES: () = ();
}
