//! The files of a comparison: what came of each run, in the order of the plan.
//!
//! `trials.csv` is all that a comparison needs to go on where it was interrupted, and is the same
//! byte for byte whenever the same comparison is made (unless it has a time limit). `times.csv`
//! holds what is not: seconds.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::plan::{Plan, Planned};
use crate::problem::Problem;
use crate::statistics::Effort;

/// The name of the file of trials.
pub const TRIALS: &str = "trials.csv";
/// The name of the file of times.
pub const TIMES: &str = "times.csv";

const KEY: &str = "program,bug,granularity,strategy,parameters,run,seed,max_steps,limit,\
                   time_limit,observe_every,version,";
const FIGURES: &str = "found,schedules,steps,cut,observations";

/// What came of one run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trial {
    /// Its place in [`Plan::cases`].
    pub case: usize,
    /// Its place in [`Plan::contestants`].
    pub contestant: usize,
    /// Its number, from 0.
    pub run: u64,
    /// Whether it found a bug.
    pub found: bool,
    /// How many schedules it ran, the failing one included.
    pub schedules: u64,
    /// Steps in all of them together.
    pub steps: u64,
    /// How many of them were cut by a bound.
    pub cut: u64,
    /// Distinct observations.
    pub observations: u64,
    /// How long it took; nothing if that was not kept.
    pub seconds: Option<f64>,
}

impl Trial {
    /// What it took in schedules.
    pub fn in_schedules(&self) -> Effort {
        Effort { spent: self.schedules, found: self.found }
    }

    /// What it took in steps.
    pub fn in_steps(&self) -> Effort {
        Effort { spent: self.steps, found: self.found }
    }

    fn figures(&self) -> String {
        let Trial { found, schedules, steps, cut, observations, .. } = self;
        format!("{},{schedules},{steps},{cut},{observations}", u8::from(*found))
    }

    /// Reads the figures back, if they are some.
    fn read(plan: &Plan, index: usize, figures: &str) -> Option<Trial> {
        let mut numbers = figures.split(',').map(|number| number.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        let found = next().filter(|&found| found < 2)? == 1;
        let (schedules, steps, cut, observations) = (next()?, next()?, next()?, next()?);
        let trial = Trial::at(plan, index);
        let trial = Trial { found, schedules, steps, cut, observations, ..trial };
        numbers.next().is_none().then_some(trial)
    }

    /// The place of a trial in the plan, and nothing of what came of it.
    pub(crate) fn at(plan: &Plan, index: usize) -> Trial {
        let pairs = plan.cases.len() * plan.contestants.len();
        let pair = index % pairs;
        Trial {
            case: pair / plan.contestants.len(),
            contestant: pair % plan.contestants.len(),
            run: (index / pairs) as u64,
            found: false,
            schedules: 0,
            steps: 0,
            cut: 0,
            observations: 0,
            seconds: None,
        }
    }
}

/// The open files of a comparison.
pub(crate) struct Record {
    directory: PathBuf,
    trials: File,
    times: File,
}

impl Record {
    /// Opens the files, or makes them. Answers what they hold already of this plan. A last line
    /// that was not written to its end counts as not written.
    pub(crate) fn open(directory: &Path, plan: &Plan) -> Result<(Record, Vec<Trial>), Problem> {
        fs::create_dir_all(directory).map_err(|why| unusable(directory, &why))?;
        let path = directory.join(TRIALS);
        let text = read(&path)?;
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let header = format!("{KEY}{FIGURES}");
        let mut known = Vec::new();
        for (number, line) in whole.lines().enumerate() {
            let foreign = |wanted: String| Problem::Foreign {
                path: path.clone(),
                line: number + 1,
                found: line.chars().take(160).collect(),
                wanted,
            };
            if number == 0 {
                if line != header {
                    return Err(foreign(header));
                }
                continue;
            }
            // What there is beyond the plan is of more runs than are wanted now.
            if number > plan.size() {
                break;
            }
            let key = key(plan, plan.trial(number - 1));
            let figures = line.strip_prefix(&key);
            let trial = figures.and_then(|figures| Trial::read(plan, number - 1, figures));
            known.push(trial.ok_or_else(|| foreign(key))?);
        }
        add_times(&mut known, plan, &read(&directory.join(TIMES))?);
        let trials = open(&path, whole.len(), &format!("{header}\n"))?;
        let record = Record { directory: directory.to_owned(), trials, times: times(directory)? };
        let mut record = record;
        for trial in &known {
            record.write_time(plan, trial)?;
        }
        Ok((record, known))
    }

    /// Adds the next trial of the plan.
    pub(crate) fn write(&mut self, plan: &Plan, trial: &Trial) -> Result<(), Problem> {
        self.write_time(plan, trial)?;
        let line = format!("{}{}\n", key(plan, plan.trial(index(plan, trial))), trial.figures());
        let written = self.trials.write_all(line.as_bytes()).and_then(|()| self.trials.flush());
        written.map_err(|why| unusable(&self.directory.join(TRIALS), &why))
    }

    fn write_time(&mut self, plan: &Plan, trial: &Trial) -> Result<(), Problem> {
        let Some(seconds) = trial.seconds else { return Ok(()) };
        let line = format!("{}{seconds:.6}\n", key(plan, plan.trial(index(plan, trial))));
        let written = self.times.write_all(line.as_bytes());
        written.map_err(|why| unusable(&self.directory.join(TIMES), &why))
    }
}

fn index(plan: &Plan, trial: &Trial) -> usize {
    let pair = trial.case * plan.contestants.len() + trial.contestant;
    trial.run as usize * plan.cases.len() * plan.contestants.len() + pair
}

/// The columns that say which run of which comparison it is, with the comma after them.
fn key(plan: &Plan, planned: Planned<'_>) -> String {
    let Planned { case, contestant, run, seed } = planned;
    format!(
        "{},{},{},{},{},{run},{seed},{},{},{},{},{},",
        field(&case.program),
        field(&case.bug),
        field(case.granularity),
        field(&contestant.name),
        // What is behind the name, with all its parameters.
        field(&contestant.build(seed, case.max_steps).map_or_else(
            || contestant.name.clone(),
            |strategy| strategy.name(),
        )),
        case.max_steps,
        plan.schedules,
        plan.time.map_or_else(String::new, |time| time.as_secs_f64().to_string()),
        plan.observe_every,
        env!("CARGO_PKG_VERSION"),
    )
}

/// A name as one field of a line.
pub(crate) fn field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"").replace(['\n', '\r'], " "))
    } else {
        text.to_owned()
    }
}

fn read(path: &Path) -> Result<String, Problem> {
    match fs::read(path) {
        // What is not text is not ours; it is told by its first line.
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(why) => Err(unusable(path, &why)),
    }
}

/// A file that keeps its first so many bytes, or begins with a header.
fn open(path: &Path, keep: usize, header: &str) -> Result<File, Problem> {
    let opened = OpenOptions::new().create(true).append(true).open(path).and_then(|mut file| {
        file.set_len(keep as u64)?;
        if keep == 0 {
            file.write_all(header.as_bytes())?;
        }
        Ok(file)
    });
    opened.map_err(|why| unusable(path, &why))
}

fn times(directory: &Path) -> Result<File, Problem> {
    open(&directory.join(TIMES), 0, &format!("{KEY}seconds\n"))
}

/// Adds the times that are known to the trials that they are of.
fn add_times(trials: &mut [Trial], plan: &Plan, text: &str) {
    let mut lines = text.lines().skip(1);
    for trial in trials {
        let key = key(plan, plan.trial(index(plan, trial)));
        // Both files are in the same order, and either may lack lines.
        let line = lines.clone().position(|line| line.starts_with(&key));
        if let Some(line) = line.and_then(|line| lines.nth(line)) {
            trial.seconds = line[key.len()..].parse().ok();
        }
    }
}

fn unusable(path: &Path, why: &std::io::Error) -> Problem {
    Problem::File { path: path.to_owned(), why: why.to_string() }
}
