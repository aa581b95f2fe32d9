//! The bundled strategies by name. `dally-settings` has the names with their descriptions.

use std::fmt;
use std::str::FromStr;

use dally_core::Observe;
use dally_settings::{STRATEGIES, UnknownName, parse_strategy};

use crate::learning::{Learning, Ql, Reward};
use crate::research::{BonusMax, Greedy, Idb, Irs, Period, TaPct, Urw};
use crate::sampling::{Dfs, Fair, Pct, Pctcp, Portfolio, Pos, Random, RoundRobin, Sampler, Surw};
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
    /// The place in [`STRATEGIES`].
    place: usize,
    /// The number of change points, at least 1, for strategies that have some.
    changes: u32,
}

/// Whether a strategy becomes random after two fifths of the step bound. The tail is then longer
/// than the default temperature, half of the step bound, so a monitor that stays hot is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RandomTail {
    /// The strategy is fair, or enumerates.
    Never,
    Always,
    /// Only where a monitor is hot then: a strategy that learns can use long schedules.
    OnceHot,
}

impl StrategyKind {
    /// All of them, those for everyday use first.
    pub fn all() -> impl Iterator<Item = StrategyKind> {
        STRATEGIES.all.iter().map(|name| StrategyKind::listed(name.name))
    }

    /// The members of the portfolio: each is by far the best for some of the planted bugs.
    pub fn portfolio() -> [StrategyKind; 5] {
        ["random", "pctcp", "pos", "surw", "ql"].map(StrategyKind::listed)
    }

    /// Whether it is the portfolio, and not one strategy.
    pub fn is_portfolio(&self) -> bool {
        STRATEGIES.all[self.place].name == "portfolio"
    }

    /// The strategy itself. Those that are not fair become random after two fifths of `max_steps`;
    /// those that learn, only where a monitor is hot then.
    pub fn build(&self, seed: u64, max_steps: usize) -> Box<dyn Strategy> {
        let (tail, inner) = self.rule(seed, max_steps);
        let unfair = max_steps / 5 * 2;
        match tail {
            RandomTail::Never => inner,
            RandomTail::Always => Box::new(Fair::new(inner, unfair, seed)),
            RandomTail::OnceHot => Box::new(Fair::new(inner, unfair, seed).once_hot()),
        }
    }

    /// The strategy without its random tail, and which tail it is to have.
    fn rule(&self, seed: u64, max_steps: usize) -> (RandomTail, Box<dyn Strategy>) {
        fn drawn(
            tail: RandomTail,
            seed: u64,
            sampler: impl Sampler,
        ) -> (RandomTail, Box<dyn Strategy>) {
            (tail, Box::new(sampler.seeded(seed)))
        }
        let (ql, d) = (Ql::default(), self.changes);
        let learning = |rule| drawn(RandomTail::OnceHot, seed, Learning::by(rule));
        match STRATEGIES.all[self.place].name {
            "random" => drawn(RandomTail::Never, seed, Random),
            "pct" => drawn(RandomTail::Always, seed, Pct::new(d)),
            "pctcp" => drawn(RandomTail::Always, seed, Pctcp::new(d)),
            "pos" => drawn(RandomTail::Always, seed, Pos::default()),
            "surw" => drawn(RandomTail::Always, seed, Surw::default()),
            "ql" => learning(ql),
            "round-robin" => drawn(RandomTail::Always, seed, RoundRobin::default()),
            "dfs" => (RandomTail::Never, Box::<Dfs>::default()),
            "irs" => drawn(RandomTail::Never, seed, Irs::new(max_steps)),
            "urw" => drawn(RandomTail::Always, seed, Urw::default()),
            "tapct" => drawn(RandomTail::Always, seed, TaPct::new(d)),
            "period" => drawn(RandomTail::Always, seed, Period::default()),
            "ql-b" => learning(Ql { reward: Reward::Flat, ..ql }),
            "ql-i" => learning(Ql { observes: Observe::Inboxes, ..ql }),
            "ql-c" => learning(Ql { observes: Observe::Custom, ..ql }),
            "ql-ndn" => learning(Ql { values: false, ..ql }),
            "greedy" => drawn(RandomTail::OnceHot, seed, Greedy::default()),
            "idb" => drawn(RandomTail::OnceHot, seed, Idb::default()),
            "bonus-max" => drawn(RandomTail::OnceHot, seed, Learning::by(BonusMax)),
            // A test checks that only the portfolio gets here.
            _ => {
                let members = StrategyKind::portfolio().map(|kind| kind.build(seed, max_steps));
                (RandomTail::Never, Box::new(Portfolio::new(members.into())))
            }
        }
    }

    fn listed(name: &str) -> StrategyKind {
        name.parse().unwrap_or_default()
    }
}

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

impl fmt::Display for StrategyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = &STRATEGIES.all[self.place];
        if listed.parameter {
            f.pad(&format!("{}:{}", listed.name, self.changes))
        } else {
            f.pad(listed.name)
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
