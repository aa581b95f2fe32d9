//! Parts of a run: a batch of its schedules, its report, and the report of all parts together.

use serde::{Deserialize, Serialize};

use super::{Ended, MAX_FINDINGS, Report, Sightings};
use crate::written::Document;

/// Schedules with consecutive numbers, as part of a run: work that another process can do where
/// schedules depend on the seed and their number alone. [`Report::merge`] puts the reports together.
///
/// ```
/// use dally_core::Document;
/// use dally_core::report::Batch;
///
/// let batch = Batch { first: 1_000, count: 500, seed: 7 };
/// let written = r#"{"format":"dally-batch","version":1,"first":1000,"count":500,"seed":7}"#;
/// assert_eq!(batch.write(), written);
/// assert_eq!(Batch::read(written)?, batch);
/// # Ok::<(), dally_core::ReadError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Batch {
    /// The number of the first schedule, from 0.
    pub first: u64,
    /// How many schedules there are.
    pub count: u64,
    /// The seed of the run.
    pub seed: u64,
}

impl Document for Batch {
    const FORMAT: &'static str = "dally-batch";
    const VERSION: u32 = 1;
}

/// What the report of a part has beyond its figures, so that it can be merged with others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// What was to be run.
    pub batch: Batch,
    /// What its schedules have shown.
    pub sightings: Sightings,
}

/// Reports are not parts of one run that can be merged, and why.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There are none.
    #[error("there is no report to be merged")]
    Nothing,
    /// One of them is the report of a whole run.
    #[error("a report of {program} is not that of a batch: only batches are merged")]
    Whole {
        /// The program.
        program: String,
    },
    /// Two of them are of different runs.
    #[error("the reports are of different runs: the {what} is {one} in one and {other} in another")]
    OtherRun {
        /// What differs.
        what: &'static str,
        /// What it is in one of them.
        one: String,
        /// What it is in another.
        other: String,
    },
    /// The schedules of one do not begin where those of the one before end.
    #[error(
        "the schedule {expected} should come next, and the next batch begins with {found}: batches \
         must neither overlap nor leave a gap"
    )]
    NotNext {
        /// The number of the schedule that should come next.
        expected: u64,
        /// The first of the batch that comes next.
        found: u64,
    },
    /// A part was not run to its end, so nobody knows what is missing in it.
    #[error("the batch from schedule {first} was not run to its end ({ended:?}): run it again")]
    Unfinished {
        /// Its first schedule.
        first: u64,
        /// What ended it.
        ended: Ended,
    },
}

impl Report {
    /// The report of all these parts of a run, in any order: what one run of all their schedules
    /// would have said, but for times. What comes after the part that ended at its first bug does not
    /// count, as it would not have been run. Findings with the same cause are one.
    pub fn merge(parts: impl IntoIterator<Item = Report>) -> Result<Report, MergeError> {
        let mut parts = parts
            .into_iter()
            .map(|mut report| match report.part.take() {
                Some(part) => Ok((part, report)),
                None => Err(MergeError::Whole { program: report.program }),
            })
            .collect::<Result<Vec<_>, _>>()?;
        parts.sort_by_key(|(part, _)| (part.batch.first, part.batch.count));
        let mut parts = parts.into_iter();
        let (mut whole, mut report) = parts.next().ok_or(MergeError::Nothing)?;
        for (part, later) in parts {
            report.is_of_the_run_of(&later)?;
            let (expected, found) = (whole.batch.first + whole.batch.count, part.batch.first);
            if expected != found {
                return Err(MergeError::NotNext { expected, found });
            }
            whole.batch.count += part.batch.count;
            match report.ended {
                Ended::Schedules => {
                    whole.sightings.append(&part.sightings);
                    report.append(later);
                }
                Ended::Bug | Ended::Stuck | Ended::Exhausted => {}
                ended => return Err(MergeError::Unfinished { first: whole.batch.first, ended }),
            }
        }
        report.observations = whole.sightings.distinct();
        let alike = report.novelty.as_ref().is_some_and(|novelty| novelty.alike);
        report.novelty = Some(whole.sightings.novelty(alike));
        report.part = Some(whole);
        Ok(report)
    }

    fn is_of_the_run_of(&self, other: &Report) -> Result<(), MergeError> {
        let facts = |of: &Report| {
            [
                ("program", of.program.clone()),
                ("strategy", of.strategy.clone()),
                ("seed", of.seed.to_string()),
                ("granularity", of.granularity.clone()),
                ("step bound", of.max_steps.to_string()),
            ]
        };
        match facts(self).into_iter().zip(facts(other)).find(|(one, other)| one != other) {
            Some(((what, one), (_, other))) => Err(MergeError::OtherRun { what, one, other }),
            None => Ok(()),
        }
    }

    fn append(&mut self, later: Report) {
        self.schedules += later.schedules;
        self.steps += later.steps;
        self.longest = self.longest.max(later.longest);
        self.cut += later.cut;
        self.redundant += later.redundant;
        self.given_inputs |= later.given_inputs;
        // What a strategy says of a part holds of the whole only if it says the same of all parts.
        self.stated = self.stated.take().filter(|stated| later.stated.as_ref() == Some(stated));
        self.threads = self.threads.max(later.threads);
        self.elapsed += later.elapsed;
        self.ended = later.ended;
        if let Some(foreign) = later.foreign {
            match &mut self.foreign {
                Some(known) => known.append(foreign),
                none => *none = Some(foreign),
            }
        }
        if let Some(census) = later.census {
            self.census.get_or_insert_default().add(&census);
        }
        let mut further = later.further_causes;
        for finding in later.findings {
            let (cause, occurrences) = (finding.bug.cause(), finding.occurrences);
            if self.findings.len() == MAX_FINDINGS {
                further.push((cause, occurrences));
            } else if !self.count_again(cause, occurrences) {
                self.findings.push(finding);
            }
        }
        for (cause, occurrences) in further {
            if !self.count_again(cause, occurrences) {
                self.further_causes.push((cause, occurrences));
            }
        }
        self.further_causes.sort_unstable();
        let known = std::mem::take(&mut self.notes);
        let new = later.notes.into_iter().filter(|note| !known.contains(note)).collect::<Vec<_>>();
        self.notes = [known, new].concat();
    }

    /// Counts bugs of a known cause; `false` if the cause is not known.
    fn count_again(&mut self, cause: crate::bug::Cause, occurrences: u64) -> bool {
        let kept = self.findings.iter_mut().find(|finding| finding.bug.cause() == cause);
        let further = self.further_causes.iter_mut().find(|further| further.0 == cause);
        let known = kept.map(|finding| &mut finding.occurrences).or(further.map(|of| &mut of.1));
        known.map(|known| *known += occurrences).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bug, Finding, Schedule};

    fn part(first: u64, count: u64) -> Report {
        let mut report = Report::new("pool", "per-send");
        (report.strategy, report.schedules) = ("random".into(), count);
        let mut sightings = Sightings::starting_at(first);
        (first..first + count).for_each(|number| sightings.add([number / 3], true));
        report.part = Some(Part { batch: Batch { first, count, seed: 0 }, sightings });
        report
    }

    fn found(mut report: Report, causes: std::ops::Range<u32>) -> Report {
        for line in causes {
            let location = crate::Location { file: "pool.rs".into(), line, column: 1 };
            let bug = Bug::panic("boom").at(Some(location));
            report.findings.push(Finding::new(bug, Schedule::default(), u64::from(line)));
        }
        report
    }

    #[test]
    fn parts_in_any_order_make_the_whole() {
        let whole = Report::merge([part(0, 10)]).unwrap();
        assert_eq!(Report::merge([part(7, 3), part(0, 2), part(2, 5)]).unwrap(), whole);
        assert_eq!(whole.novelty.unwrap().growth, [(1, 1), (2, 1), (4, 2), (8, 3), (10, 4)]);
    }

    #[test]
    fn what_is_no_part_of_the_run_is_refused() {
        let why = |parts: &[Report]| Report::merge(parts.to_vec()).unwrap_err().to_string();
        insta::assert_snapshot!(why(&[]), @"there is no report to be merged");
        insta::assert_snapshot!(why(&[Report::new("pool", "per-send")]), @"a report of pool is not that of a batch: only batches are merged");
        insta::assert_snapshot!(why(&[part(0, 5), part(6, 5)]), @"the schedule 5 should come next, and the next batch begins with 6: batches must neither overlap nor leave a gap");
        insta::assert_snapshot!(why(&[part(0, 5), part(4, 5)]), @"the schedule 5 should come next, and the next batch begins with 4: batches must neither overlap nor leave a gap");
        let mut other = part(5, 5);
        other.strategy = "pos".into();
        insta::assert_snapshot!(why(&[part(0, 5), other]), @"the reports are of different runs: the strategy is random in one and pos in another");
        let mut late = part(0, 5);
        late.ended = Ended::Time;
        insta::assert_snapshot!(why(&[late, part(5, 5)]), @"the batch from schedule 0 was not run to its end (Time): run it again");
    }

    #[test]
    fn what_comes_after_the_first_bug_does_not_count() {
        let mut first = part(0, 5);
        first.ended = Ended::Bug;
        let merged = Report::merge([found(part(5, 5), 7..8), first.clone()]).unwrap();
        assert_eq!((merged.schedules, merged.findings.len()), (5, 0));
        assert_eq!(merged.part.unwrap().batch.count, 10);
    }

    #[test]
    fn causes_beyond_those_that_are_kept_are_counted_once() {
        let most = MAX_FINDINGS as u32;
        let (mut one, mut other) = (found(part(0, 5), 0..most), found(part(5, 5), 1..most + 1));
        let further = found(part(0, 5), most + 1..most + 2).findings[0].bug.cause();
        let kept = one.findings[0].bug.cause();
        one.further_causes = vec![(further, 3)];
        other.further_causes = vec![(further, 4), (kept, 5)];
        let last = other.findings.last().unwrap().bug.cause();
        let merged = Report::merge([one, other]).unwrap();
        let mut counted = [(further, 7), (last, 1)];
        counted.sort_unstable();
        assert_eq!(merged.further_causes, counted);
        let occurrences: Vec<u64> = merged.findings.iter().map(|kept| kept.occurrences).collect();
        assert_eq!((occurrences.len(), occurrences[0], occurrences[1]), (MAX_FINDINGS, 6, 2));
    }

    #[test]
    fn observations_are_told_apart_up_to_the_bound_of_one_run() {
        let many = |from: u64, first| {
            let mut sightings = Sightings::starting_at(first);
            sightings.add(from..from + super::super::MAX_OBSERVATIONS as u64 - 1, true);
            sightings
        };
        let mut whole = many(0, 0);
        assert!(whole.append(&many(2, 1)));
        let mut one_run = many(0, 0);
        one_run.add(2..super::super::MAX_OBSERVATIONS as u64 + 1, true);
        assert_eq!(whole.novelty(true), one_run.novelty(true));
        assert!(!whole.append(&many(2, 1)), "it is not the next");
    }
}
