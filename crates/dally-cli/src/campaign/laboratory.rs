//! Runs the batches of a campaign, and shows how far it is.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dally::contract::Finding;
use dally::contract::words::{count, grouped, visible};
use dally::report::tell;
use dally::search::Batch;
use dally_campaign::{Cell, Laboratory, Progress, Ran};

use super::live::LivePage;
use super::programs::Programs;

/// Runs the batches of a campaign within its memory, and shows how far it is.
pub struct Workshop {
    programs: Programs,
    threads: usize,
    memory: Option<u64>,
    stop: Arc<AtomicBool>,
    /// Whether somebody watches the terminal.
    live: bool,
    page: Option<LivePage>,
}

impl Workshop {
    pub fn new(
        programs: Programs,
        threads: usize,
        memory: Option<u64>,
        stop: Arc<AtomicBool>,
        page: Option<LivePage>,
    ) -> Workshop {
        let live = std::io::stderr().is_terminal();
        Workshop { programs, threads, memory, stop, live, page }
    }

    /// Whether it was stopped, and not by its own bound of memory.
    pub fn is_interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed) && !self.is_full()
    }

    /// Ends the line that shows how far it is.
    pub fn end_line(&self) {
        if self.live {
            tell::err("\n");
        }
    }

    fn is_full(&self) -> bool {
        self.memory.is_some_and(|most| resident().is_some_and(|bytes| bytes > most))
    }
}

impl Laboratory for Workshop {
    fn run(&mut self, cell: &Cell, batch: Batch, learned: Option<Vec<u8>>) -> Result<Ran, String> {
        self.programs.run(cell, batch, learned, self.threads)
    }

    fn shrink(&mut self, cell: &Cell, finding: &Finding) -> Option<Finding> {
        self.programs.shrink(cell, finding).ok()
    }

    fn watch(&mut self, progress: &Progress<'_>) {
        if self.is_full() {
            tell::err("\nthe process has as much memory as it may: the run ends here\n");
            self.stop.store(true, Ordering::Relaxed);
        }
        if let Some(page) = &self.page {
            page.show(progress);
        }
        if self.live {
            let Progress { cells, next, spent, new_findings } = progress;
            let schedules: u64 = cells.iter().map(|cell| cell.account.schedules).sum();
            let cell = &cells[*next].cell;
            let line = format!(
                "{:.0} s, {} schedules, {}; {} under {}",
                spent.as_secs_f64(),
                grouped(schedules),
                count(*new_findings as u64, "new finding"),
                cell.program,
                cell.strategy
            );
            tell::err(&format!("\r{:<78}", visible(&line).chars().take(78).collect::<String>()));
        }
    }
}

/// The bytes that this process has in memory, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
