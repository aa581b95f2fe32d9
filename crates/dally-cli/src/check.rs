//! `dally check`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dally::checking::{self, Checked, Checking};
use dally::report::{About, Statistics, Style, json, text};
use dally::search::Ended;
use dally::search::strata::Plan;
use dally::settings::Settings;

use crate::args::{CheckArgs, Format};
use crate::list::look_up;
use crate::{BUG, CLEAN, print, progress};

/// How many schedules are run if nobody says how many or how long.
const SCHEDULES: u64 = 10_000;

/// A run with all states observed takes up to six times as long, so a sample has to do.
const OBSERVE_EVERY: u64 = 16;

/// The name under which a schedule remembers its planted bug.
pub const BUG_SETTING: &str = "bug";

/// Checks a protocol and prints what came of it; answers the exit code.
pub fn check(arguments: &CheckArgs) -> Result<u8, String> {
    let (protocol, bug) = look_up(&arguments.name, arguments.bug.as_deref())?;
    let settings = Settings {
        strategy: arguments.strategy,
        schedules: arguments.schedules.or(arguments.time.is_none().then_some(SCHEDULES)),
        time: arguments.time,
        seed: arguments.seed,
        max_steps: arguments.max_steps.unwrap_or(protocol.max_steps),
        fairness: arguments.fairness,
        threads: arguments.threads,
        keep_going: arguments.all,
        observe_every: OBSERVE_EVERY,
        search: arguments.search,
        explorer: arguments.explorer,
        plan: Plan {
            delays: arguments.delays,
            delta: arguments.delta,
            memory: arguments.memory,
            cache: arguments.cache,
            exact: arguments.exact,
            with_explorer: arguments.with_explorer,
            ..Plan::default()
        },
        learned: arguments.learned.clone(),
        out: Some(arguments.out.clone()),
        ..Settings::default()
    };
    settings.check()?;
    let bar = progress::bar(settings.search, settings.schedules());
    let watched = bar.clone();
    let shown = bug.map_or(protocol.name.to_owned(), |bug| format!("{}-{bug}", protocol.name));
    let checking = Checking {
        replay_settings: bug
            .map(|bug| (BUG_SETTING.to_owned(), bug.to_owned()))
            .into_iter()
            .collect(),
        watch: Box::new(move |progress| progress::show(&watched, progress)),
        stop: stop_on_interrupt()?,
        // Findings of one planted bug must not take the place of another's.
        shown: shown.clone(),
        ..Checking::new(protocol.name, settings)
    };
    let checked = checking.run(|job| (protocol.program)(bug).check(job));
    bar.finish_and_clear();
    let statistics = checking::statistics(&checked.report, arguments.threads);
    match arguments.format {
        Format::Text => print(&as_text(protocol.name, &shown, &checked, &statistics)),
        Format::Json => print(&json::run(protocol.name, &statistics, &checked.report.findings)),
    }
    for problem in checked.problems.iter().chain(&checked.report.notes) {
        eprintln!("note: {problem}");
    }
    match (checked.report.findings.is_empty(), checked.report.ended) {
        (true, Ended::Failed | Ended::Unsound) => {
            Err(format!("`{}` could not be checked", protocol.name))
        }
        (true, _) => Ok(CLEAN),
        (false, _) => Ok(BUG),
    }
}

fn as_text(protocol: &str, shown: &str, checked: &Checked, statistics: &Statistics) -> String {
    let style = Style::of(&std::io::stdout());
    let mut out = String::new();
    for (finding, saved) in checked.report.findings.iter().zip(&checked.saved) {
        let about = About {
            statistics: statistics.clone(),
            replay: checking::replay_on_command_line(&finding.schedule, saved.as_deref()),
            saved: saved.clone(),
            see_all: Some("`dally replay` shows all".into()),
            style,
            ..About::new(protocol)
        };
        out += &text::finding(finding, &about);
        out.push('\n');
    }
    out += &text::summary(shown, statistics, &checked.report.findings, style);
    out
}

/// A flag that Ctrl-C sets: the run ends and tells what it knows. A second Ctrl-C ends the
/// process at once; findings are on disk by then.
fn stop_on_interrupt() -> Result<Arc<AtomicBool>, String> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .map_err(|why| format!("Ctrl-C cannot be watched for: {why}"))?;
    Ok(stop)
}
