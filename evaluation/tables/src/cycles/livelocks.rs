//! The livelocks of the table, and how large the programs are that have them.

use std::str::FromStr;

use dally::machines::MachineProgram;
use dally_protocols::{
    elevator_door, elevator_planning, extent_manager, lann, philosophers, process_scheduler,
    tree_identification,
};

/// A planted bug that is a fair cycle.
pub struct Livelock {
    /// The protocol.
    pub name: &'static str,
    /// The bug.
    pub bug: &'static str,
    /// The monitor that waits in vain.
    pub monitor: &'static str,
    /// The size of the table.
    pub large: usize,
    /// The protocol of a size, with the bug.
    pub program: fn(usize) -> MachineProgram,
}

/// The four of the paper first.
pub const LIVELOCKS: [Livelock; 7] = [
    Livelock {
        name: elevator_door::PROTOCOL.name,
        bug: "sees-ghosts",
        monitor: "Closes",
        large: 5,
        program: |things| {
            elevator_door::program(3, things as u32, Some(elevator_door::Bug::SeesGhosts))
        },
    },
    Livelock {
        name: lann::PROTOCOL.name,
        bug: "asks-again",
        monitor: "EverybodyKnows",
        large: 6,
        program: |processes| lann::program(processes, Some(lann::Bug::AsksAgain)),
    },
    Livelock {
        name: elevator_planning::PROTOCOL.name,
        bug: "nearest-first",
        monitor: "Served",
        large: 6,
        program: |floors| {
            let building = elevator_planning::Building { floors, cabins: 2 };
            elevator_planning::program(building, Some(elevator_planning::Bug::NearestFirst))
        },
    },
    Livelock {
        name: tree_identification::PROTOCOL.name,
        bug: "turns-away-early",
        monitor: "OneRoot",
        large: 8,
        program: |nodes| {
            tree_identification::program(nodes, Some(tree_identification::Bug::TurnsAwayEarly))
        },
    },
    Livelock {
        name: extent_manager::PROTOCOL.name,
        bug: "late-sync-report",
        monitor: "Repair",
        large: 4,
        program: |replicas| {
            extent_manager::program(replicas, Some(extent_manager::Bug::LateSyncReport))
        },
    },
    Livelock {
        name: process_scheduler::PROTOCOL.name,
        bug: "priorities",
        monitor: "RunsAgain",
        large: 5,
        program: |processes| {
            process_scheduler::program(2, processes, Some(process_scheduler::Bug::Priorities))
        },
    },
    Livelock {
        name: philosophers::PROTOCOL.name,
        bug: "backs-off",
        monitor: "Dinner",
        large: 5,
        program: |count| philosophers::program(count, Some(philosophers::Bug::BacksOff)),
    },
];

impl Livelock {
    /// The size it is wanted in, if it is wanted.
    pub fn size(&self, only: &[Only]) -> Option<usize> {
        if only.is_empty() {
            return Some(self.large);
        }
        let wanted = only.iter().find(|only| only.name == self.name)?;
        Some(wanted.size.unwrap_or(self.large))
    }
}

/// A protocol that is wanted, as `lann` or `lann:5`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Only {
    name: &'static str,
    size: Option<usize>,
}

impl FromStr for Only {
    type Err = String;

    fn from_str(text: &str) -> Result<Only, String> {
        let (name, size) = match text.split_once(':') {
            Some((name, size)) => (name, Some(size)),
            None => (text, None),
        };
        let names = || LIVELOCKS.iter().map(|livelock| livelock.name);
        let Some(name) = names().find(|&known| known == name) else {
            let names: Vec<_> = names().collect();
            return Err(format!("no protocol `{name}`. There are {}", names.join(", ")));
        };
        let size = size.map(|size| match size.parse() {
            Ok(size) if (2..=64).contains(&size) => Ok(size),
            _ => Err(format!("`{size}` is no size from 2 to 64")),
        });
        Ok(Only { name, size: size.transpose()? })
    }
}
