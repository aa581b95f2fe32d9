//! The planning of an elevator: cabins go where they are called, floor by floor, and people call
//! for ever.
//!
//! On every floor somebody calls, waits for a cabin, boards it, and after a while somebody calls
//! again. A cabin that is at a floor tells the planner, which lets people board and decides whether
//! it goes up or down next: on in its direction while there is a call further on, then back.
//! Without calls it is parked. [`Served`] checks for each floor that who calls is served.
//!
//! With [`Bug::NearestFirst`] a cabin goes to the nearest call, of two the lower one. While people
//! keep calling on lower floors, nobody comes to the highest. Random scheduling keeps them quiet
//! for a moment some time, with probability one, but on four floors mostly late enough for the
//! temperature to tell.
//!
//! See Knuth, "The Art of Computer Programming", volume 1, section 2.2.5, for an elevator that
//! keeps its direction.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dally::machines::{Addr, Cx, MachineProgram, MonitorCx, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in the planning.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// A cabin goes to the nearest call.
    NearestFirst,
}

/// How large the building is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Building {
    /// How many floors it has.
    pub floors: usize,
    /// How many cabins, all of which start on the lowest floor.
    pub cabins: usize,
}

impl Building {
    /// The one that the command line knows.
    pub const BUNDLED: Building = Building { floors: 4, cabins: 1 };
    /// One with far more states.
    pub const LARGE: Building = Building { floors: 4, cabins: 2 };
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "elevator-planning",
    summary: "an elevator serves four floors, on each of which people call for ever",
    bugs: &[PlantedBug {
        name: "nearest-first",
        summary: "a cabin goes to the nearest call, and never to a floor that is further away",
    }],
    max_steps: 2_000,
    program: |name| {
        let bug = (name == Some("nearest-first")).then_some(Bug::NearestFirst);
        Arc::new(program(Building::BUNDLED, bug))
    },
};

/// The elevator of a building, with this bug or without any.
pub fn program(building: Building, bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, building, bug))
}

/// Creates the planner, the floors, the cabins and a monitor for each floor.
pub fn deploy(setup: &mut Setup, Building { floors, cabins }: Building, bug: Option<Bug>) {
    let planner = setup.reserve();
    let make = |number| Floor { number, planner };
    let all = (0..floors).map(|number| setup.create(make(number))).collect();
    setup.fill(
        planner,
        Planner { floors: all, calls: BTreeSet::new(), parked: BTreeMap::new(), bug },
    );
    for _ in 0..cabins {
        setup.create(Cabin { floor: 0, upwards: true, planner });
    }
    setup.begin();
    for floor in 0..floors {
        setup.monitor(Served { floor });
    }
}

/// To the planner: somebody waits on this floor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Call {
    floor: usize,
}

/// To a floor: a cabin is there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Board;

/// To the planner: this is where I am, and how I came.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct At {
    cabin: Addr<Cabin>,
    floor: usize,
    upwards: bool,
}

/// To a cabin: go one floor up, or down.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Go {
    upwards: bool,
}

/// Knows who calls, and decides where cabins go.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Planner {
    floors: Vec<Addr<Floor>>,
    calls: BTreeSet<usize>,
    /// The cabins that have nowhere to go, each with its floor and direction.
    parked: BTreeMap<Addr<Cabin>, (usize, bool)>,
    bug: Option<Bug>,
}

#[machine(states(Planning))]
impl Planner {
    #[on(Planning, Call)]
    fn call(&mut self, cx: &mut Cx<Self>, Call { floor }: Call) {
        self.calls.insert(floor);
        for (cabin, (floor, upwards)) in std::mem::take(&mut self.parked) {
            self.at(cx, At { cabin, floor, upwards });
        }
    }

    #[on(Planning, At)]
    fn at(&mut self, cx: &mut Cx<Self>, At { cabin, floor, upwards }: At) {
        if self.calls.remove(&floor) {
            cx.send(self.floors[floor], Board);
        }
        let next = match self.bug {
            None => self.sweep(floor, upwards),
            Some(Bug::NearestFirst) => self.nearest(floor),
        };
        match next {
            Some(upwards) => cx.send(cabin, Go { upwards }),
            None => {
                self.parked.insert(cabin, (floor, upwards));
            }
        }
    }

    /// Whether to go upwards, if anywhere: as before while there is somebody to serve.
    fn sweep(&self, floor: usize, upwards: bool) -> Option<bool> {
        let ahead = |upwards: bool| {
            self.calls.iter().any(|&call| if upwards { call > floor } else { call < floor })
        };
        [upwards, !upwards].into_iter().find(|&upwards| ahead(upwards))
    }

    /// Whether to go upwards, if anywhere: to the nearest call, of two to the lower one.
    fn nearest(&self, floor: usize) -> Option<bool> {
        let nearest = self.calls.iter().min_by_key(|call| call.abs_diff(floor));
        nearest.map(|&call| call > floor)
    }
}

/// A floor with people who want to go elsewhere.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Floor {
    number: usize,
    planner: Addr<Planner>,
}

#[machine(states(Empty, Waiting))]
impl Floor {
    #[default(Empty)]
    fn call(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Called { floor: self.number });
        cx.send(self.planner, Call { floor: self.number });
        cx.goto(Waiting);
    }

    #[on(Waiting, Board)]
    fn board(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Boarded { floor: self.number });
        cx.goto(Empty);
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Cabin {
    floor: usize,
    upwards: bool,
    planner: Addr<Planner>,
}

#[machine(states(Moving))]
impl Cabin {
    #[entry(Moving)]
    fn arrive(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.planner, At { cabin: cx.me(), floor: self.floor, upwards: self.upwards });
    }

    #[on(Moving, Go)]
    fn go(&mut self, cx: &mut Cx<Self>, Go { upwards }: Go) {
        self.upwards = upwards;
        self.floor = if upwards { self.floor + 1 } else { self.floor - 1 };
        self.arrive(cx);
    }
}

/// Announced by a floor on which somebody calls.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Called {
    /// Which.
    pub floor: usize,
}

/// Announced by a floor on which somebody boards a cabin.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Boarded {
    /// Which.
    pub floor: usize,
}

/// Liveness: who calls on this floor can board a cabin.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Served {
    floor: usize,
}

#[monitor(states(cold Empty, hot Waiting))]
impl Served {
    #[on(_, Called)]
    fn called(&mut self, cx: &mut MonitorCx<Self>, Called { floor }: Called) {
        if floor == self.floor {
            cx.goto(Waiting);
        }
    }

    #[on(_, Boarded)]
    fn boarded(&mut self, cx: &mut MonitorCx<Self>, Boarded { floor }: Boarded) {
        if floor == self.floor {
            cx.goto(Empty);
        }
    }
}
