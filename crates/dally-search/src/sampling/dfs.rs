//! Exhaustive search, depth first.

use dally_core::{Tag, WorkerId};

use crate::strategy::{EndSchedule, Point, Properties, Strategy};

/// Every schedule once, depth first, without states: each schedule repeats the choices of the one
/// before up to the last that has an option left, and takes the next option there.
///
/// The options of a choice are taken in order: enabled workers by id, values from 0. A program that
/// never ends needs the step bound of the run, or else it has no second schedule.
#[derive(Clone, Debug, Default)]
pub struct Dfs {
    /// The choices with more than one option: (the one taken, how many).
    path: Vec<(u32, u32)>,
    at: usize,
}

impl Dfs {
    fn choose(&mut self, of: usize) -> usize {
        if of < 2 {
            return 0;
        }
        let of = u32::try_from(of).unwrap_or(u32::MAX);
        if self.at == self.path.len() {
            self.path.push((0, of));
        }
        let choice = &mut self.path[self.at];
        self.at += 1;
        if choice.1 != of {
            // Only under uncontrolled nondeterminism, which the runner's check reports.
            *choice = (choice.0.min(of - 1), of);
        }
        choice.0 as usize
    }
}

impl Strategy for Dfs {
    fn begin(&mut self, schedule: u64) -> bool {
        if schedule == 0 {
            self.path.clear();
            self.at = 0;
            return true;
        }
        // Choices beyond `at` were not reached again, under uncontrolled nondeterminism too.
        self.path.truncate(self.at);
        self.at = 0;
        while let Some((taken, of)) = self.path.last_mut() {
            if *taken + 1 < *of {
                *taken += 1;
                return true;
            }
            self.path.pop();
        }
        false
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        let choice = self.choose(point.enabled.len());
        Ok(point.enabled[choice])
    }

    fn value(&mut self, of: u32, _tag: Tag) -> Result<u32, EndSchedule> {
        Ok(self.choose(of as usize) as u32)
    }

    fn properties(&self) -> Properties {
        Properties { sequential: true, ..Properties::default() }
    }
}
