//! The bundled strategies by name.

use std::fmt;
use std::str::FromStr;

use dally_core::Observe;
use dally_core::words::nearest;

use crate::learning::{BonusMax, Greedy, Idb, Ql, Reward};
use crate::sampling::{
    Dfs, Fair, Irs, Pct, Pctcp, Period, Portfolio, Pos, Random, RoundRobin, Surw, TaPct, Urw,
};
use crate::strategy::Strategy;

/// A bundled strategy, as options and the command line name it.
///
/// ```
/// use dally_search::StrategyKind;
///
/// assert_eq!("pct:10".parse(), Ok(StrategyKind::Pct { d: 10 }));
/// assert_eq!("pct".parse(), Ok(StrategyKind::Pct { d: 3 }));
/// assert!("ptc".parse::<StrategyKind>().unwrap_err().to_string().contains("did you mean `pct`?"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StrategyKind {
    /// Uniform among the enabled workers: [`Random`].
    Random,
    /// Random priorities with `d` change points: [`Pct`], made fair.
    Pct {
        /// The number of change points, at least 1.
        d: u32,
    },
    /// Exhaustive, depth first: [`Dfs`].
    Dfs,
    /// Workers in turn: [`RoundRobin`], made fair.
    RoundRobin,
    /// Random with iterative depth bounding: [`Irs`].
    Irs,
    /// Several of these that share the schedules: [`Portfolio`].
    #[default]
    Portfolio,
    /// Partial order sampling: [`Pos`], made fair.
    Pos,
    /// Uniform over interleavings: [`Urw`], made fair.
    Urw,
    /// Uniform over the interleavings of one shared thing: [`Surw`], made fair.
    Surw,
    /// Priorities for chains of messages: [`Pctcp`], made fair.
    Pctcp {
        /// The number of steps at which priorities change, at least 1.
        d: u32,
    },
    /// The same with changes at races only: [`TaPct`], made fair.
    TaPct {
        /// The number of steps at which priorities change, at least 1.
        d: u32,
    },
    /// Splits of key points over serial periods: [`Period`], made fair.
    Period,
    /// Learns to go where it has not been: [`Ql`].
    Ql(QlVariant),
    /// Steps to where it has been least: [`Greedy`].
    Greedy,
    /// Iterative delay bounding: [`Idb`].
    Idb,
    /// Learns what is new far ahead: [`BonusMax`].
    BonusMax,
}

/// A variant of [`Ql`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QlVariant {
    /// All optimisations, observing [`Observe::Control`].
    Default,
    /// The reward is always -1.
    Basic,
    /// Observing [`Observe::Inboxes`].
    Inboxes,
    /// Observing [`Observe::Custom`].
    Custom,
    /// Values are random.
    Unvalued,
}

impl QlVariant {
    fn build(self, seed: u64) -> Ql {
        let ql = Ql::new(seed);
        match self {
            QlVariant::Default => ql,
            QlVariant::Basic => ql.rewarded(Reward::Flat),
            QlVariant::Inboxes => ql.observing(Observe::Inboxes),
            QlVariant::Custom => ql.observing(Observe::Custom),
            QlVariant::Unvalued => ql.values_at_random(),
        }
    }
}

impl StrategyKind {
    /// The names that can be given; those with a parameter also as in `pct:10`.
    pub const NAMES: [&'static str; 20] = [
        "random",
        "pct",
        "dfs",
        "round-robin",
        "irs",
        "portfolio",
        "pos",
        "urw",
        "surw",
        "pctcp",
        "tapct",
        "period",
        "ql",
        "ql-b",
        "ql-i",
        "ql-c",
        "ql-ndn",
        "greedy",
        "idb",
        "bonus-max",
    ];

    /// The members of the portfolio: of those measured, each is the best by far for some of the
    /// planted bugs.
    pub const PORTFOLIO: [StrategyKind; 5] = [
        StrategyKind::Random,
        StrategyKind::Pctcp { d: 3 },
        StrategyKind::Pos,
        StrategyKind::Surw,
        StrategyKind::Ql(QlVariant::Default),
    ];

    /// The strategy itself. Strategies that are not fair become random after two fifths of
    /// `max_steps`: the tail is then longer than the default temperature, half of the step
    /// bound, so that a monitor that stays hot is found under them too. Those that learn do so
    /// only where a monitor is hot.
    pub fn build(&self, seed: u64, max_steps: usize) -> Box<dyn Strategy> {
        let fair = |unfair: Box<dyn Strategy>| -> Box<dyn Strategy> {
            Box::new(Fair::new(unfair, max_steps / 5 * 2, seed))
        };
        // Strategies that learn have a use for long schedules.
        let once_hot = |inner| Box::new(Fair::new(inner, max_steps / 5 * 2, seed).once_hot());
        match *self {
            StrategyKind::Random => Box::new(Random::new(seed)),
            StrategyKind::Pct { d } => fair(Box::new(Pct::new(seed, d))),
            StrategyKind::Dfs => Box::new(Dfs::default()),
            StrategyKind::RoundRobin => fair(Box::new(RoundRobin::new(seed))),
            StrategyKind::Irs => Box::new(Irs::new(seed, max_steps)),
            StrategyKind::Ql(variant) => once_hot(Box::new(variant.build(seed))),
            StrategyKind::Greedy => once_hot(Box::new(Greedy::new(seed))),
            StrategyKind::Idb => once_hot(Box::new(Idb::new(seed))),
            StrategyKind::BonusMax => once_hot(Box::new(BonusMax::new(seed))),
            StrategyKind::Portfolio => {
                let members =
                    StrategyKind::PORTFOLIO.iter().map(|kind| kind.build(seed, max_steps));
                Box::new(Portfolio::new(members.collect()))
            }
            StrategyKind::Pos => fair(Box::new(Pos::new(seed))),
            StrategyKind::Urw => fair(Box::new(Urw::new(seed))),
            StrategyKind::Surw => fair(Box::new(Surw::new(seed))),
            StrategyKind::Pctcp { d } => fair(Box::new(Pctcp::new(seed, d))),
            StrategyKind::TaPct { d } => fair(Box::new(TaPct::new(seed, d))),
            StrategyKind::Period => fair(Box::new(Period::new(seed))),
        }
    }
}

/// The text that [`FromStr`] reads back.
impl fmt::Display for StrategyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StrategyKind::Random => f.pad("random"),
            StrategyKind::Pct { d } => f.pad(&format!("pct:{d}")),
            StrategyKind::Dfs => f.pad("dfs"),
            StrategyKind::RoundRobin => f.pad("round-robin"),
            StrategyKind::Irs => f.pad("irs"),
            StrategyKind::Portfolio => f.pad("portfolio"),
            StrategyKind::Pos => f.pad("pos"),
            StrategyKind::Urw => f.pad("urw"),
            StrategyKind::Surw => f.pad("surw"),
            StrategyKind::Pctcp { d } => f.pad(&format!("pctcp:{d}")),
            StrategyKind::TaPct { d } => f.pad(&format!("tapct:{d}")),
            StrategyKind::Period => f.pad("period"),
            StrategyKind::Ql(QlVariant::Default) => f.pad("ql"),
            StrategyKind::Ql(QlVariant::Basic) => f.pad("ql-b"),
            StrategyKind::Ql(QlVariant::Inboxes) => f.pad("ql-i"),
            StrategyKind::Ql(QlVariant::Custom) => f.pad("ql-c"),
            StrategyKind::Ql(QlVariant::Unvalued) => f.pad("ql-ndn"),
            StrategyKind::Greedy => f.pad("greedy"),
            StrategyKind::Idb => f.pad("idb"),
            StrategyKind::BonusMax => f.pad("bonus-max"),
        }
    }
}

impl FromStr for StrategyKind {
    type Err = UnknownStrategy;

    fn from_str(text: &str) -> Result<StrategyKind, UnknownStrategy> {
        let unknown = || UnknownStrategy { text: text.to_owned() };
        let (name, d) = match text.split_once(':') {
            Some((name, d)) if PARAMETRISED.contains(&name) => {
                let d = d.parse().ok().filter(|d| (1..=1_000).contains(d));
                (name, d.ok_or_else(unknown)?)
            }
            _ => (text, 3),
        };
        Ok(match name {
            "random" => StrategyKind::Random,
            "pct" => StrategyKind::Pct { d },
            "dfs" => StrategyKind::Dfs,
            "round-robin" => StrategyKind::RoundRobin,
            "irs" => StrategyKind::Irs,
            "portfolio" => StrategyKind::Portfolio,
            "pos" => StrategyKind::Pos,
            "urw" => StrategyKind::Urw,
            "surw" => StrategyKind::Surw,
            "pctcp" => StrategyKind::Pctcp { d },
            "tapct" => StrategyKind::TaPct { d },
            "period" => StrategyKind::Period,
            "ql" => StrategyKind::Ql(QlVariant::Default),
            "ql-b" => StrategyKind::Ql(QlVariant::Basic),
            "ql-i" => StrategyKind::Ql(QlVariant::Inboxes),
            "ql-c" => StrategyKind::Ql(QlVariant::Custom),
            "ql-ndn" => StrategyKind::Ql(QlVariant::Unvalued),
            "greedy" => StrategyKind::Greedy,
            "idb" => StrategyKind::Idb,
            "bonus-max" => StrategyKind::BonusMax,
            _ => return Err(unknown()),
        })
    }
}

/// The strategies with a number of change points.
const PARAMETRISED: [&str; 3] = ["pct", "pctcp", "tapct"];

/// A text names no strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownStrategy {
    /// The text.
    pub text: String,
}

impl fmt::Display for UnknownStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, d)) = self.text.split_once(':')
            && PARAMETRISED.contains(&name)
        {
            return write!(
                f,
                "`{d}` is no number of change points for {name}: give one from 1 to 1000, as in \
                 `{name}:3`"
            );
        }
        write!(f, "no strategy `{}`", self.text)?;
        match nearest(&self.text, StrategyKind::NAMES) {
            Some(near) => write!(f, ": did you mean `{near}`? ")?,
            None => f.write_str(". ")?,
        }
        let names = StrategyKind::NAMES.join(", ");
        write!(f, "There are {names} ({} also as `pct:10`)", PARAMETRISED.join(", "))
    }
}

impl std::error::Error for UnknownStrategy {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_and_written_back() {
        for name in StrategyKind::NAMES {
            let kind: StrategyKind = name.parse().unwrap();
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
    }

    #[test]
    fn a_name_that_is_unknown_gets_the_list_and_a_guess() {
        let message = |text: &str| text.parse::<StrategyKind>().unwrap_err().to_string();
        insta::assert_snapshot!(message("radnom"), @"no strategy `radnom`: did you mean `random`? There are random, pct, dfs, round-robin, irs, portfolio, pos, urw, surw, pctcp, tapct, period, ql, ql-b, ql-i, ql-c, ql-ndn, greedy, idb, bonus-max (pct, pctcp, tapct also as `pct:10`)");
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
        let names = StrategyKind::NAMES
            .map(|name| name.parse::<StrategyKind>().unwrap().build(0, 1_000).name());
        insta::assert_snapshot!(names.join("\n"), @r#"
        random
        pct(3)
        dfs
        round-robin
        irs
        portfolio(random, pctcp(3), pos, surw, ql)
        pos
        urw
        surw
        pctcp(3)
        tapct(3)
        period
        ql
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
