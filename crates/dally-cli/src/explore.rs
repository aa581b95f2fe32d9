//! `dally explore`: which program it is, and how its sessions are had.

mod server;
mod test;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use dally::checking::read_schedule;
use dally::contract::Schedule;
use dally::explore::{Reply, Request, Session, terminal};
use dally::report::{Style, tell};

use self::test::TestOf;
use crate::args::{ExploreArgs, Format, PArgs};
use crate::check::BUG_SETTING;
use crate::error::CliError;
use crate::list::look_up;
use crate::replay::{self, Recorded};
use crate::{BAD_INPUT, CLEAN, cargo, mpil, p};

/// One session: it answers requests.
pub type Ask = Box<dyn FnMut(Request) -> Reply + Send>;

/// Opens sessions of a program.
pub enum Opener {
    /// Of one in this process: every session begins as this one.
    Here(Box<Session>),
    /// Of a test, each in a process of its own.
    Test(Box<TestOf>),
}

impl Opener {
    pub fn open(&self) -> Result<Ask, CliError> {
        match self {
            Opener::Here(first) => {
                let mut session = first.another();
                Ok(Box::new(move |request| session.ask(request)))
            }
            Opener::Test(test) => test.open(),
        }
    }
}

/// Explores a program by hand; answers the exit code.
pub fn explore(arguments: &ExploreArgs) -> Result<u8, CliError> {
    let Some(opener) = opener(arguments)? else { return Ok(BAD_INPUT) };
    if !arguments.terminal {
        return server::serve(opener, arguments.port);
    }
    let mut ask = opener.open()?;
    let (mut input, mut out) = (io::stdin().lock(), io::stdout().lock());
    let style = Style::of(&out);
    let people = io::IsTerminal::is_terminal(&io::stdin());
    let prompt = if people { "> " } else { "" };
    match terminal::run(&mut ask, &mut input, &mut out, prompt, style) {
        Ok(0) => Ok(CLEAN),
        Ok(_) if people => Ok(CLEAN),
        Ok(_) => Ok(BAD_INPUT),
        // Whoever reads has seen enough.
        Err(why) if why.kind() == io::ErrorKind::BrokenPipe => Ok(CLEAN),
        Err(why) => Err(CliError::Terminal(why)),
    }
}

/// What is explored; `None` if it does not compile, which was told.
fn opener(arguments: &ExploreArgs) -> Result<Option<Opener>, CliError> {
    let subjects = &arguments.subjects[..];
    let is_path = |subject: &OsString| p::path(subject).is_some();
    if let ([first, _, ..], false) = (subjects, subjects.iter().all(is_path)) {
        let is_first = is_path(first);
        return Err(if is_first {
            CliError::NotOfProject { subject: first.clone() }
        } else {
            CliError::SeveralExplored
        });
    }
    let subject = &subjects[0];
    let (heading, file) = if let Some(schedule) = schedule(subject)? {
        (schedule, Path::new(subject))
    } else if mpil::is_program(subject) {
        (mpil::heading(subject, &arguments.parameters)?, Path::new(""))
    } else if is_path(subject) {
        let asked = PArgs {
            tests: arguments.test.clone().into_iter().collect(),
            atomic_handlers: arguments.atomic_handlers,
            foreign: arguments.foreign.clone(),
            stub_foreign: arguments.stub_foreign,
            ..PArgs::default()
        };
        let Some(heading) = p::heading(&p::paths(subjects)?, &asked)? else { return Ok(None) };
        (heading, Path::new(""))
    } else {
        let name = subject.to_string_lossy();
        match look_up(&name, arguments.bug.as_deref()) {
            Ok((protocol, bug)) => {
                let settings = bug.map(|bug| (BUG_SETTING.to_owned(), bug.to_owned()));
                let settings = settings.into_iter().collect();
                let program = protocol.name.to_owned();
                (Schedule { program, settings, ..Schedule::default() }, Path::new(""))
            }
            Err(CliError::NoProtocol { .. }) => {
                return Ok(Some(Opener::Test(Box::new(TestOf::named(&name)?))));
            }
            Err(why) => return Err(why),
        }
    };
    if cargo::is_of_test(&heading) {
        return Ok(Some(Opener::Test(Box::new(TestOf::recorded(&heading)?))));
    }
    let program = replay::program(&heading, &[], file, Format::Text)?;
    let Some(Recorded { program, .. }) = program else { return Ok(None) };
    let granularity = program.granularity();
    Ok(Some(Opener::Here(Box::new(Session::new(program, granularity, heading)))))
}

/// The schedule that this names, if it names one.
fn schedule(subject: &OsStr) -> Result<Option<Schedule>, CliError> {
    let is_token = subject.to_str().is_some_and(|text| text.starts_with("dally1-"));
    let is_file = Path::new(subject).extension().is_some_and(|ending| ending == "schedule");
    match is_token || is_file {
        true => Ok(Some(read_schedule(subject)?)),
        false => Ok(None),
    }
}

/// Tells people something while a page is served or a test is built.
fn say(text: &str) {
    tell::err(text);
}
