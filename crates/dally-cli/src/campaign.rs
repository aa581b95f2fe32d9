//! `dally campaign`: what is to be run, the revision of the source, and what is printed.

mod laboratory;
mod live;
mod programs;
mod tests;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dally::checking::read_schedule;
use dally::contract::Schedule;
use dally::contract::draft::Draft;
use dally::contract::words::{count, visible};
use dally::report::tell;
use dally::settings::{parse_bytes, parse_time};
use dally_campaign::{
    Conducted, KnownFinding, Plan, PlannedProgram, State, Store, conduct, report,
};

use self::laboratory::Workshop;
use self::programs::Programs;
use crate::args::{CampaignArgs, CampaignReplayArgs, CampaignReportArgs, Format, OfCampaigns};
use crate::error::CliError;
use crate::interrupt::stop_on_interrupt;
use crate::replay::{self, Recorded};
use crate::{BAD_INPUT, BUG, CLEAN, INTERRUPTED, cargo, print};

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
    let stop = stop_on_interrupt()?;
    let programs = match arguments.tests {
        true => Some(Programs::of_tests(&plan, &arguments.subjects)?),
        false => Programs::of_plan(&plan, &stop)?,
    };
    let Some(mut programs) = programs else { return Ok(BAD_INPUT) };
    let cells = programs.cells(plan.seed);
    cells.iter().try_for_each(|cell| programs.check(cell))?;
    let mut store = Store::open(&arguments.at.dir)?;
    let said = arguments.tests.then_some("--tests").into_iter();
    let said: Vec<&str> = said.chain(arguments.subjects.iter().map(String::as_str)).collect();
    let run = store.begin(&revision(), &said.join(" "))?;
    look_again(&mut store, run, &mut programs, &stop)?;
    let page = match arguments.serve {
        true => Some(live::serve(&arguments.at.dir, arguments.port)?),
        false => None,
    };
    let mut workshop = Workshop::new(programs, threads, memory, Arc::clone(&stop), page);
    let done = conduct(&mut store, run, &cells, time, &mut workshop, &stop)?;
    workshop.end_line();
    print(&this_run(&done));
    print(&report::text(&store)?);
    let open = store.findings()?.iter().any(|finding| finding.state == State::Open);
    Ok(match (workshop.is_interrupted(), open) {
        (true, _) => INTERRUPTED,
        (false, true) => BUG,
        (false, false) => CLEAN,
    })
}

/// What this run has done, how much of its time went into keeping it, and what could not be run.
fn this_run(done: &Conducted) -> String {
    let [spent, keeping] = [done.spent, done.keeping].map(|time| time.as_secs_f64());
    let share = if spent > 0.0 { 100.0 * keeping / (spent + keeping) } else { 0.0 };
    let mut out = format!(
        "this run: {} in {spent:.1} s, {}; {share:.1}% of the time went into keeping them\n",
        count(done.schedules, "schedule"),
        count(done.new_findings as u64, "new finding")
    );
    for figures in &done.cells {
        if let Some(why) = &figures.finished {
            let (program, strategy) = (&figures.cell.program, &figures.cell.strategy);
            out += &format!("{program} under {strategy} is not gone on with: {}\n", visible(why));
        }
    }
    out
}

fn plan(arguments: &CampaignArgs) -> Result<Plan, CliError> {
    if arguments.tests {
        let (strategies, seed) = (arguments.strategies.clone(), arguments.seed.unwrap_or(0));
        return Ok(Plan { strategies, seed, ..Plan::default() });
    }
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
    programs: &mut Programs,
    stop: &AtomicBool,
) -> Result<(), CliError> {
    for finding in store.findings()? {
        if !programs.has(&finding.program) {
            continue;
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let Some(schedule) = schedule_of(&finding) else { continue };
        match programs.shows(&finding.program, &schedule) {
            Ok(shows) => store.replayed(run, &finding, shows)?,
            Err(why) => {
                let (program, cause) = (&finding.program, &finding.cause);
                tell::err(&format!("note: {program} {cause} is not looked for: {why}\n"));
            }
        }
    }
    Ok(())
}

/// The schedule of a finding; `None` if there is none any more, which is told.
fn schedule_of(finding: &KnownFinding) -> Option<Schedule> {
    let schedule = read_schedule(&finding.schedule).ok();
    if schedule.is_none() {
        let path = finding.schedule.display();
        tell::err(&format!(
            "note: the schedule {path} cannot be read, so its bug is not looked for\n"
        ));
    }
    schedule
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
        let Some(schedule) = schedule_of(finding) else { continue };
        let shows = if cargo::is_of_test(&schedule) {
            match cargo::replay(&schedule, finding.schedule.as_os_str(), false)? {
                BUG => Some(true),
                CLEAN => Some(false),
                _ => None,
            }
        } else {
            let found = replay::program(&schedule, &[], &finding.schedule, Format::Text)?;
            let Some(Recorded { program, .. }) = found else { return Ok(BAD_INPUT) };
            programs::bench(program, &schedule, &Arc::default()).shows(&schedule)
        };
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
