//! The table of settings.

use crate::{
    CACHES, CLOCKS, EXPLORERS, FAIRNESS, FORMATS, Group, INPUTS, ISOLATION, Kind, POINTS,
    REDUCTIONS, SEARCHES, Setting, TASK_PANICS, TIMERS,
};

/// Passes the table to a macro: a row is `/// text`, then the group, the name and the type of the
/// value, then the default if there is one, and `nonzero` if 0 is refused.
///
/// The table is a macro because fields and methods are made of it. The types of values must be in
/// scope where it is called.
#[macro_export]
macro_rules! with_settings {
    ($then:ident) => {
        $then! {
            /// Who picks the choices of schedules.
            Choices strategy: StrategyKind = "portfolio";

            /// Where random choices start from: same seed, same run.
            Choices seed: u64 = "0";

            /// The file that a strategy goes on learning from, if it is there, and writes what it
            /// has learnt to: for ql and its variants.
            Choices learned: PathBuf;

            /// How many schedules to run.
            ///
            /// If this is not given, as many as fit into `time`; without that 1,000 of a test and
            /// 10,000 on the command line.
            ///
            /// Of the searches only ss and hybrid run schedules, and concolic unless its inputs are
            /// depth-first.
            Bounds schedules: u64, nonzero;

            /// How long to run; with `schedules`, whichever comes first.
            ///
            /// What is found is still replayed and written when the time is up; the first finding is
            /// made small for at most a quarter of the time more.
            ///
            /// Each test of a P project has so much.
            Bounds time: Duration, nonzero;

            /// How many steps a schedule may have; values that are chosen count too.
            ///
            /// A fair schedule goes on beyond it while a monitor stays hot, up to `max_fair_steps`. The
            /// bundled protocols have defaults of their own.
            Bounds max_steps: usize = "10000", nonzero;

            /// How many steps a fair schedule may have while a monitor stays hot.
            ///
            /// If this is not given, `max_steps`, and ten times that in a P project. To confirm that a
            /// monitor is too hot may take more: see `confirm_temperature`.
            Bounds max_fair_steps: usize, nonzero;

            /// How many values and events one step may have.
            ///
            /// If this is not given, 10,000, and 200,000 in a P project. There a step that has more of
            /// them ends the schedule; elsewhere it is a bug.
            Bounds step_bound: u32, nonzero;

            /// How many threads run schedules or search.
            ///
            /// The report of schedules does not depend on it, nor does the set of states that an
            /// exhausted search visits. The searches ndfs, iterative-ndfs, dpor and
            /// concolic use one.
            Bounds threads: usize = "1", nonzero;

            /// How many steps in a row a monitor may stay hot while the schedule is fair; half of
            /// `max_fair_steps` if this is not given.
            ///
            /// In a P project it may stay hot for longer, unless this is given, while many messages
            /// wait to be handled.
            Bugs temperature: usize;

            /// How many times as long a monitor that is too hot has to go on being hot, whichever way chance
            /// goes on, before that is reported; 16 times in a P project and otherwise not at all, if this
            /// is not given.
            Bugs confirm_temperature: u32;

            /// Which loops count as livelocks while a monitor is hot.
            ///
            /// Schedules of a strategy are judged by strong even if this is weak. `dally check` of a P
            /// project has the default strong.
            Bugs fairness: Fairness = "weak";

            /// Whether a schedule that reaches `max_steps` is a bug.
            Bugs fail_on_max_steps: bool = "false";

            /// Where the schedules of a test run: all in one process, or each in a process of its own.
            ///
            /// In a process of its own a schedule finds the statics and the thread locals of the program as they are at
            /// the start, whatever others have left there. It takes some milliseconds more, and what is found is repeated
            /// and not made smaller. One process runs at a time, whatever `threads` says, and `learned` is not read. Only
            /// tests can do it, and only with schedules of a strategy.
            Bugs isolate: Isolate = "none";

            /// How long one step may take before it counts as blocking its thread.
            Bugs step_time: Duration = "10s", nonzero;

            /// Whether to go on after the first bug, and to group what is found by cause.
            Findings keep_going: bool = "false";

            /// Whether to make a failing schedule small before it is shown.
            Findings shrink: bool = "true";

            /// Whether to write a page beside the schedule of a finding: one HTML file with a diagram.
            Findings page: bool = "true";

            /// Whether a test keeps the schedules that it fails under in `dally-regressions` of its package, and
            /// runs those first.
            ///
            /// Tests of `dally test` that stand in for tokio keep none, nor do tests that should fail.
            Findings regressions: bool = "true";

            /// In which form a test tells what was checked, besides its text.
            ///
            /// Annotations of github are printed; the others are files in the directory of findings, one
            /// for each test. `dally check` takes `--format` and prints them.
            Findings format: OutputFormat = "text";

            /// What the JSON of a finding tells of the order of its steps.
            Findings clocks: Clocks = "shared";

            /// The directory that findings are written to.
            ///
            /// If this is not given, `target/dally` of a test, and `.dally` on the command line.
            Findings out: PathBuf;

            /// Searches states instead of running schedules by a strategy.
            Search search: SearchKind;

            /// The explorer of the search, rtc if this is not given. With a strategy instead of a
            /// search, findings are told in its delays.
            Search explorer: ExplorerKind;

            /// By which rule the search dpor leaves out schedules.
            Search reduction: Reduction = "optimal";

            /// How the search concolic comes to inputs.
            ///
            /// Only depth-first goes through all paths and orders. The others run `schedules` schedules, or as
            /// many as fit into `time`, whose orders `strategy` draws, and reach branches of a large program
            /// sooner.
            Search inputs: Inputs = "depth-first";

            /// The last stratum of the search: so many delays (preemptions, levels).
            Search delays: u32;

            /// By how much the bound of the search rises from stratum to stratum. If this is not given:
            /// by 1, for depth by 5, for cycles by more and more while strata bring little.
            Search delta: u32, nonzero;

            /// How much memory visited states, frontier and stacks of the search may take.
            Search memory: Bytes = "2G", nonzero;

            /// What the search remembers of visited states.
            Search cache: CachePolicy = "all";

            /// Whether the search stores states whole instead of by their fingerprints, so that
            /// none can be missed.
            Search exact: bool = "false";

            /// Whether the search stores the explorer beside each state: a stratum is then every
            /// execution with so many delays, at the price of more states.
            Search with_explorer: bool = "false";

            /// Which panics of tasks are bugs.
            ///
            /// If this is not given, what the program says: all of a test with tasks.
            Tasks task_panics: TaskPanics;

            /// When the timers of tasks fire.
            ///
            /// If this is not given, what the program says: any of a test with tasks.
            Tasks timers: Timers;

            /// Where the steps of tasks end.
            ///
            /// If this is not given, what the program says: awaits of a test with tasks.
            Tasks points: Points;

            /// How many faults of the network, of disks and of hosts an execution of tasks may have. Which and
            /// when is explored.
            ///
            /// If this is not given, what the program says: none of a test.
            Tasks fault_budget: u32;
        }
    };
}

/// The [`Kind`] of a type of values.
macro_rules! kind {
    (u32) => {
        Kind::Count { most: u32::MAX as u64 }
    };
    (u64) => {
        Kind::Count { most: u64::MAX }
    };
    (usize) => {
        Kind::Count { most: usize::MAX as u64 }
    };
    (bool) => {
        Kind::Switch
    };
    (Duration) => {
        Kind::Time
    };
    (Bytes) => {
        Kind::Bytes
    };
    (PathBuf) => {
        Kind::Path
    };
    (StrategyKind) => {
        Kind::Strategy
    };
    (SearchKind) => {
        Kind::Name(&SEARCHES)
    };
    (ExplorerKind) => {
        Kind::Name(&EXPLORERS)
    };
    (Reduction) => {
        Kind::Name(&REDUCTIONS)
    };
    (Inputs) => {
        Kind::Name(&INPUTS)
    };
    (CachePolicy) => {
        Kind::Name(&CACHES)
    };
    (Fairness) => {
        Kind::Name(&FAIRNESS)
    };
    (TaskPanics) => {
        Kind::Name(&TASK_PANICS)
    };
    (Timers) => {
        Kind::Name(&TIMERS)
    };
    (Points) => {
        Kind::Name(&POINTS)
    };
    (Isolate) => {
        Kind::Name(&ISOLATION)
    };
    (Clocks) => {
        Kind::Name(&CLOCKS)
    };
    (OutputFormat) => {
        Kind::Name(&FORMATS)
    };
}

macro_rules! constant {
    ($($(#[doc = $text:literal])*
       $group:ident $name:ident: $value:ident $(= $default:literal)? $(, $nonzero:ident)?;)*) => {
        /// All settings of a run, each of which is an option of `#[dally::test]`, a method of
        /// `Test`, an environment variable and a flag.
        pub const SETTINGS: &[Setting] = &[$(Setting {
            name: stringify!($name),
            kind: kind!($value),
            nonzero: first(&[$(stringify!($nonzero))?]).is_some(),
            default: first(&[$($default)?]),
            group: Group::$group,
            text: concat!($($text, "\n"),*),
        }),*];
    };
}

const fn first(of: &[&'static str]) -> Option<&'static str> {
    match of {
        [first, ..] => Some(first),
        [] => None,
    }
}

with_settings!(constant);

/// The setting with this name.
pub fn setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

/// A setting outside of [`SETTINGS`].
const fn also(group: Group, name: &'static str, kind: Kind, text: &'static str) -> Setting {
    Setting { name, kind, nonzero: false, default: None, group, text }
}

/// The options that only the attribute takes.
pub const OF_ATTRIBUTES: &[Setting] = &[
    also(
        Group::Attribute,
        "should_fail",
        Kind::Text,
        "The test passes if and only if a bug is found, of the kind with this name (such as \
         `\"deadlock\"`) or with this text in its message.",
    ),
    also(
        Group::Attribute,
        "crate",
        Kind::Expression("path"),
        "Where the crate `dally` is, for those who re-export it: `crate = my_crate::dally`.",
    ),
    also(
        Group::Machines,
        "granularity",
        Kind::Expression("Granularity"),
        "Where the steps of a machine end.",
    ),
    also(
        Group::Machines,
        "mailbox",
        Kind::Expression("Mailbox"),
        "In which order messages are received, such as `Mailbox::Unordered`.",
    ),
    also(
        Group::Machines,
        "faults",
        Kind::Expression("Faults"),
        "Which faults may happen, and how many.",
    ),
];

/// The variables for replaying a schedule of a test.
pub const OF_REPLAYS: &[Setting] = &[
    also(
        Group::Replays,
        "replay",
        Kind::Text,
        "Runs this schedule, a file or a token, and nothing else.",
    ),
    also(
        Group::Replays,
        "best_effort",
        Kind::Switch,
        "Whether to go on as far as possible where the program no longer fits the schedule.",
    ),
    also(
        Group::Replays,
        "trace",
        Kind::Text,
        "`all` shows all steps of a long trace, not only the last 60.",
    ),
];
