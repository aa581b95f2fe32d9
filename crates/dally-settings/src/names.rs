//! The names of strategies, searches, explorers, caches and notions of fairness, in the order in which
//! `dally-search` has what they stand for.

use std::error::Error;
use std::fmt;

use crate::nearest;

/// A name that is a value of a setting.
#[derive(Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub name: &'static str,
    /// Another spelling.
    pub long: Option<&'static str>,
    /// Whether it can be followed by a number of change points, as in `pct:10`.
    pub parameter: bool,
    /// Whether it is for comparisons and not for everyday use.
    pub research: bool,
    /// What it stands for.
    pub help: &'static str,
}

/// All names of a kind.
#[derive(Debug, PartialEq, Eq)]
pub struct Names {
    /// What the names are of, such as `search`.
    pub what: &'static str,
    /// The names.
    pub all: &'static [Name],
}

const fn name(name: &'static str, help: &'static str) -> Name {
    Name { name, long: None, parameter: false, research: false, help }
}

const fn or(of: &'static str, long: &'static str, help: &'static str) -> Name {
    Name { long: Some(long), ..name(of, help) }
}

const fn with_changes(of: &'static str, help: &'static str) -> Name {
    Name { parameter: true, ..name(of, help) }
}

const fn research(of: &'static str, help: &'static str) -> Name {
    Name { research: true, ..name(of, help) }
}

/// The strategies, those for everyday use first. [`parse_strategy`] reads a strategy with its number
/// of change points.
pub const STRATEGIES: Names = Names {
    what: "strategy",
    all: &[
        name("portfolio", "random, pctcp, pos, surw and ql share the schedules; for unknown bugs"),
        name("random", "uniform among the workers that can step"),
        with_changes(
            "pct",
            "random priorities with that many change points; for bugs that need few, far-apart reorderings",
        ),
        with_changes("pctcp", "pct for chains of messages; where many workers do little each"),
        name("pos", "random priorities for steps, drawn again where steps race"),
        name("surw", "uniform over the interleavings of one inbox, lock or object at a time"),
        name(
            "ql",
            "learns from what it observes (inboxes, states and pending operations) to go where it has not been; for bugs behind long sequences of choices",
        ),
        name("round-robin", "workers take turns"),
        name("dfs", "every schedule once, exhaustive on small programs"),
        research("irs", "random with an iteratively growing depth bound; for bugs near the start"),
        research("urw", "uniform over interleavings, by what each worker has left to do"),
        Name { parameter: true, ..research("tapct", "pctcp with change points at races only") },
        research("period", "serial periods; enumerates who goes how far in each"),
        research("ql-b", "ql with a flat reward"),
        research("ql-i", "ql that observes inboxes alone"),
        research("ql-c", "ql that observes inboxes and what the program shows"),
        research("ql-ndn", "ql that draws values"),
        research("greedy", "steps to what it has observed least often"),
        research("idb", "one worker at a time, with a growing number of random delays"),
        research("bonus-max", "learns like ql, from how new the best of what follows is"),
    ],
};

/// The searches of states.
pub const SEARCHES: Names = Names {
    what: "search",
    all: &[
        name(
            "ses",
            "stratified exhaustive search: all that is reached with no delay of the explorer, then \
             with one, two, ...",
        ),
        name("ss", "stratified sampling: schedules with exactly one delay, then two, ..."),
        name("hybrid", "ses until its memory or time is nearly used, then ss from where it stands"),
        name("pb", "by preemptions, the switches away from a worker that could go on"),
        name("depth", "by depth, in random order"),
        name("dfs", "depth first"),
        name("bfs", "breadth first"),
        name("ndfs", "for cycles: nested depth-first search"),
        name(
            "iterative-ndfs",
            "for cycles: ndfs with no delay, then with one, two, ..., each time from the start",
        ),
        name("map", "for cycles: by strata of delays, with work kept from one to the next"),
        name(
            "components",
            "for cycles: by the strata of map, and strongly connected components alone",
        ),
        name("dpor", "one schedule for each class of those that differ in independent steps only"),
        name("concolic", "dpor, and for each class every path that inputs can take the program on"),
    ],
};

/// The rules by which dpor leaves out schedules.
pub const REDUCTIONS: Names = Names {
    what: "reduction",
    all: &[
        name("optimal", "one schedule for each class, by wakeup trees"),
        name("source", "one for each class by source sets and sleep sets; for comparison"),
        name(
            "needs-delay",
            "the next worker only where a step of the one before has a race; for comparison",
        ),
        name("preemptions", "within `delays` preemptions, the switches away from who could go on"),
        name("delays", "within `delays` workers passed over, where each goes on as long as it can"),
        name("none", "all schedules; for comparison"),
    ],
};

/// How a concolic search comes to inputs.
pub const INPUTS: Names = Names {
    what: "way to inputs",
    all: &[
        name("depth-first", "every path that they decide, in every order that matters, once"),
        name(
            "generational",
            "solved for from paths before, and first for what no path has done yet",
        ),
        name("random", "drawn, and solved for where nothing new comes of that"),
    ],
};

/// The explorers.
pub const EXPLORERS: Names = Names {
    what: "explorer",
    all: &[
        or(
            "rr",
            "round-robin",
            "workers in the order of their creation; for bugs of few interleavings",
        ),
        or("rtc", "run-to-completion", "the receiver of the last message first; for deep bugs"),
        or("prr", "probabilistic-round-robin", "round-robin in a random order"),
        or("random", "random-order", "a random order in every state"),
    ],
};

/// What a search remembers of visited states.
pub const CACHES: Names = Names {
    what: "cache policy",
    all: &[
        name("all", "all of them; the search ends when they no longer fit"),
        name("none", "none of them"),
        name("stop", "as many as fit; later ones are not remembered"),
        name("replace", "as many as fit; later ones take the place of earlier ones"),
    ],
};

/// The notions of fairness by which loops are judged.
pub const FAIRNESS: Names = Names {
    what: "fairness",
    all: &[
        name("none", "all loops"),
        name("weak", "those in which whoever could step all the time does"),
        name("strong", "those in which whatever could be done again and again is done"),
    ],
};

/// Which panics of tasks are bugs.
pub const TASK_PANICS: Names = Names {
    what: "notion of a task's panic",
    all: &[
        name("all", "every one is a bug"),
        name(
            "unobserved",
            "whoever joins the task gets the panic, as in tokio; if nobody does it is a bug",
        ),
    ],
};

/// When the timers of tasks fire.
pub const TIMERS: Names = Names {
    what: "model of time",
    all: &[
        name("any", "at any point, in any order"),
        name("ordered", "at any point, in the order of their deadlines"),
        name("idle", "in the order of their deadlines, when nobody else can step"),
    ],
};

/// Where the steps of tasks end.
pub const POINTS: Names = Names {
    what: "kind of scheduling points",
    all: &[
        name("awaits", "before operations that are awaited; exact for a runtime with one thread"),
        name("operations", "also before others on what tasks share, such as an unbounded send"),
    ],
};

/// Whether schedules have processes of their own.
pub const ISOLATION: Names = Names {
    what: "isolation",
    all: &[
        name("none", "all schedules run in the process of the test"),
        name("process", "each schedule runs in a process of its own"),
    ],
};

/// What findings tell of the order of their steps.
pub const CLOCKS: Names = Names {
    what: "way to write clocks",
    all: &[
        name("shared", "each step names those that it comes after at once"),
        name("full", "each step also has a vector clock, which takes steps times workers"),
    ],
};

/// The forms in which a test tells what was checked.
pub const FORMATS: Names = Names {
    what: "format",
    all: &[
        name("text", "for people, and nothing else"),
        name("json", "the run with all its findings: see docs/json.md"),
        name("junit", "JUnit's XML, for CI servers"),
        name("github", "annotations of GitHub Actions"),
        name("sarif", "SARIF, for code scanning"),
    ],
};

impl Names {
    /// The index of a name, given in either spelling.
    ///
    /// ```
    /// use dally_settings::{EXPLORERS, SEARCHES};
    ///
    /// assert_eq!(EXPLORERS.find("run-to-completion"), EXPLORERS.find("rtc"));
    /// assert_eq!(
    ///     SEARCHES.find("sse").unwrap_err().to_string(),
    ///     "no search `sse`: did you mean `ses`? \
    ///      There are ses, ss, hybrid, pb, depth, dfs, bfs, ndfs, iterative-ndfs, map, components, dpor, concolic",
    /// );
    /// ```
    pub fn find(&'static self, text: &str) -> Result<usize, UnknownName> {
        let found = self.all.iter().position(|name| name.name == text || name.long == Some(text));
        found.ok_or_else(|| UnknownName { text: text.to_owned(), known: self })
    }

    /// The names alone, which must be as many as the array has places.
    pub const fn array<const N: usize>(&self) -> [&'static str; N] {
        assert!(self.all.len() == N, "as many names as things that have them");
        let mut names = [""; N];
        let mut place = 0;
        while place < N {
            names[place] = self.all[place].name;
            place += 1;
        }
        names
    }

    /// The names with commas between them.
    pub fn list(&self) -> String {
        let names: Vec<&str> = self.all.iter().map(|name| name.name).collect();
        names.join(", ")
    }
}

/// Reads a strategy: the index of its name in [`STRATEGIES`], and the number of change points, by
/// default 3.
///
/// ```
/// use dally_settings::{STRATEGIES, parse_strategy};
///
/// let (place, changes) = parse_strategy("pct:10").unwrap();
/// assert_eq!((STRATEGIES.all[place].name, changes), ("pct", 10));
/// assert!(parse_strategy("random:10").is_err());
/// ```
pub fn parse_strategy(text: &str) -> Result<(usize, u32), UnknownName> {
    let unknown = || UnknownName { text: text.to_owned(), known: &STRATEGIES };
    match text.split_once(':') {
        None => Ok((STRATEGIES.find(text)?, 3)),
        Some((name, changes)) => {
            let place = STRATEGIES.find(name).map_err(|_| unknown())?;
            let changes = changes.parse().ok().filter(|changes| (1..=1_000).contains(changes));
            match changes {
                Some(changes) if STRATEGIES.all[place].parameter => Ok((place, changes)),
                _ => Err(unknown()),
            }
        }
    }
}

/// The error for a text that is none of the known names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// The text.
    pub text: String,
    /// The names.
    pub known: &'static Names,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.known.all;
        if let Some((name, changes)) = self.text.split_once(':')
            && all.iter().any(|known| known.parameter && known.name == name)
        {
            return write!(
                f,
                "`{changes}` is no number of change points for {name}: give one from 1 to 1000, as \
                 in `{name}:3`"
            );
        }
        write!(f, "no {} `{}`", self.known.what, self.text)?;
        let spellings = all.iter().flat_map(|name| [Some(name.name), name.long]).flatten();
        let name = self.text.split(':').next().unwrap_or_default();
        match nearest(&self.text, spellings.clone()).or_else(|| nearest(name, spellings)) {
            Some(near) => write!(f, ": did you mean `{near}`? ")?,
            None => f.write_str(". ")?,
        }
        f.write_str("There are ")?;
        for (place, name) in all.iter().enumerate() {
            let first_of_research = name.research && !all[place - 1].research;
            let comma = if place > 0 { ", " } else { "" };
            let comparisons = if first_of_research { "and for comparisons " } else { "" };
            write!(f, "{comma}{comparisons}{}", name.name)?;
            if let Some(long) = name.long {
                write!(f, " ({long})")?;
            }
        }
        let with_parameter: Vec<&str> =
            all.iter().filter(|name| name.parameter).map(|name| name.name).collect();
        match with_parameter.first() {
            Some(first) => write!(f, " ({} also as `{first}:10`)", with_parameter.join(", ")),
            None => Ok(()),
        }
    }
}

impl Error for UnknownName {}
