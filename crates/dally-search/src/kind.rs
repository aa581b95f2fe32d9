//! The bundled strategies by name. The names with what is said of them are in `dally-settings`.

use std::fmt;
use std::str::FromStr;

use dally_core::Observe;
use dally_settings::{STRATEGIES, UnknownName, parse_strategy};

use crate::learning::{Ql, Reward};
use crate::research::{BonusMax, Greedy, Idb, Irs, Period, TaPct, Urw};
use crate::sampling::{Dfs, Fair, Pct, Pctcp, Portfolio, Pos, Random, RoundRobin, Surw};
use crate::strategy::Strategy;

/// A bundled strategy, as options and the command line name it.
///
/// ```
/// use dally_search::StrategyKind;
///
/// let pct: StrategyKind = "pct".parse()?;
/// assert_eq!(pct, "pct:3".parse()?);
/// assert_eq!(pct.build(0, 1_000).name(), "pct(3)");
/// assert!("ptc".parse::<StrategyKind>().unwrap_err().to_string().contains("did you mean `pct`?"));
/// # Ok::<(), dally_search::UnknownName>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StrategyKind {
    /// The place in [`STRATEGIES`] and in [`ROWS`].
    place: usize,
    /// The number of change points, at least 1, where the strategy has some.
    changes: u32,
}

/// How a bundled strategy is built.
struct Row {
    name: &'static str,
    tail: Tail,
    build: fn(seed: u64, changes: u32, max_steps: usize) -> Box<dyn Strategy>,
}

/// Where a strategy becomes random, after two fifths of the step bound: the tail is then longer
/// than the default temperature, half of the step bound, so that a monitor that stays hot is found
/// under it too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tail {
    /// Nowhere: it is fair, or enumerates.
    Never,
    /// In every schedule.
    Always,
    /// Where a monitor is hot then: strategies that learn have a use for long schedules.
    OnceHot,
}

/// In the order of [`STRATEGIES`].
static ROWS: [Row; STRATEGIES.all.len()] = [
    Row {
        name: "portfolio",
        tail: Tail::Never,
        build: |seed, _, max_steps| {
            let members = StrategyKind::portfolio().map(|kind| kind.build(seed, max_steps));
            Box::new(Portfolio::new(members.into()))
        },
    },
    Row { name: "random", tail: Tail::Never, build: |seed, _, _| Box::new(Random::new(seed)) },
    Row {
        name: "pct",
        tail: Tail::Always,
        build: |seed, changes, _| Box::new(Pct::new(seed, changes)),
    },
    Row {
        name: "pctcp",
        tail: Tail::Always,
        build: |seed, changes, _| Box::new(Pctcp::new(seed, changes)),
    },
    Row { name: "pos", tail: Tail::Always, build: |seed, _, _| Box::new(Pos::new(seed)) },
    Row { name: "surw", tail: Tail::Always, build: |seed, _, _| Box::new(Surw::new(seed)) },
    Row { name: "ql", tail: Tail::OnceHot, build: |seed, _, _| Box::new(Ql::new(seed)) },
    Row {
        name: "round-robin",
        tail: Tail::Always,
        build: |seed, _, _| Box::new(RoundRobin::new(seed)),
    },
    Row { name: "dfs", tail: Tail::Never, build: |_, _, _| Box::new(Dfs::default()) },
    Row {
        name: "irs",
        tail: Tail::Never,
        build: |seed, _, max_steps| Box::new(Irs::new(seed, max_steps)),
    },
    Row { name: "urw", tail: Tail::Always, build: |seed, _, _| Box::new(Urw::new(seed)) },
    Row {
        name: "tapct",
        tail: Tail::Always,
        build: |seed, changes, _| Box::new(TaPct::new(seed, changes)),
    },
    Row { name: "period", tail: Tail::Always, build: |seed, _, _| Box::new(Period::new(seed)) },
    Row {
        name: "ql-b",
        tail: Tail::OnceHot,
        build: |seed, _, _| Box::new(Ql::new(seed).rewarded(Reward::Flat)),
    },
    Row {
        name: "ql-i",
        tail: Tail::OnceHot,
        build: |seed, _, _| Box::new(Ql::new(seed).observing(Observe::Inboxes)),
    },
    Row {
        name: "ql-c",
        tail: Tail::OnceHot,
        build: |seed, _, _| Box::new(Ql::new(seed).observing(Observe::Custom)),
    },
    Row {
        name: "ql-ndn",
        tail: Tail::OnceHot,
        build: |seed, _, _| Box::new(Ql::new(seed).values_at_random()),
    },
    Row { name: "greedy", tail: Tail::OnceHot, build: |seed, _, _| Box::new(Greedy::new(seed)) },
    Row { name: "idb", tail: Tail::OnceHot, build: |seed, _, _| Box::new(Idb::new(seed)) },
    Row {
        name: "bonus-max",
        tail: Tail::OnceHot,
        build: |seed, _, _| Box::new(BonusMax::new(seed)),
    },
];

impl StrategyKind {
    /// All of them, those for everyday use first.
    pub fn all() -> impl Iterator<Item = StrategyKind> {
        STRATEGIES.all.iter().map(|name| StrategyKind::listed(name.name))
    }

    /// The members of the portfolio: of those measured, each is the best by far for some of the
    /// planted bugs.
    pub fn portfolio() -> [StrategyKind; 5] {
        ["random", "pctcp", "pos", "surw", "ql"].map(StrategyKind::listed)
    }

    /// The strategy itself. Those that are not fair become random after two fifths of `max_steps`,
    /// and those that learn do so only where a monitor is hot then.
    pub fn build(&self, seed: u64, max_steps: usize) -> Box<dyn Strategy> {
        let row = &ROWS[self.place];
        let inner = (row.build)(seed, self.changes, max_steps);
        let unfair = max_steps / 5 * 2;
        match row.tail {
            Tail::Never => inner,
            Tail::Always => Box::new(Fair::new(inner, unfair, seed)),
            Tail::OnceHot => Box::new(Fair::new(inner, unfair, seed).once_hot()),
        }
    }

    /// One of the table, which has this name.
    fn listed(name: &str) -> StrategyKind {
        name.parse().unwrap_or_default()
    }
}

/// The portfolio.
impl Default for StrategyKind {
    fn default() -> StrategyKind {
        StrategyKind { place: 0, changes: 3 }
    }
}

impl fmt::Debug for StrategyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text that [`FromStr`] reads back.
impl fmt::Display for StrategyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = ROWS[self.place].name;
        if STRATEGIES.all[self.place].parameter {
            f.pad(&format!("{name}:{}", self.changes))
        } else {
            f.pad(name)
        }
    }
}

impl FromStr for StrategyKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<StrategyKind, UnknownName> {
        let (place, changes) = parse_strategy(text)?;
        Ok(StrategyKind { place, changes })
    }
}

/// What can be given where a strategy is wanted: the name of a bundled one, or one's own.
pub trait IntoStrategy {
    /// The strategy; an error if there is none of that name.
    fn into_strategy(self) -> Result<ChosenStrategy, UnknownName>;
}

/// A strategy by its name, or one's own.
pub enum ChosenStrategy {
    /// A bundled one, which is built when seed and step bound are known.
    Bundled(StrategyKind),
    /// One's own. It is used as it is: it becomes fair only if it says so, see [`Fair`].
    Own(Box<dyn Strategy>),
}

impl IntoStrategy for &str {
    fn into_strategy(self) -> Result<ChosenStrategy, UnknownName> {
        self.parse().map(ChosenStrategy::Bundled)
    }
}

impl<S: Strategy + 'static> IntoStrategy for S {
    fn into_strategy(self) -> Result<ChosenStrategy, UnknownName> {
        Ok(ChosenStrategy::Own(Box::new(self)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_built_and_written_back() {
        assert_eq!(ROWS.each_ref().map(|row| row.name), STRATEGIES.array());
        for kind in StrategyKind::all() {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert_eq!(StrategyKind::default(), "portfolio".parse().unwrap());
    }

    #[test]
    fn those_for_everyday_use_come_first() {
        assert!(STRATEGIES.all.is_sorted_by_key(|name| name.research));
        let members = StrategyKind::portfolio().map(|kind| kind.to_string());
        assert_eq!(members, ["random", "pctcp:3", "pos", "surw", "ql"]);
    }

    #[test]
    fn a_name_that_is_unknown_gets_the_list_and_a_guess() {
        let message = |text: &str| text.parse::<StrategyKind>().unwrap_err().to_string();
        insta::assert_snapshot!(message("radnom"), @"no strategy `radnom`: did you mean `random`? There are portfolio, random, pct, pctcp, pos, surw, ql, round-robin, dfs, and for comparisons irs, urw, tapct, period, ql-b, ql-i, ql-c, ql-ndn, greedy, idb, bonus-max (pct, pctcp, tapct also as `pct:10`)");
        let guess = |text: &str| message(text).split(" There are").next().unwrap().to_owned();
        insta::assert_snapshot!(guess("Round_Robin"), @"no strategy `Round_Robin`: did you mean `round-robin`?");
        insta::assert_snapshot!(guess("genetic"), @"no strategy `genetic`.");
        insta::assert_snapshot!(guess(""), @"no strategy ``.");
        insta::assert_snapshot!(guess("random:3"), @"no strategy `random:3`: did you mean `random`?");
        insta::assert_snapshot!(message("pct:0"), @"`0` is no number of change points for pct: give one from 1 to 1000, as in `pct:3`");
        insta::assert_snapshot!(message("tapct:many"), @"`many` is no number of change points for tapct: give one from 1 to 1000, as in `tapct:3`");
    }

    #[test]
    fn built_strategies_say_what_they_are() {
        let names = StrategyKind::all().map(|kind| kind.build(0, 1_000).name());
        insta::assert_snapshot!(names.collect::<Vec<_>>().join("\n"), @r#"
        portfolio(random, pctcp(3), pos, surw, ql)
        random
        pct(3)
        pctcp(3)
        pos
        surw
        ql
        round-robin
        dfs
        irs
        urw
        tapct(3)
        period
        ql-b
        ql-i
        ql-c
        ql-ndn
        greedy
        idb
        bonus-max
        "#);
    }
}
