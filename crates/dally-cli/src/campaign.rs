//! `dally campaign`: programs for a campaign, the revision of the source, and what is printed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::IsTerminal as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dally::checking::{AnyProgram, Checking, ROUNDS, read_schedule};
use dally::contract::Schedule;
use dally::contract::draft::Draft;
use dally::contract::words::{count, grouped, visible};
use dally::report::tell;
use dally::search::{Batch, Mode, Options, Report, StrategyKind};
use dally::settings::{Settings, parse_bytes, parse_time};
use dally_campaign::{
    Cell, Conducted, KnownFinding, Laboratory, Plan, PlannedProgram, Progress, State, Store,
    conduct, report,
};

use crate::args::{
    CampaignArgs, CampaignReplayArgs, CampaignReportArgs, Format, OfCampaigns, PArgs,
};
use crate::check::BUG_SETTING;
use crate::error::CliError;
use crate::interrupt::stop_on_interrupt;
use crate::list::look_up;
use crate::replay::{self, Recorded};
use crate::{BAD_INPUT, BUG, CLEAN, INTERRUPTED, mpil, p, print};

/// Does what the command says; answers the exit code.
pub fn campaign(command: &OfCampaigns) -> Result<u8, CliError> {
    match command {
        OfCampaigns::Run(arguments) => run(arguments),
        OfCampaigns::Show(at) => {
            print(&report::text(&Store::look(&at.dir)?)?);
            Ok(CLEAN)
        }
        OfCampaigns::Findings(at) => {
            print(&report::findings_text(&Store::look(&at.dir)?.findings()?));
            Ok(CLEAN)
        }
        OfCampaigns::Report(arguments) => written(arguments),
        OfCampaigns::Replay(arguments) => replayed(arguments),
    }
}

fn written(arguments: &CampaignReportArgs) -> Result<u8, CliError> {
    let directory = &arguments.at.dir;
    let page = report::page(&Store::look(directory)?)?;
    let path = arguments.out.clone().unwrap_or_else(|| directory.join("report.html"));
    Draft::write(&path, page.as_bytes())
        .and_then(Draft::publish)
        .map_err(|why| CliError::NotWritten { path: path.clone(), why })?;
    print(&format!("{}\n", path.display()));
    Ok(CLEAN)
}

fn run(arguments: &CampaignArgs) -> Result<u8, CliError> {
    let plan = plan(arguments)?;
    let Some(programs) = programs(&plan)? else { return Ok(BAD_INPUT) };
    let in_plan = |name, value: &str, why: &dyn std::fmt::Display| CliError::InPlan {
        name,
        value: value.to_owned(),
        why: why.to_string(),
    };
    let time = match (&plan.time, arguments.time) {
        (Some(text), None) => Some(parse_time(text).map_err(|why| in_plan("time", text, &why))?),
        (_, given) => given,
    };
    let memory = match (&plan.memory, arguments.memory) {
        (Some(text), None) => Some(parse_bytes(text).map_err(|why| in_plan("memory", text, &why))?),
        (_, given) => given,
    };
    let threads = arguments.threads.map(|threads| threads as usize).or(plan.cores);
    let threads =
        threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into));
    let mut cells = Vec::new();
    for program in &plan.programs {
        for strategy in plan.strategies_of(program) {
            let cell = Cell { program: program.label(), strategy, seed: plan.seed };
            check_cell(&programs, &cell)?;
            cells.push(cell);
        }
    }
    let stop = stop_on_interrupt()?;
    let mut store = Store::open(&arguments.at.dir)?;
    let run = store.begin(&revision(), &arguments.subjects.join(" "))?;
    look_again(&mut store, run, &programs, &stop)?;
    let live = std::io::stderr().is_terminal();
    let mut bench = Bench { programs, threads, memory, stop: Arc::clone(&stop), live };
    let done = conduct(&mut store, run, &cells, time, &mut bench, &stop)?;
    if live {
        tell::err("\n");
    }
    let Conducted { schedules, spent, new_findings, .. } = done;
    let seconds = spent.as_secs_f64();
    print(&format!(
        "this run: {} in {seconds:.1} s, {}\n",
        count(schedules, "schedule"),
        count(new_findings as u64, "new finding")
    ));
    print(&report::text(&store)?);
    let open = store.findings()?.iter().any(|finding| finding.state == State::Open);
    Ok(match (bench.interrupted(), open) {
        (true, _) => INTERRUPTED,
        (false, true) => BUG,
        (false, false) => CLEAN,
    })
}

fn plan(arguments: &CampaignArgs) -> Result<Plan, CliError> {
    let of_plan =
        |subject: &str| Path::new(subject).extension().is_some_and(|ending| ending == "toml");
    let mut plan = match &arguments.subjects[..] {
        [file] if of_plan(file) => {
            let path = Path::new(file).to_owned();
            let text = std::fs::read_to_string(&path)
                .map_err(|why| CliError::NotRead { path: path.clone(), why })?;
            Plan::read(&text).map_err(|why| CliError::Plan { path, why })?
        }
        names => {
            let programs = names.iter().map(|name| PlannedProgram::named(name)).collect();
            Plan { programs, ..Plan::default() }
        }
    };
    plan.check().map_err(CliError::NoPlan)?;
    if !arguments.strategies.is_empty() {
        plan.strategies.clone_from(&arguments.strategies);
        plan.programs.iter_mut().for_each(|program| program.strategies.clear());
    }
    plan.seed = arguments.seed.unwrap_or(plan.seed);
    Ok(plan)
}

/// A program of a campaign.
struct Planned {
    program: Arc<dyn AnyProgram>,
    heading: Schedule,
    max_steps: usize,
}

type Programs = BTreeMap<String, Planned>;

/// The programs of a plan by their labels; `None` if one does not compile, which was told.
fn programs(plan: &Plan) -> Result<Option<Programs>, CliError> {
    let mut programs = BTreeMap::new();
    for planned in &plan.programs {
        let subject = OsStr::new(&planned.name);
        let mut max_steps = Settings::default().max_steps;
        let heading = if mpil::is_program(subject) {
            mpil::heading(subject, &[])?
        } else if p::path(subject).is_some() {
            let asked =
                PArgs { tests: planned.test.clone().into_iter().collect(), ..PArgs::default() };
            let Some(heading) = p::heading(&p::paths(&[subject.to_owned()])?, &asked)? else {
                return Ok(None);
            };
            heading
        } else {
            let (protocol, bug) = look_up(&planned.name, planned.bug.as_deref())?;
            max_steps = protocol.max_steps;
            let settings = bug.map(|bug| (BUG_SETTING.to_owned(), bug.to_owned()));
            let settings = settings.into_iter().collect();
            Schedule { program: protocol.name.to_owned(), settings, ..Schedule::default() }
        };
        let found = replay::program(&heading, &[], Path::new(""), Format::Text)?;
        let Some(Recorded { program, .. }) = found else { return Ok(None) };
        let max_steps = planned.max_steps.unwrap_or(max_steps);
        programs.insert(planned.label(), Planned { program, heading, max_steps });
    }
    Ok(Some(programs))
}

/// Refuses a strategy that there is not, or of which no batch can be run alone.
fn check_cell(programs: &Programs, cell: &Cell) -> Result<(), CliError> {
    let not = |why: String| CliError::NotInCampaign {
        program: cell.program.clone(),
        strategy: cell.strategy.clone(),
        why,
    };
    let kind: StrategyKind = cell.strategy.parse().map_err(|why| not(format!("{why}")))?;
    let Some(planned) = programs.get(&cell.program) else { return Ok(()) };
    // A batch without schedules asks nothing of the program.
    let options = options(planned, kind, cell, 1);
    let batch = Batch { first: 0, count: 0, seed: cell.seed };
    let ran = Arc::clone(&planned.program).run_batch(batch, options, Arc::new(()));
    ran.map(|_| ()).map_err(|why| not(why.to_string()))
}

fn options(planned: &Planned, strategy: StrategyKind, cell: &Cell, threads: usize) -> Options {
    let settings = Settings {
        strategy,
        seed: cell.seed,
        max_steps: planned.max_steps,
        threads,
        keep_going: true,
        ..Settings::default()
    };
    Checking {
        replay_settings: planned.heading.settings.clone(),
        ..Checking::new(planned.heading.program.clone(), settings)
    }
    .options()
}

/// Runs the batches of a campaign.
struct Bench {
    programs: Programs,
    threads: usize,
    memory: Option<u64>,
    stop: Arc<AtomicBool>,
    /// Whether somebody watches.
    live: bool,
}

impl Bench {
    /// Whether it was stopped, and not by its own bound of memory.
    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed) && !self.is_full()
    }

    fn is_full(&self) -> bool {
        self.memory.is_some_and(|most| resident().is_some_and(|bytes| bytes > most))
    }
}

impl Laboratory for Bench {
    fn run(&mut self, cell: &Cell, batch: Batch, shrink: bool) -> Result<Report, String> {
        let planned = self.programs.get(&cell.program).ok_or("the program is not in the plan")?;
        let kind: StrategyKind = cell.strategy.parse().map_err(|why| format!("{why}"))?;
        let options = Options {
            keep_going: !shrink,
            shrink,
            stop: Arc::clone(&self.stop),
            ..options(planned, kind, cell, self.threads)
        };
        let program = Arc::clone(&planned.program);
        program.run_batch(batch, options, Arc::new(())).map_err(|why| why.to_string())
    }

    fn watch(&mut self, progress: &Progress<'_>) {
        if self.is_full() {
            tell::err("\nthe process has as much memory as it may: the run ends here\n");
            self.stop.store(true, Ordering::Relaxed);
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

/// The revision of the source that the present directory is of, empty if it is no git checkout; marked where
/// there are changes that are not committed.
fn revision() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(revision) = git(&["rev-parse", "--short=12", "HEAD"]) else { return String::new() };
    match git(&["status", "--porcelain", "--untracked-files=no"]) {
        Some(changes) if !changes.is_empty() => revision + "+changes",
        _ => revision,
    }
}

/// Replays the findings of these programs, so that the history tells which are fixed.
fn look_again(
    store: &mut Store,
    run: i64,
    programs: &Programs,
    stop: &AtomicBool,
) -> Result<(), CliError> {
    for finding in store.findings()? {
        let Some(planned) = programs.get(&finding.program) else { continue };
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let program = Arc::clone(&planned.program);
        if let Some(shows) = shows(program, &finding)? {
            store.replayed(run, &finding, shows)?;
        }
    }
    Ok(())
}

/// Whether a finding still shows, if its schedule still fits; `None` if there is no schedule any more.
fn shows(
    program: Arc<dyn AnyProgram>,
    finding: &KnownFinding,
) -> Result<Option<Option<bool>>, CliError> {
    let Ok(schedule) = read_schedule(&finding.schedule) else {
        let path = finding.schedule.display();
        tell::err(&format!(
            "note: the schedule {path} cannot be read, so its bug is not looked for\n"
        ));
        return Ok(None);
    };
    let replayed = program.replay(&schedule, Mode::Exact, ROUNDS, Options::default().step_time);
    let same = replayed.bug.as_ref().is_some_and(|bug| bug.cause().to_string() == finding.cause);
    let followed = replayed.schedule.choices == schedule.choices;
    Ok(Some(match (same, followed) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }))
}

fn replayed(arguments: &CampaignReplayArgs) -> Result<u8, CliError> {
    let mut store = Store::open(&arguments.at.dir)?;
    let known = store.findings()?;
    let is_asked = |finding: &&KnownFinding| {
        let causes = &arguments.causes;
        causes.is_empty() || causes.iter().any(|cause| finding.cause.starts_with(&**cause))
    };
    for cause in &arguments.causes {
        if !known.iter().any(|finding| finding.cause.starts_with(&**cause)) {
            return Err(CliError::NoCause { cause: cause.clone() });
        }
    }
    let run = store.begin(&revision(), "replay")?;
    let mut open = false;
    for finding in known.iter().filter(is_asked) {
        let schedule = read_schedule(&finding.schedule)?;
        let found = replay::program(&schedule, &[], &finding.schedule, Format::Text)?;
        let Some(Recorded { program, .. }) = found else { return Ok(BAD_INPUT) };
        let Some(shows) = shows(program, finding)? else { continue };
        store.replayed(run, finding, shows)?;
        open |= shows == Some(true);
        let what = match shows {
            Some(true) => "shows",
            Some(false) => "no longer shows",
            None => "cannot be told: the program no longer fits the schedule",
        };
        print(&format!(
            "{} {} {what}: {}\n",
            finding.program,
            finding.cause,
            visible(&finding.bug)
        ));
    }
    Ok(if open { BUG } else { CLEAN })
}
