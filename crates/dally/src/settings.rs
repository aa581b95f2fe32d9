//! What a run can be told: by the attribute of a test, by environment variables, by the command
//! line.

use std::path::PathBuf;
use std::time::Duration;

use dally_search::StrategyKind;
use dally_search::liveness::Fairness;
use dally_search::strata::{CachePolicy, ExplorerKind, Plan, SearchKind};

/// How a program is checked.
///
/// ```
/// use dally::settings::Settings;
///
/// let mut settings = Settings::default();
/// let variable = |name: &str| (name == "DALLY_SCHEDULES").then(|| "50000".to_owned());
/// settings.override_by(variable).unwrap();
/// assert_eq!(settings.schedules(), 50_000);
/// ```
#[derive(Clone, Debug)]
pub struct Settings {
    /// Picks the choices.
    pub strategy: StrategyKind,
    /// How many schedules to run; if not given, as many as fit into `time`, or else 1,000.
    pub schedules: Option<u64>,
    /// How long to run, if that comes first.
    pub time: Option<Duration>,
    /// Where the strategy's random choices start from.
    pub seed: u64,
    /// How many steps a schedule may have.
    pub max_steps: usize,
    /// How many threads run schedules.
    pub threads: usize,
    /// Whether to go on after the first bug.
    pub keep_going: bool,
    /// Whether to shrink what is found.
    pub shrink: bool,
    /// How many steps a monitor may stay hot under a fair strategy; half of `max_steps` if not
    /// given.
    pub temperature: Option<usize>,
    /// Which loops count as livelocks; schedules of a strategy are judged by strong fairness
    /// where this is weak.
    pub fairness: Fairness,
    /// Whether a schedule that reaches `max_steps` is a bug.
    pub fail_on_max_steps: bool,
    /// How long one step may take before it counts as blocking its thread.
    pub step_time: Duration,
    /// Every state of one schedule in this many is observed; 0 observes last states only.
    pub observe_every: u64,
    /// Searches states by this, instead of running schedules by the strategy.
    pub search: Option<SearchKind>,
    /// The explorer of the search. Without a search, findings are told in its delays.
    pub explorer: Option<ExplorerKind>,
    /// How the search is done; its kind is the one in `search`.
    pub plan: Plan,
    /// The file that a strategy goes on learning from and writes what it has learnt to.
    pub learned: Option<PathBuf>,
    /// Where findings are written; nowhere if not given.
    pub out: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            strategy: StrategyKind::default(),
            schedules: None,
            time: None,
            seed: 0,
            max_steps: 10_000,
            threads: 1,
            keep_going: false,
            shrink: true,
            temperature: None,
            fairness: Fairness::Weak,
            fail_on_max_steps: false,
            step_time: Duration::from_secs(10),
            observe_every: 0,
            search: None,
            explorer: None,
            plan: Plan::default(),
            learned: None,
            out: None,
        }
    }
}

/// The environment variables that change settings, with what they mean.
pub const VARIABLES: [(&str, &str); 22] = [
    ("DALLY_STRATEGY", "a strategy such as portfolio, random or pct:10"),
    ("DALLY_SCHEDULES", "how many schedules to run"),
    ("DALLY_TIME", "how long to run, such as 30s"),
    ("DALLY_SEED", "where random choices start from"),
    ("DALLY_MAX_STEPS", "how many steps a schedule may have"),
    ("DALLY_THREADS", "how many threads run schedules"),
    ("DALLY_KEEP_GOING", "1: go on after the first bug"),
    ("DALLY_SHRINK", "0: show the first failing schedule as it is"),
    ("DALLY_TEMPERATURE", "how many steps a monitor may stay hot"),
    ("DALLY_FAIRNESS", "which loops count as livelocks: weak, strong or none"),
    ("DALLY_FAIL_ON_MAX_STEPS", "1: reaching the step bound is a bug"),
    ("DALLY_STEP_TIME", "how long one step may take, such as 10s"),
    (
        "DALLY_SEARCH",
        "search states: ses, ss, hybrid, pb, depth, dfs, bfs, ndfs, iterative-ndfs or map",
    ),
    ("DALLY_EXPLORER", "the explorer of the search: rr, rtc, prr or random"),
    ("DALLY_DELAYS", "the last stratum of a search: so many delays"),
    ("DALLY_DELTA", "by how many delays a stratum goes beyond the one before"),
    ("DALLY_MEMORY", "how much memory visited states may take, such as 2G"),
    ("DALLY_CACHE", "what is remembered of visited states: all, none, stop or replace"),
    ("DALLY_EXACT", "1: store states whole instead of by their fingerprints"),
    ("DALLY_WITH_EXPLORER", "1: store the explorer beside each state"),
    ("DALLY_LEARNED", "the file that a strategy goes on learning from, and writes to"),
    ("DALLY_OUT", "the directory that findings are written to"),
];

impl Settings {
    /// How many schedules to run at most.
    pub fn schedules(&self) -> u64 {
        self.schedules.unwrap_or(if self.time.is_some() { u64::MAX } else { 1_000 })
    }

    /// The search of states, if there is one.
    pub fn plan(&self) -> Option<Plan> {
        Some(Plan { search: self.search?, ..self.plan.clone() })
    }

    /// A setting with which nothing would be run, which must not pass for a clean run.
    pub fn check(&self) -> Result<(), String> {
        let nothing = [
            ("schedules", self.schedules == Some(0)),
            ("time", self.time == Some(Duration::ZERO)),
            ("max steps", self.max_steps == 0),
            ("threads", self.threads == 0),
            ("step time", self.step_time == Duration::ZERO),
            ("delta", self.plan.delta == Some(0)),
            ("memory", self.plan.memory == 0),
        ];
        if let Some((name, _)) = nothing.into_iter().find(|(_, zero)| *zero) {
            return Err(format!("with {name} set to 0 nothing would be checked"));
        }
        let of_search = [
            ("delays", self.plan.delays.is_some()),
            ("delta", self.plan.delta.is_some()),
            ("cache", self.plan.cache != CachePolicy::All),
            ("exact", self.plan.exact),
            ("with-explorer", self.plan.with_explorer),
        ];
        if let Some(plan) = self.plan() {
            plan.check()?;
            if self.learned.is_some() {
                return Err(
                    "learned is a setting of strategies, and a search of states has none: \
                            leave out the file or the search"
                        .into(),
                );
            }
        }
        match (self.search, of_search.into_iter().find(|(_, given)| *given)) {
            (None, Some((name, _))) => Err(format!(
                "{name} is a setting of a search of states: name one of {} as the search",
                SearchKind::NAMES.join(", "),
            )),
            _ => Ok(()),
        }
    }

    /// Takes over what the environment says. `variable` looks a name up; an error names the
    /// variable and what it should hold.
    pub fn override_by(&mut self, variable: impl Fn(&str) -> Option<String>) -> Result<(), String> {
        for (name, meaning) in VARIABLES {
            let Some(text) = variable(name) else { continue };
            self.set(name, text.trim())
                .map_err(|why| format!("{name}={text}: {why}\n  {name}: {meaning}"))?;
        }
        Ok(())
    }

    fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        match name {
            "DALLY_STRATEGY" => self.strategy = text.parse().map_err(|why| format!("{why}"))?,
            "DALLY_SCHEDULES" => self.schedules = Some(number(text)?),
            "DALLY_TIME" => self.time = Some(parse_time(text)?),
            "DALLY_SEED" => self.seed = number(text)?,
            "DALLY_MAX_STEPS" => self.max_steps = number(text)?,
            "DALLY_THREADS" => self.threads = number(text)?,
            "DALLY_KEEP_GOING" => self.keep_going = switch(text)?,
            "DALLY_SHRINK" => self.shrink = switch(text)?,
            "DALLY_TEMPERATURE" => self.temperature = Some(number(text)?),
            "DALLY_FAIRNESS" => self.fairness = text.parse()?,
            "DALLY_FAIL_ON_MAX_STEPS" => self.fail_on_max_steps = switch(text)?,
            "DALLY_STEP_TIME" => self.step_time = parse_time(text)?,
            "DALLY_SEARCH" => self.search = Some(text.parse()?),
            "DALLY_EXPLORER" => {
                self.explorer = Some(text.parse().map_err(|why| format!("{why}"))?);
            }
            "DALLY_DELAYS" => self.plan.delays = Some(number(text)?),
            "DALLY_DELTA" => self.plan.delta = Some(number(text)?),
            "DALLY_MEMORY" => self.plan.memory = parse_bytes(text)?,
            "DALLY_CACHE" => self.plan.cache = text.parse().map_err(|why| format!("{why}"))?,
            "DALLY_EXACT" => self.plan.exact = switch(text)?,
            "DALLY_WITH_EXPLORER" => self.plan.with_explorer = switch(text)?,
            "DALLY_LEARNED" => self.learned = Some(PathBuf::from(text)),
            "DALLY_OUT" => self.out = Some(PathBuf::from(text)),
            _ => {}
        }
        Ok(())
    }
}

/// Reads a length of time such as `250ms`, `30s`, `5m`, `2h`.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(dally::settings::parse_time("1.5s"), Ok(Duration::from_millis(1500)));
/// assert!(dally::settings::parse_time("soon").is_err());
/// ```
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("a time is a number with a unit, such as 500ms, 30s, 5m or 2h".into()),
    };
    let amount: f64 = digits.trim().parse().map_err(|_| format!("`{digits}` is not a number"))?;
    Duration::try_from_secs_f64(amount * unit)
        .map_err(|_| format!("`{text}` is not a length of time that can be waited for"))
}

/// Reads an amount of memory such as `64k`, `512M`, `2G`.
///
/// ```
/// assert_eq!(dally::settings::parse_bytes("2G"), Ok(2 << 30));
/// assert!(dally::settings::parse_bytes("much").is_err());
/// ```
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err("an amount of memory is a number with a unit, such as 512M or 2G".into()),
    };
    let amount: f64 = digits.trim().parse().map_err(|_| format!("`{digits}` is not a number"))?;
    let bytes = amount * (1u64 << shift) as f64;
    if (0.0..9e18).contains(&bytes) {
        Ok(bytes as u64)
    } else {
        Err(format!("`{text}` is not an amount of memory"))
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.replace('_', "").parse().map_err(|_| format!("`{text}` is not a whole number that fits"))
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(format!("`{text}` is neither 1 nor 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &'static str, value: &'static str) -> Result<Settings, String> {
        let mut settings = Settings::default();
        settings.override_by(|asked| (asked == name).then(|| value.to_owned()))?;
        Ok(settings)
    }

    #[test]
    fn each_variable_reaches_its_setting() {
        assert_eq!(with("DALLY_SEED", "7").unwrap().seed, 7);
        assert_eq!(with("DALLY_SCHEDULES", "100_000").unwrap().schedules(), 100_000);
        assert_eq!(with("DALLY_TIME", "2m").unwrap().time, Some(Duration::from_secs(120)));
        assert!(with("DALLY_KEEP_GOING", "1").unwrap().keep_going);
        assert!(!with("DALLY_SHRINK", "off").unwrap().shrink);
        assert_eq!(with("DALLY_FAIRNESS", "none").unwrap().fairness, Fairness::None);
        assert_eq!(with("DALLY_OUT", "x/y").unwrap().out, Some(PathBuf::from("x/y")));
    }

    #[test]
    fn a_time_alone_lifts_the_number_of_schedules() {
        assert_eq!(Settings::default().schedules(), 1_000);
        assert_eq!(with("DALLY_TIME", "2m").unwrap().schedules(), u64::MAX);
    }

    #[test]
    fn a_run_that_would_check_nothing_is_refused() {
        for (name, value) in [
            ("DALLY_SCHEDULES", "0"),
            ("DALLY_TIME", "0s"),
            ("DALLY_MAX_STEPS", "0"),
            ("DALLY_THREADS", "0"),
            ("DALLY_STEP_TIME", "0s"),
            ("DALLY_MEMORY", "0"),
            ("DALLY_DELTA", "0"),
        ] {
            assert!(with(name, value).unwrap().check().is_err(), "{name}");
        }
        assert_eq!(Settings::default().check(), Ok(()));
    }

    #[test]
    fn a_bad_value_names_the_variable_and_its_meaning() {
        insta::assert_snapshot!(with("DALLY_SCHEDULES", "many").unwrap_err(), @r"
        DALLY_SCHEDULES=many: `many` is not a whole number that fits
          DALLY_SCHEDULES: how many schedules to run
        ");
        insta::assert_snapshot!(with("DALLY_TIME", "30").unwrap_err(), @r"
        DALLY_TIME=30: a time is a number with a unit, such as 500ms, 30s, 5m or 2h
          DALLY_TIME: how long to run, such as 30s
        ");
    }
}
