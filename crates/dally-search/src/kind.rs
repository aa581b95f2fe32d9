//! The bundled strategies by name: one table, which options, help and messages read.

use std::fmt;
use std::str::FromStr;

use dally_core::Observe;
use dally_core::words::nearest;

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
/// # Ok::<(), dally_search::UnknownStrategy>(())
/// ```
#[derive(Clone, Copy)]
pub struct StrategyKind {
    row: &'static StrategyRow,
    /// The number of change points, at least 1, where the strategy has some.
    changes: u32,
}

/// What is known of a bundled strategy before it is built.
#[derive(Debug)]
pub struct StrategyRow {
    /// Its name.
    pub name: &'static str,
    /// Whether a number of change points can be given, as in `pct:10`.
    pub changes: bool,
    /// Whether it is there for comparisons: see [`research`](crate::research).
    pub research: bool,
    /// How it picks and what for, in a line or two.
    pub help: &'static str,
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

const fn row(
    name: &'static str,
    tail: Tail,
    build: fn(u64, u32, usize) -> Box<dyn Strategy>,
    help: &'static str,
) -> StrategyRow {
    StrategyRow { name, changes: false, research: false, help, tail, build }
}

impl StrategyRow {
    const fn with_changes(self) -> StrategyRow {
        StrategyRow { changes: true, ..self }
    }

    const fn for_research(self) -> StrategyRow {
        StrategyRow { research: true, ..self }
    }
}

/// The number of change points unless one is given.
const CHANGES: u32 = 3;

static ROWS: [StrategyRow; 20] = [
    row(
        "portfolio",
        Tail::Never,
        |seed, _, max_steps| {
            let members = StrategyKind::portfolio().map(|kind| kind.build(seed, max_steps));
            Box::new(Portfolio::new(members.into()))
        },
        "random, pctcp, pos, surw and ql share the schedules; for unknown bugs.",
    ),
    row(
        "random",
        Tail::Never,
        |seed, _, _| Box::new(Random::new(seed)),
        "uniform among the workers that can step.",
    ),
    row(
        "pct",
        Tail::Always,
        |seed, changes, _| Box::new(Pct::new(seed, changes)),
        "random priorities with that many change points; for bugs that need few,\n\
         far-apart reorderings.",
    )
    .with_changes(),
    row(
        "pctcp",
        Tail::Always,
        |seed, changes, _| Box::new(Pctcp::new(seed, changes)),
        "pct for chains of messages; where many workers do little each.",
    )
    .with_changes(),
    row(
        "pos",
        Tail::Always,
        |seed, _, _| Box::new(Pos::new(seed)),
        "random priorities for steps, drawn again where steps race.",
    ),
    row(
        "surw",
        Tail::Always,
        |seed, _, _| Box::new(Surw::new(seed)),
        "uniform over the interleavings of one inbox, lock or object at a time.",
    ),
    row(
        "ql",
        Tail::OnceHot,
        |seed, _, _| Box::new(Ql::new(seed)),
        "learns from what it observes (inboxes, states and pending operations) to go where it has\n\
         not been; for bugs behind long sequences of choices.",
    ),
    row(
        "round-robin",
        Tail::Always,
        |seed, _, _| Box::new(RoundRobin::new(seed)),
        "workers take turns.",
    ),
    row(
        "dfs",
        Tail::Never,
        |_, _, _| Box::new(Dfs::default()),
        "every schedule once, exhaustive on small programs.",
    ),
    row(
        "irs",
        Tail::Never,
        |seed, _, max_steps| Box::new(Irs::new(seed, max_steps)),
        "random with an iteratively growing depth bound; for bugs near the start.",
    )
    .for_research(),
    row(
        "urw",
        Tail::Always,
        |seed, _, _| Box::new(Urw::new(seed)),
        "uniform over interleavings, by what each worker has left to do.",
    )
    .for_research(),
    row(
        "tapct",
        Tail::Always,
        |seed, changes, _| Box::new(TaPct::new(seed, changes)),
        "pctcp with change points at races only.",
    )
    .with_changes()
    .for_research(),
    row(
        "period",
        Tail::Always,
        |seed, _, _| Box::new(Period::new(seed)),
        "serial periods; enumerates who goes how far in each.",
    )
    .for_research(),
    row(
        "ql-b",
        Tail::OnceHot,
        |seed, _, _| Box::new(Ql::new(seed).rewarded(Reward::Flat)),
        "ql with a flat reward.",
    )
    .for_research(),
    row(
        "ql-i",
        Tail::OnceHot,
        |seed, _, _| Box::new(Ql::new(seed).observing(Observe::Inboxes)),
        "ql that observes inboxes alone.",
    )
    .for_research(),
    row(
        "ql-c",
        Tail::OnceHot,
        |seed, _, _| Box::new(Ql::new(seed).observing(Observe::Custom)),
        "ql that observes inboxes and what the program shows.",
    )
    .for_research(),
    row(
        "ql-ndn",
        Tail::OnceHot,
        |seed, _, _| Box::new(Ql::new(seed).values_at_random()),
        "ql that draws values.",
    )
    .for_research(),
    row(
        "greedy",
        Tail::OnceHot,
        |seed, _, _| Box::new(Greedy::new(seed)),
        "steps to what it has observed least often.",
    )
    .for_research(),
    row(
        "idb",
        Tail::OnceHot,
        |seed, _, _| Box::new(Idb::new(seed)),
        "one worker at a time, with a growing number of random delays.",
    )
    .for_research(),
    row(
        "bonus-max",
        Tail::OnceHot,
        |seed, _, _| Box::new(BonusMax::new(seed)),
        "learns like ql, from how new the best of what follows is.",
    )
    .for_research(),
];

impl StrategyKind {
    /// All of them, those for everyday use first.
    pub fn all() -> &'static [StrategyRow] {
        &ROWS
    }

    /// The members of the portfolio: of those measured, each is the best by far for some of the
    /// planted bugs.
    pub fn portfolio() -> [StrategyKind; 5] {
        ["random", "pctcp", "pos", "surw", "ql"].map(StrategyKind::listed)
    }

    /// What the table says of it.
    pub fn row(&self) -> &'static StrategyRow {
        self.row
    }

    /// The strategy itself. Those that are not fair become random after two fifths of `max_steps`,
    /// and those that learn do so only where a monitor is hot then.
    pub fn build(&self, seed: u64, max_steps: usize) -> Box<dyn Strategy> {
        let inner = (self.row.build)(seed, self.changes, max_steps);
        let unfair = max_steps / 5 * 2;
        match self.row.tail {
            Tail::Never => inner,
            Tail::Always => Box::new(Fair::new(inner, unfair, seed)),
            Tail::OnceHot => Box::new(Fair::new(inner, unfair, seed).once_hot()),
        }
    }

    /// Every strategy with what it does, a paragraph each, as help texts show it.
    pub fn help() -> String {
        let paragraphs = |research| {
            let rows = ROWS.iter().filter(move |row| row.research == research);
            rows.map(|StrategyRow { name, changes, help, .. }| match changes {
                true => format!("{name}, {name}:CHANGES: {help}\n"),
                false => format!("{name}: {help}\n"),
            })
            .collect::<String>()
        };
        format!("{}For comparisons:\n{}", paragraphs(false), paragraphs(true))
    }

    /// One of the table, which has this name.
    fn listed(name: &str) -> StrategyKind {
        let row = ROWS.iter().find(|row| row.name == name).unwrap_or(&ROWS[0]);
        StrategyKind { row, changes: CHANGES }
    }
}

/// The portfolio.
impl Default for StrategyKind {
    fn default() -> StrategyKind {
        StrategyKind { row: &ROWS[0], changes: CHANGES }
    }
}

impl PartialEq for StrategyKind {
    fn eq(&self, other: &StrategyKind) -> bool {
        (self.row.name, self.changes) == (other.row.name, other.changes)
    }
}

impl Eq for StrategyKind {}

impl fmt::Debug for StrategyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text that [`FromStr`] reads back.
impl fmt::Display for StrategyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            StrategyRow { name, changes: true, .. } => f.pad(&format!("{name}:{}", self.changes)),
            StrategyRow { name, .. } => f.pad(name),
        }
    }
}

impl FromStr for StrategyKind {
    type Err = UnknownStrategy;

    fn from_str(text: &str) -> Result<StrategyKind, UnknownStrategy> {
        let unknown = || UnknownStrategy { text: text.to_owned() };
        let (name, changes) =
            text.split_once(':').map_or((text, None), |(name, d)| (name, Some(d)));
        let row = ROWS.iter().find(|row| row.name == name && (row.changes || changes.is_none()));
        let row = row.ok_or_else(unknown)?;
        let changes = changes.map_or(Some(CHANGES), |changes| {
            changes.parse().ok().filter(|changes| (1..=1_000).contains(changes))
        });
        Ok(StrategyKind { row, changes: changes.ok_or_else(unknown)? })
    }
}

/// A text names no strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownStrategy {
    /// The text.
    pub text: String,
}

impl fmt::Display for UnknownStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |wanted: &dyn Fn(&StrategyRow) -> bool| {
            let rows = ROWS.iter().filter(|row| wanted(row));
            rows.map(|row| row.name).collect::<Vec<_>>().join(", ")
        };
        if let Some((name, changes)) = self.text.split_once(':')
            && ROWS.iter().any(|row| row.name == name && row.changes)
        {
            return write!(
                f,
                "`{changes}` is no number of change points for {name}: give one from 1 to 1000, as \
                 in `{name}:3`"
            );
        }
        write!(f, "no strategy `{}`", self.text)?;
        match nearest(&self.text, ROWS.iter().map(|row| row.name)) {
            Some(near) => write!(f, ": did you mean `{near}`? ")?,
            None => f.write_str(". ")?,
        }
        let (everyday, research) = (names(&|row| !row.research), names(&|row| row.research));
        write!(f, "There are {everyday}, and for comparisons {research} ")?;
        write!(f, "({} also as `pct:10`)", names(&|row| row.changes))
    }
}

impl std::error::Error for UnknownStrategy {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_and_written_back() {
        for row in &ROWS {
            let kind: StrategyKind = row.name.parse().unwrap();
            assert_eq!(kind.row().name, row.name);
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert_eq!(StrategyKind::default().to_string(), "portfolio");
    }

    #[test]
    fn those_for_everyday_use_come_first() {
        assert!(ROWS.is_sorted_by_key(|row| row.research));
        let members = StrategyKind::portfolio().map(|kind| kind.to_string());
        assert_eq!(members, ["random", "pctcp:3", "pos", "surw", "ql"]);
    }

    #[test]
    fn help_has_a_paragraph_for_each() {
        insta::assert_snapshot!(StrategyKind::help(), @r"
        portfolio: random, pctcp, pos, surw and ql share the schedules; for unknown bugs.
        random: uniform among the workers that can step.
        pct, pct:CHANGES: random priorities with that many change points; for bugs that need few,
        far-apart reorderings.
        pctcp, pctcp:CHANGES: pct for chains of messages; where many workers do little each.
        pos: random priorities for steps, drawn again where steps race.
        surw: uniform over the interleavings of one inbox, lock or object at a time.
        ql: learns from what it observes (inboxes, states and pending operations) to go where it has
        not been; for bugs behind long sequences of choices.
        round-robin: workers take turns.
        dfs: every schedule once, exhaustive on small programs.
        For comparisons:
        irs: random with an iteratively growing depth bound; for bugs near the start.
        urw: uniform over interleavings, by what each worker has left to do.
        tapct, tapct:CHANGES: pctcp with change points at races only.
        period: serial periods; enumerates who goes how far in each.
        ql-b: ql with a flat reward.
        ql-i: ql that observes inboxes alone.
        ql-c: ql that observes inboxes and what the program shows.
        ql-ndn: ql that draws values.
        greedy: steps to what it has observed least often.
        idb: one worker at a time, with a growing number of random delays.
        bonus-max: learns like ql, from how new the best of what follows is.
        ");
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
        let names = ROWS.iter().map(|row| StrategyKind::listed(row.name).build(0, 1_000).name());
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
