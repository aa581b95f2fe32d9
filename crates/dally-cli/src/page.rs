use std::path::{Path, PathBuf};

use dally::checking::{ROUNDS, read_schedule, replay_on_command_line, retell};
use dally::contract::Document as _;
use dally::contract::draft::Draft;
use dally::report::json::SavedTrace;
use dally::report::{About, export as exports, page as pages};
use dally::search::{Mode, Options};

use crate::args::{Export, ExportArgs, FindingArgs, Format, PageArgs};
use crate::error::CliError;
use crate::replay::{self, Recorded};
use crate::{BAD_INPUT, CLEAN, cargo, p, print};

/// Writes the page of a finding and prints its path; answers the exit code.
pub fn page(arguments: &PageArgs) -> Result<u8, CliError> {
    let Some(Shown { trace, saved, source_root }) = finding(&arguments.of)? else {
        return Ok(BAD_INPUT);
    };
    let file = Path::new(&arguments.of.finding);
    let out = arguments.out.clone().unwrap_or_else(|| match file.exists() {
        true => file.with_extension("html"),
        false => PathBuf::from("finding.html"),
    });
    let schedule = &trace.finding.schedule;
    let replay = replay_on_command_line(schedule, saved.as_deref());
    let page = Some(out.clone());
    let about = About { replay, saved, page, source_root, ..About::new(&schedule.program) };
    let html = pages::finding(&trace.finding, &trace.run, &about);
    Draft::write(&out, html.as_bytes())
        .and_then(Draft::publish)
        .map_err(|why| CliError::NotWritten { path: out.clone(), why })?;
    print(&format!("{}\n", out.display()));
    Ok(CLEAN)
}

/// Prints a finding in the format of another viewer; answers the exit code.
pub fn export(arguments: &ExportArgs) -> Result<u8, CliError> {
    let Some(Shown { trace, .. }) = finding(&arguments.of)? else { return Ok(BAD_INPUT) };
    let finding = &trace.finding;
    print(&match arguments.format {
        Export::Shiviz => exports::shiviz(finding),
        Export::Chrome => exports::chrome(finding),
        Export::Mermaid => exports::mermaid(finding),
        Export::P => {
            let file = Path::new(&arguments.of.finding);
            let Some(trace) = p::recorded::trace(finding, &arguments.of.project, file)? else {
                return Ok(BAD_INPUT);
            };
            trace
        }
    });
    Ok(CLEAN)
}

/// A finding and where it comes from.
struct Shown {
    trace: SavedTrace,
    /// The file of its schedule.
    saved: Option<PathBuf>,
    /// The directory from which its sources are seen, if not the present one.
    source_root: Option<PathBuf>,
}

/// The finding, from a trace if there is one, otherwise by a replay.
/// `None` if the program does not compile, which was told.
fn finding(arguments: &FindingArgs) -> Result<Option<Shown>, CliError> {
    let file = Path::new(&arguments.finding);
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path).ok().filter(|text| text.starts_with('{'))?;
        let path = path.to_owned();
        Some(SavedTrace::read(&text).map_err(|why| CliError::Trace { path, why }))
    };
    if let Some(trace) = read(file) {
        let schedule = file.with_extension("schedule");
        let saved = Some(schedule).filter(|path| path.is_file());
        return Ok(Some(Shown { trace: trace?, saved, source_root: None }));
    }
    let schedule = read_schedule(&arguments.finding)?;
    let saved = Some(file.to_owned()).filter(|file| file.is_file());
    if let Some(Ok(trace)) = read(&file.with_extension("json"))
        && trace.finding.schedule.choices == schedule.choices
    {
        return Ok(Some(Shown { trace, saved, source_root: None }));
    }
    if cargo::is_of_test(&schedule) {
        return Err(CliError::PageOfTest { test: schedule.program });
    }
    let program = replay::program(&schedule, &arguments.project, file, Format::Text)?;
    let Some(Recorded { program, source_root }) = program else { return Ok(None) };
    let replayed = program.replay(&schedule, Mode::Exact, ROUNDS, Options::default().step_time);
    let run = replay::run_of(&schedule, &replayed);
    let retold = retell(&schedule, replayed, Mode::Exact, "");
    match retold.finding {
        Some(finding) => {
            let trace = SavedTrace { finding, run };
            Ok(Some(Shown { trace, saved, source_root }))
        }
        None => Err(CliError::NoFinding { remarks: retold.remarks }),
    }
}
