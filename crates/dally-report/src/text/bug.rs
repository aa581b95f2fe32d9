//! Bugs in sentences. No other module puts bugs into words.

use dally_core::bug::{
    Endless, Holder, Object, Origin, Phase, PlaceOf, ProcessEnd, Uncontrolled, Unhandled,
    Violation, Wait, Waiting,
};
use dally_core::words::{count, grouped, visible};
use dally_core::{Bug, BugKind, Call, Problem, WorkerId};

/// A bug in words: a headline, and further lines where there is more to say.
///
/// ```
/// use dally_core::{Bug, Problem};
/// use dally_report::text;
///
/// let bug = Bug::new(Problem::StepBound { bound: 1000 });
/// assert_eq!(text::bug(&bug), "the execution does not end within 1,000 steps");
/// ```
pub fn bug(bug: &Bug) -> String {
    let Words { headline, more, leads_on } = Words::of(bug);
    let first = headline + if leads_on { ":" } else { "" };
    visible(&[vec![first], more].concat().join("\n")).into_owned()
}

/// A bug in one line: its kind, what went wrong, the culprit and the place.
pub fn line(bug: &Bug) -> String {
    let mut out = format!("{}: {}", bug.kind(), Words::of(bug).headline);
    if let (Some(_), Some(culprit)) = (untold_culprit(bug), &bug.culprit) {
        out += &format!(" ({culprit})");
    }
    if let Some(location) = &bug.location {
        out += &format!(" at {location}");
    }
    visible(&out).into_owned()
}

pub(super) struct Words {
    pub headline: String,
    /// Further lines.
    pub more: Vec<String>,
    /// Whether the headline announces the further lines.
    pub leads_on: bool,
}

impl Words {
    pub fn of(bug: &Bug) -> Words {
        match &*bug.problem {
            Problem::Panic { message, at_tear_down, then } => {
                let mut words = Words::quoting(message);
                words.more.extend(then.iter().flat_map(|later| {
                    let place =
                        later.location.as_ref().map_or(String::new(), |at| format!(" at {at}"));
                    let told = format!("and then, in a destructor{place}: {}", later.message);
                    told.lines().map(str::to_owned).collect::<Vec<_>>()
                }));
                if *at_tear_down {
                    words.more.push("(in a destructor, while the execution was torn down)".into());
                }
                words
            }
            Problem::Assertion { message } | Problem::Monitor(Violation::Assertion { message }) => {
                Words::quoting(message)
            }
            Problem::Deadlock { waiting } => deadlock(waiting),
            Problem::UnhandledEvent(unhandled)
            | Problem::Monitor(Violation::UnhandledEvent(unhandled)) => no_handler(bug, unhandled),
            Problem::Uncontrolled(uncontrolled) => differs(bug, uncontrolled),
            _ => Words::from(sentence(bug)),
        }
    }

    fn quoting(message: &str) -> Words {
        let mut lines = message.lines().map(str::to_owned);
        let headline = lines.next().unwrap_or_else(|| "(no message)".to_owned());
        Words { headline, more: lines.collect(), leads_on: false }
    }

    fn and(mut self, line: impl Into<String>) -> Words {
        self.more.push(line.into());
        self
    }
}

impl From<String> for Words {
    fn from(headline: String) -> Words {
        Words { headline, more: Vec::new(), leads_on: false }
    }
}

/// Bugs that take one sentence.
fn sentence(bug: &Bug) -> String {
    let culprit = bug.culprit.as_deref().unwrap_or("?");
    let state = bug.state.as_deref().unwrap_or("?");
    match &*bug.problem {
        Problem::Monitor(Violation::Always { proposition }) => {
            format!("`{proposition}` does not hold, and always should")
        }
        Problem::HotAtEnd => format!(
            "the system is quiet (nothing is left to do) and monitor {culprit} is still hot, in \
             state {state}: what it waits for will not happen any more"
        ),
        Problem::Livelock { states, visits, length } => {
            let word = if states.len() == 1 { "state" } else { "states" };
            let states = states.join(", ");
            let wrong = if *visits {
                format!(
                    "monitor {culprit} comes to {word} {states} again and again, which is allowed \
                     only finitely often"
                )
            } else {
                format!("monitor {culprit} waits in vain in {word} {states}")
            };
            format!("{wrong}: the execution can go round a loop of length {length} for ever")
        }
        Problem::Temperature { bound } => format!(
            "monitor {culprit} is hot for more than {} under a fair strategy, now in state {state}",
            count(*bound as u64, "step"),
        ),
        Problem::StepBound { bound } => {
            format!("the execution does not end within {}", count(*bound as u64, "step"))
        }
        Problem::EndlessStep(endless) => goes_on(bug, endless),
        Problem::OutOfStacks { stacks } => format!(
            "the system has no memory for one more stack: every task that stands before an \
             operation has one, now {}",
            count(*stacks as u64, "task"),
        ),
        Problem::ProcessEnd { by, phase } => {
            let how = match by {
                ProcessEnd::Abort => "aborts the process",
                _ => "ends the process by `exit`",
            };
            format!("{} {how}, and with it all tests that run in it", part(bug, *phase))
        }
        Problem::NoFailure { expected } => {
            format!("the test expects a failure (`{expected}`), and no schedule failed")
        }
        // `Words::of` has handled the other kinds; the core describes kinds that this version does not
        // know.
        _ => bug.to_string(),
    }
}

fn deadlock(waiting: &[Waiting]) -> Words {
    let workers = match waiting.len() {
        1 => "one still waits".to_owned(),
        n => format!("{n} still wait"),
    };
    Words {
        headline: format!("no worker can step, and {workers}"),
        more: waiting.iter().map(waits).collect(),
        leads_on: true,
    }
}

fn waits(Waiting { worker, name, on, woken_outside }: &Waiting) -> String {
    let what = match on.as_slice() {
        [] => "for a future that Dally does not control and that nobody has woken".to_owned(),
        on => format!("to {}", on.iter().map(wait).collect::<Vec<_>>().join(", or ")),
    };
    let woken = match woken_outside {
        true => " (a thread that Dally does not control has woken a task meanwhile)",
        false => "",
    };
    format!("  {name} ({worker}) waits {what}{woken}")
}

fn wait(Wait { operation, payload, object, place }: &Wait) -> String {
    let mut out = operation.clone();
    if !payload.is_empty() {
        let any: Vec<_> = payload.iter().map(|what| format!("`{what}`")).collect();
        out += &format!(" {}", any.join(" or "));
        if object.is_some() {
            out += if operation == "send" { " to" } else { " from" };
        }
    }
    if let Some(Object { kind, id }) = object {
        out += &if id.is_empty() { format!(" `{kind}`") } else { format!(" `{kind} {id}`") };
    }
    if let Some(place) = place {
        let of = match place.of {
            PlaceOf::Creation => "made ",
            PlaceOf::Spawn => "spawned ",
            _ => "",
        };
        out += &format!(" {of}at {}", place.location);
    }
    out
}

fn no_handler(bug: &Bug, Unhandled { event, origin, declared }: &Unhandled) -> Words {
    let name = bug.culprit.as_deref().unwrap_or("?");
    let state = bug.state.as_deref().unwrap_or("?");
    let from = match origin {
        Origin::Raised => ", which it raised itself".to_owned(),
        Origin::Itself => ", which it sent itself".to_owned(),
        Origin::Sent(sender) if sender.worker == WorkerId::OUTSIDE => {
            " from outside the host".to_owned()
        }
        Origin::Sent(sender) => format!(" from `{}({})`", sender.name, sender.worker),
        _ => String::new(),
    };
    if *origin == Origin::Announced || bug.kind() == BugKind::Monitor {
        return match declared {
            Some(place) => Words::from(format!(
                "spec `{name}` in state `{state}` has no handler for event `{event}`{from}"
            ))
            .and(format!("the state is at {place}; handle the event there or `ignore` it")),
            None => Words::from(format!(
                "monitor `{name}` in state `{state}` has no handler for `{event}`: add \
                 `#[on({state}, {event})]` or `#[ignore({state}, {event})]`"
            )),
        };
    }
    let who = bug.worker.map_or(name.to_owned(), |worker| format!("{name}({worker})"));
    let words =
        Words::from(format!("`{who}` in state `{state}` has no handler for event `{event}`{from}"));
    words.and(match declared {
        Some(place) => {
            format!("the state is at {place}; handle the event there, `defer` or `ignore` it")
        }
        None => format!(
            "handle it with `#[on({state}, {event})]`, keep it for later with \
             `#[defer({state}, {event})]`, or drop it with `#[ignore({state}, {event})]`"
        ),
    })
}

fn goes_on(bug: &Bug, endless: &Endless) -> String {
    let name = bug.culprit.as_deref().unwrap_or("?");
    let worker = bug.worker.map_or(String::new(), |worker| format!(" {worker}"));
    match endless {
        Endless::Items { items } => format!(
            "a step of worker{worker} goes on without end: {} values and events, and still not at \
             its next scheduling point",
            grouped((*items).into()),
        ),
        Endless::Time { limit, phase, call: Some(call), holder } => {
            let part = part(bug, *phase);
            let Call { operation, .. } = call;
            match holder {
                Some(Holder { worker, standing }) => format!(
                    "{part} has not come back after {limit:?}: it blocks its thread in `{operation}`, and waits \
                     for what another holds: {worker} {standing}",
                ),
                None => format!(
                    "{part} has not come back after {limit:?}: it blocks its thread in `{operation}`, and code \
                     under test must wait through Dally's own operations",
                ),
            }
        }
        Endless::Time { limit, phase, call: None, .. } => {
            format!(
                "{} has not come back after {limit:?}: it blocks its thread or loops, and code \
                 under test must wait through Dally's own operations",
                part(bug, *phase),
            )
        }
        Endless::Transitions { transitions, monitor: true } => format!(
            "monitor `{name}` goes from state to state without end: {transitions} transitions on \
             one event"
        ),
        Endless::Transitions { transitions, monitor: false } => format!(
            "`{name}` raises events or changes its state without end: {transitions} transitions on \
             one event, now in state `{}`",
            bug.state.as_deref().unwrap_or("?"),
        ),
        Endless::Effects { effects } => format!(
            "a handler of `{name}` sends, creates or sets timers without end: {effects} effects, \
             and more to come"
        ),
        Endless::Calls { function, depth } => {
            format!("function `{function}` is called {depth} deep: a recursion that does not end")
        }
        Endless::Repeats => format!(
            "a step of `{name}` goes on without end: it comes back to the same place with the same \
             values, and chooses nothing on the way"
        ),
        Endless::Start => format!("spec `{name}` goes on without end on entering its first state"),
        _ => bug.to_string(),
    }
}

fn part(bug: &Bug, phase: Phase) -> String {
    let worker = bug.worker.map_or(String::new(), |worker| format!(" {worker}"));
    match phase {
        Phase::Step(step) => format!("step {step}, of worker{worker},"),
        Phase::End => "the end of the execution, where values are dropped,".to_owned(),
        _ => "the start of the program".to_owned(),
    }
}

const SOMETHING_ELSE: &str = "Something that Dally does not control decides what the program does: a \
    clock, a random number, a `select!` of tokio or futures without `biased`, which draws one \
    (`dally::tasks::select!` has it chosen by the search), the order of a hash map, a global that \
    survives the execution (`isolate = process` gives each schedule a process of its own), a thread of the \
    operating system";

fn differs(bug: &Bug, uncontrolled: &Uncontrolled) -> Words {
    let name = bug.culprit.as_deref().unwrap_or("?");
    match uncontrolled {
        Uncontrolled::Schedule { schedule, step, difference } => Words::from(format!(
            "schedule {schedule}, run again with the same choices, did something else: step \
             {step}: {difference}"
        ))
        .and(SOMETHING_ELSE),
        Uncontrolled::Prefix { difference } => Words::from(format!(
            "the choices that lead to a state were made again, and the program did something \
             else: {difference}"
        ))
        .and(SOMETHING_ELSE),
        Uncontrolled::State => Words::from(String::from(
            "two ways to what Dally takes for the same state lead to different workers that can \
             step, or to different operations: something is shared that Dally does not see, such \
             as a static, an atomic or a lock of the standard library",
        )),
        Uncontrolled::Handler { difference } => Words::from(format!(
            "a handler of `{name}` ran twice from the same state with the same choices, and the \
             results differ: {difference}"
        )),
        Uncontrolled::Fork => Words::from(format!(
            "`{name}` is declared `uncaptured` and was stepped in a fork; forks need captured \
             machines"
        )),
        Uncontrolled::NotEnabled => Words::from(format!(
            "worker{} was asked to step although it cannot",
            bug.worker.map_or(String::new(), |worker| format!(" {worker}")),
        )),
        Uncontrolled::Woken => Words::from(String::from(
            "a task was woken by a thread that Dally does not control: the program, or a library \
             that it uses, has started a thread or runs on another runtime, and when that thread \
             gets to run is not part of the schedule",
        )),
        _ => Words::from(bug.to_string()),
    }
}

/// The culprit, if the headline does not name it.
pub(super) fn untold_culprit(bug: &Bug) -> Option<String> {
    match &*bug.problem {
        Problem::Panic { .. }
        | Problem::Assertion { .. }
        | Problem::Monitor(Violation::Assertion { .. } | Violation::Always { .. })
        | Problem::EndlessStep(Endless::Items { .. } | Endless::Calls { .. }) => culprit(bug),
        _ => None,
    }
}

pub(super) fn culprit(bug: &Bug) -> Option<String> {
    let name = bug.culprit.as_ref()?;
    Some(match bug.kind() {
        BugKind::Monitor | BugKind::HotAtEnd | BugKind::Livelock | BugKind::Temperature => {
            format!("monitor {name}")
        }
        _ => name.clone(),
    })
}

pub(super) fn help(kind: BugKind) -> Option<&'static str> {
    Some(match kind {
        BugKind::Temperature => {
            "the schedule was fair and nothing good happened for that long; if it only needs \
             longer, raise the bound"
        }
        BugKind::StepBound => "if the program only needs longer, raise the bound (`max_steps`)",
        BugKind::EndlessStep => {
            "a step must come to its next scheduling point: look for a loop without end or a call \
             that blocks its thread, such as locking a `std::sync::Mutex` that a task holds which \
             stands before an operation; if it is only slow, raise the step time (`step_time` of a test)"
        }
        BugKind::OutOfStacks => {
            "let fewer tasks run at the same time; on Linux a stack takes two memory mappings, and \
             `sysctl vm.max_map_count` says how many of them a process may have"
        }
        BugKind::ProcessEnd => {
            "code under test must return or panic; a process is aborted by `abort`, by an \
             allocation that fails and by a stack that overflows, and standard error says by which"
        }
        BugKind::Uncontrolled => {
            "look for the clock, random numbers, the order of a HashMap, threads, files or \
             static variables that outlive a schedule"
        }
        BugKind::NoFailure => "is the bug fixed? else try more schedules or another strategy",
        // The sentences of the other kinds suffice.
        _ => return None,
    })
}
