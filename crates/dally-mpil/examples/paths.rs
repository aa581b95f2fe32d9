//! How many executions a second concolic execution makes, end to end:
//! `cargo run --release -p dally-mpil --example paths -- protocols/mpil/sorting.mpil p=8`.

use std::process::ExitCode;
use std::sync::Arc;

use dally_mpil::MpilProgram;
use dally_search::Options;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("usage: paths FILE.mpil [PARAMETER=VALUE]...");
        return ExitCode::from(2);
    };
    let parameter = |argument: String| {
        let (name, value) = argument.split_once('=')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    let Some(parameters) = arguments.map(parameter).collect::<Option<Vec<(String, i64)>>>() else {
        eprintln!("a parameter is NAME=NUMBER");
        return ExitCode::from(2);
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(why) => {
            eprintln!("{path} cannot be read: {why}");
            return ExitCode::from(2);
        }
    };
    let program = match MpilProgram::compile(&path, &text, &parameters) {
        Ok(program) => program,
        Err(wrong) => {
            eprintln!("{wrong}");
            return ExitCode::from(2);
        }
    };
    let options = Options { keep_going: true, shrink: false, ..Options::default() };
    let (report, coverage) = dally_concolic::explore(Arc::new(program), options, Arc::new(()));
    let irrelevant = report.classes.as_ref().map_or(0, |classes| classes.irrelevant);
    let (all, seconds) = (report.schedules + irrelevant, report.elapsed.as_secs_f64());
    println!("{:?}: {all} executions, {:.0} a second", report.ended, all as f64 / seconds);
    println!("{:?}, {} unknown", coverage.solved, coverage.unknown);
    ExitCode::SUCCESS
}
