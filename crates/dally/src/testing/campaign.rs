//! A test as a program of a campaign: it tells the command that it is there, and then does what it is asked in
//! a process of its own.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dally_core::{Document, Finding, Program, Schedule, fingerprint};
use dally_explore::lines;
use dally_search::strata::Explorer;
use dally_search::{Batch, Report, Sink};
use serde::{Deserialize, Serialize};

use super::Test;
use crate::checking::Bench;
use crate::settings::Settings;

/// The variable that names a file to which tests write that they are there, a line each; then they run nothing.
pub const TOLD: &str = "DALLY_CAMPAIGN_TOLD";

/// The variable with which a test answers requests over its standard streams.
pub const SERVED: &str = "DALLY_CAMPAIGN";

/// A test that a campaign can run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Present {
    /// Its path with the crate.
    pub path: String,
    /// The executable that it is in.
    pub executable: PathBuf,
    /// The directory that it is run in.
    pub directory: PathBuf,
    /// A hash of its settings.
    pub settings: u64,
}

impl Document for Present {
    const FORMAT: &'static str = "dally-test";
    const VERSION: u32 = 1;
}

/// What a campaign asks of a test.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Asked {
    /// To run a batch: see [`Bench::run`].
    Run {
        /// The strategy, by its name.
        strategy: String,
        /// The schedules.
        batch: Batch,
        /// What the strategy has learnt before.
        learned: Option<Vec<u8>>,
        /// How many threads run them.
        threads: usize,
    },
    /// To run a batch of which nothing is run twice: see [`Bench::run_once`].
    RunOnce {
        /// The strategy, by its name.
        strategy: String,
        /// The schedules.
        batch: Batch,
        /// What the strategy has learnt before.
        learned: Option<Vec<u8>>,
    },
    /// To repeat a finding: see [`Bench::confirm`].
    Confirm {
        /// The strategy, by its name.
        strategy: String,
        /// The seed of its batches.
        seed: u64,
        /// The finding.
        finding: Box<Finding>,
    },
    /// To make a finding smaller: see [`Bench::shrink`].
    Shrink {
        /// The strategy, by its name.
        strategy: String,
        /// The seed of its batches.
        seed: u64,
        /// The finding.
        finding: Box<Finding>,
    },
    /// To say whether a schedule shows its bug: see [`Bench::shows`].
    Replay {
        /// The text of the schedule.
        schedule: String,
    },
}

impl Document for Asked {
    const FORMAT: &'static str = "dally-campaign-asked";
    const VERSION: u32 = 1;
}

/// What a test answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "kebab-case")]
pub enum Answer {
    /// What came of a batch.
    Ran {
        /// The report of the batch.
        report: Box<Report>,
        /// What the next batch goes on from.
        learned: Option<Vec<u8>>,
    },
    /// A finding that was repeated.
    Again {
        /// The finding.
        finding: Box<Finding>,
    },
    /// A finding that was repeated, and made smaller if it could be.
    Shrunk {
        /// The finding.
        finding: Box<Finding>,
    },
    /// The program ends the process, which answers nothing after this.
    Ending {
        /// The schedule that has led to it.
        finding: Box<Finding>,
    },
    /// Whether a schedule shows its bug, if it still fits.
    Replayed {
        /// Whether it does.
        shows: Option<bool>,
    },
    /// It cannot be done.
    Refused {
        /// Why, as a sentence.
        why: String,
    },
}

impl Document for Answer {
    const FORMAT: &'static str = "dally-campaign-told";
    const VERSION: u32 = 1;
}

impl<E: Explorer> Test<E> {
    /// Writes down that this test is there.
    pub(super) fn tell_campaign(&self, file: &Path, settings: &Settings) -> Result<String, String> {
        let told = tell(file, self.path, settings);
        told.map_err(|why| format!("error: the campaign cannot be told: {why}\n"))?;
        Ok(format!("{} is a program of a campaign, and is not run now\n", self.path))
    }

    /// Runs batches for a campaign, until that closes the standard input.
    pub(super) fn serve_campaign<P: Program + 'static>(
        &self,
        program: Arc<P>,
        settings: Settings,
    ) -> Result<String, String> {
        let of_program = settings.of_program();
        let bench = Bench {
            program,
            name: self.path.to_owned(),
            replay_settings: of_program.map(|(name, of)| (name.into(), of)).collect(),
            settings,
            stop: Arc::default(),
        };
        // Neither stream is locked for long: the program may print too.
        let served = serve(bench, &mut io::stdin().lock(), &mut io::stdout());
        served.map(|()| String::new()).map_err(|why| format!("error: the campaign ended: {why}\n"))
    }
}

fn tell(file: &Path, path: &str, settings: &Settings) -> io::Result<()> {
    let present = Present {
        path: path.to_owned(),
        executable: std::env::current_exe()?,
        directory: std::env::current_dir()?,
        settings: fingerprint::of_bytes(format!("{settings:?}").as_bytes()),
    };
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file)?;
    // A single write is not mixed with those of other tests.
    file.write_all((present.write() + "\n").as_bytes())
}

/// Does what it is asked until nobody asks any more.
fn serve(mut bench: Bench, input: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<()> {
    lines::answer(input, out, &mut |document| {
        let told = match Asked::read(document) {
            Ok(asked) => answer(&mut bench, asked),
            Err(why) => Answer::Refused { why: format!("the request cannot be read: {why}") },
        };
        told.write()
    })
}

/// Answers a request with the schedule that ends the process before there is another answer.
struct TellEnd;

impl Sink for TellEnd {
    fn aborting(&self, finding: &Finding) {
        let answer = Answer::Ending { finding: Box::new(finding.clone()) };
        // If nobody reads it, the asker sees that the process has ended.
        let _ = lines::write(&mut io::stdout(), &answer.write());
    }
}

fn answer(bench: &mut Bench, asked: Asked) -> Answer {
    let refused = |why: String| Answer::Refused { why };
    match asked {
        Asked::Run { strategy, batch, learned, threads } => {
            bench.settings.threads = threads;
            match bench.run(&strategy, batch, learned.as_deref()) {
                Ok(ran) => Answer::Ran { report: Box::new(ran.report), learned: ran.learned },
                Err(why) => refused(why.to_string()),
            }
        }
        Asked::RunOnce { strategy, batch, learned } => {
            match bench.run_once(&strategy, batch, learned.as_deref(), Arc::new(TellEnd)) {
                Ok(ran) => Answer::Ran { report: Box::new(ran.report), learned: ran.learned },
                Err(why) => refused(why.to_string()),
            }
        }
        Asked::Confirm { strategy, seed, finding } => {
            match bench.confirm(&strategy, seed, &finding) {
                Ok(finding) => Answer::Again { finding: Box::new(finding) },
                Err(why) => refused(why.to_string()),
            }
        }
        Asked::Shrink { strategy, seed, finding } => {
            match bench.shrink(&strategy, seed, &finding) {
                Ok(finding) => Answer::Shrunk { finding: Box::new(finding) },
                Err(why) => refused(why.to_string()),
            }
        }
        Asked::Replay { schedule } => match Schedule::parse(&schedule) {
            Ok(schedule) => Answer::Replayed { shows: bench.shows(&schedule) },
            Err(why) => refused(format!("the schedule cannot be read: {why}")),
        },
    }
}
