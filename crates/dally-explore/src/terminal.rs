//! A session by lines of text: one command a line, the same for people and for scripts.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use dally_core::words::{count, visible};
use dally_core::{WorkerId, draft::Draft};
use dally_report::{Style, text};

use crate::request::{Map, Place, Reply, Request, View};
use crate::session::{described, named};

/// What `help` prints.
pub const HELP: &str = "\
look                 the present state and who can step (also: an empty line)
step N, or N         the N-th worker of the list takes a step
step @ID             the worker with this id takes a step
answer N             answer what the step asks for
back [N]             take back one step, or N
forward [N]          take one step, or N, of those that were taken back
go N                 to the state after N steps of the path
run STRATEGY [STEPS] [SEED]
                     have a strategy take so many steps, by default 20
search [BY] [until CONDITION]
                     look for a bug from here, or for a state in which the condition holds, and go there; BY is
                     a strategy (by default `portfolio`) or a search (`ses`, `dpor`, ...)
mark NAME            give the present state a name
return NAME          go to a marked state
compare A [B]        how two marked states differ; `here` is the present one
map [DEPTH]          the states around this one, by default within 2 steps
trace                all steps that led here
save FILE            write the schedule that leads here
open FILE            take the path of a schedule, a file or a token
quit

A condition counts workers, monitors or messages:
  Server in Leader >= 2          inbox(Server) > 3        inbox(0.1, \"Vote\")
  waiting(*) and not enabled(0)  hot(Progress)            crashed(Server) = 1 or halted(Client)
";

/// A command.
enum Command {
    Ask(Request),
    Step(usize),
    Save(PathBuf),
    Open(String),
    Trace,
    Help,
    Quit,
}

/// Reads commands until there are no more, asks the session and writes what it answers; `prompt` is
/// written before each command. Answers how many commands were not understood or not done.
pub fn run(
    ask: &mut dyn FnMut(Request) -> Reply,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
    prompt: &str,
    style: Style,
) -> io::Result<usize> {
    let mut failed = 0;
    let first = ask(Request::Look);
    let mut view = first.view.clone();
    write!(out, "{}", shown(&first))?;
    loop {
        write!(out, "{prompt}")?;
        out.flush()?;
        let mut line = Vec::new();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(failed);
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        let mut fail = |out: &mut dyn Write, why: &str| {
            failed += 1;
            writeln!(out, "error: {}", visible(why))
        };
        let request = match command(&line) {
            Ok(Command::Quit) => return Ok(failed),
            Ok(Command::Help) => {
                write!(out, "{HELP}")?;
                continue;
            }
            Ok(Command::Trace) => {
                if let Some(view) = &view {
                    let how = "by hand";
                    write!(out, "{}", text::execution(&view.trace, &view.program, how, style))?;
                }
                continue;
            }
            Ok(Command::Save(path)) => {
                match saved(&ask(Request::Save), &path) {
                    Ok(()) => writeln!(out, "saved in {}", path.display())?,
                    Err(why) => fail(out, &why)?,
                }
                continue;
            }
            Ok(Command::Open(given)) => match std::fs::read_to_string(&given) {
                _ if given.starts_with("dally1-") => Ok(Request::Open { schedule: given }),
                Ok(schedule) => Ok(Request::Open { schedule }),
                Err(why) => Err(format!("`{given}` cannot be read: {why}")),
            },
            Ok(Command::Step(number)) => chosen(view.as_deref(), number),
            Ok(Command::Ask(request)) => Ok(request),
            Err(why) => Err(why),
        };
        // Whoever only says something about a state is still in it.
        let stays = matches!(request, Ok(Request::Mark { .. } | Request::Compare { .. }));
        let reply = match request {
            Ok(request) => ask(request),
            Err(why) => Reply::error(why),
        };
        if let Some(why) = &reply.error {
            fail(out, why)?;
            continue;
        }
        let told = if stays { Reply { view: None, ..reply.clone() } } else { reply.clone() };
        write!(out, "{}", shown(&told))?;
        view = reply.view.or(view);
    }
}

fn saved(reply: &Reply, path: &Path) -> Result<(), String> {
    let Some(schedule) = &reply.schedule else {
        return Err(reply.error.clone().unwrap_or_else(|| "there is no schedule".into()));
    };
    Draft::write(path, schedule.as_bytes())
        .and_then(Draft::publish)
        .map_err(|why| format!("`{}` cannot be written: {why}", path.display()))
}

/// The request for the worker with this number in the list, from 1, or the answer with this number.
fn chosen(view: Option<&View>, number: usize) -> Result<Request, String> {
    match view.map(|view| &view.here) {
        Some(Place::Between { workers }) => {
            match number.checked_sub(1).and_then(|at| workers.get(at)) {
                Some(offer) => Ok(Request::Step { worker: offer.worker }),
                None => Err(format!("the list has {}", count(workers.len() as u64, "worker"))),
            }
        }
        Some(Place::Inside { .. }) => {
            Err("the present step asks for something: `answer N`, or `back`".into())
        }
        _ => Err("the execution is over here: `back` to take another step".into()),
    }
}

fn command(line: &str) -> Result<Command, String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let number = |otherwise: Option<usize>| match (rest, otherwise) {
        ("", Some(otherwise)) => Ok(otherwise),
        ("", None) => Err(format!("`{word}` needs a number")),
        (text, _) => text.parse().map_err(|_| format!("`{text}` is not a number")),
    };
    let name = || match rest {
        "" => Err(format!("`{word}` needs a name")),
        name => Ok(name.to_owned()),
    };
    let request = match word {
        "" | "look" | "l" => Request::Look,
        "step" | "s" => match rest.strip_prefix('@') {
            Some(id) => Request::Step { worker: worker(id)? },
            None => return Ok(Command::Step(number(None)?)),
        },
        "answer" | "a" => Request::Answer {
            value: rest.parse().map_err(|_| format!("`{word}` needs a number, not `{rest}`"))?,
        },
        "back" | "b" => Request::Back { steps: number(Some(1))? },
        "forward" | "f" => Request::Forward { steps: number(Some(1))? },
        "go" | "g" => Request::To { step: number(None)? },
        "run" => run_of(rest)?,
        "search" => search_of(rest),
        "mark" => Request::Mark { name: name()? },
        "return" => Request::Return { name: name()? },
        "compare" => {
            let names = name()?;
            let (one, other) = names.split_once(char::is_whitespace).unwrap_or((&names, "here"));
            Request::Compare { one: one.to_owned(), other: other.trim().to_owned() }
        }
        "map" => Request::Map { depth: u32::try_from(number(Some(2))?).unwrap_or(u32::MAX) },
        "trace" | "t" => return Ok(Command::Trace),
        "save" => return Ok(Command::Save(PathBuf::from(name()?))),
        "open" => return Ok(Command::Open(name()?)),
        "help" | "h" | "?" => return Ok(Command::Help),
        "quit" | "q" | "exit" => return Ok(Command::Quit),
        _ => match word.parse() {
            Ok(number) if rest.is_empty() => return Ok(Command::Step(number)),
            _ => return Err(format!("there is no command `{word}`: `help` lists them")),
        },
    };
    Ok(Command::Ask(request))
}

fn worker(text: &str) -> Result<WorkerId, String> {
    text.parse().map_err(|why| format!("`{text}` is no worker: {why}"))
}

fn run_of(rest: &str) -> Result<Request, String> {
    let mut words = rest.split_whitespace();
    let strategy = words.next().ok_or("`run` needs a strategy, such as `random` or `pct:3`")?;
    let mut number = |otherwise: u64| match words.next() {
        None => Ok(otherwise),
        Some(text) => text.parse().map_err(|_| format!("`{text}` is not a number")),
    };
    let steps = number(20)? as usize;
    Ok(Request::Run { strategy: strategy.to_owned(), seed: number(0)?, steps })
}

/// What a search may take unless it is told otherwise.
pub(crate) const SCHEDULES: u64 = 10_000;
pub(crate) const SECONDS: u64 = 60;

fn search_of(rest: &str) -> Request {
    let (by, until) = match rest.split_once("until ") {
        Some((by, until)) => (by.trim(), Some(until.trim().to_owned())),
        None => (rest, None),
    };
    let by = if by.is_empty() { "portfolio" } else { by }.to_owned();
    Request::Search { by, seed: 0, schedules: SCHEDULES, seconds: SECONDS, until }
}

/// A reply as text.
fn shown(reply: &Reply) -> String {
    let mut out: String = reply.said.iter().map(|line| format!("{line}\n")).collect();
    if let Some(map) = &reply.map {
        out += &map_shown(map);
        return visible(&out).into_owned();
    }
    if let Some(view) = &reply.view {
        out += &view_shown(view);
    }
    visible(&out).into_owned()
}

fn view_shown(view: &View) -> String {
    let mut out = match view.of {
        of if of == view.at => {
            format!("\n{}, after {}\n", view.program, count(view.at as u64, "step"))
        }
        of => format!("\n{}, after {} of {of} steps\n", view.program, view.at),
    };
    if view.at > 0 {
        let (who, does) = text::last_step(&view.trace);
        out += &format!("  {who}: {}\n", does.join("; "));
    }
    if let Some(left) = &view.left_at {
        out += &format!("  the program does not fit the path: {left}\n");
    }
    for step in &view.same_as {
        out += &format!("  the same state as after {}\n", count(*step as u64, "step"));
    }
    let shows =
        view.picture.workers.iter().filter(|(_, worker)| described(worker) != "nothing shows");
    let rows: Vec<_> =
        shows.map(|(id, worker)| (named(*id, &worker.name), described(worker))).collect();
    let monitors = view.picture.monitors.iter();
    let rows: Vec<_> = rows
        .into_iter()
        .chain(monitors.map(|(name, monitor)| {
            let heat = match monitor.heat {
                dally_core::Heat::Hot => "hot ",
                dally_core::Heat::Cold => "cold ",
                dally_core::Heat::Neutral => "",
            };
            (format!("monitor {name}"), format!("in {heat}{}", monitor.state))
        }))
        .collect();
    if !rows.is_empty() {
        out += "\nstate\n";
    }
    let width = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
    for (name, words) in rows {
        let pad = " ".repeat(width - name.chars().count());
        out += &format!("  {name}{pad}  {words}\n");
    }
    out + &place_shown(&view.here)
}

fn place_shown(place: &Place) -> String {
    match place {
        Place::Between { workers } => {
            let mut out = "\ncan step\n".to_owned();
            let width = workers.iter().map(|offer| offer.name.chars().count()).max().unwrap_or(0);
            for (number, offer) in (1..).zip(workers) {
                let pad = " ".repeat(width - offer.name.chars().count());
                let does = offer.does.join("; ");
                out += format!("{number:>3}  {}{pad}  {does}", offer.name).trim_end();
                out.push('\n');
            }
            out
        }
        Place::Inside { worker, question, answers, range } => {
            let mut out = format!("\nworker {worker} asks for {question}\n");
            let numbers: Vec<String> =
                (0..answers.len()).map(|number| number.to_string()).collect();
            if *answers != numbers {
                for (number, answer) in answers.iter().enumerate() {
                    out += &format!("{number:>3}  {answer}\n");
                }
            }
            if let Some([_, _, given]) = range {
                out += &format!("  {given} is given unless another is chosen\n");
            }
            out
        }
        Place::Done => "\nthe execution is over: nothing is left to do\n".to_owned(),
        Place::Failed { kind, bug } => format!("\nBUG[{kind}] {bug}\n"),
        Place::Stopped { why } => format!("\nthe execution ends here: {why}\n"),
    }
}

fn map_shown(map: &Map) -> String {
    let states = count(map.states.len() as u64, "state");
    let mut out = format!("{states} within {}\n", count(map.depth.into(), "step"));
    if map.cut {
        out += "  and more: not all are on the map\n";
    }
    for (at, state) in map.states.iter().enumerate() {
        let how = match (&state.bug, state.enabled) {
            (Some(bug), _) => format!("BUG {bug}"),
            (None, 0) => "the end".to_owned(),
            (None, enabled) => format!("{} can step", count(enabled as u64, "worker")),
        };
        out += &format!("state {at}, after {}: {how}\n", count(state.depth.into(), "step"));
        for step in map.steps.iter().filter(|step| step.from == at) {
            out += &format!("  -> {}  {}: {}\n", step.to, step.worker, step.does.join("; "));
        }
    }
    out
}
