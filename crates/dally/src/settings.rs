//! The settings of a run, from the attribute of a test, environment variables and the command line.
//! They are declared in the table of the crate `dally-settings`.

mod file;
mod value;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dally_core::{Program, Schedule};
use dally_search::liveness::Fairness;
use dally_search::reduction::{Inputs, Reduction};
use dally_search::strata::{CachePolicy, ExplorerKind, Plan, PlanError, SearchKind};
use dally_search::{Clocks, StrategyKind};
pub use dally_settings::{Bytes, ValueError, parse_bytes, parse_time};
use dally_settings::{SEARCHES, SETTINGS, with_settings};
use thiserror::Error;

/// The setting of programs that is a number.
const FAULT_BUDGET: &str = "fault_budget";

pub use self::file::{FileError, SettingsFile};
pub(crate) use self::value::Value;
pub use self::value::{Isolate, OutputFormat, Points, TaskPanics, Timers};

/// The type of a setting's field: an option unless there is a default.
macro_rules! field {
    ($value:ident) => { Option<$value> };
    ($value:ident $default:literal) => { $value };
}

/// The initial value of a field. A default that cannot be read is an error in the table, which the
/// tests below detect.
macro_rules! initial {
    ($value:ident) => {
        None
    };
    ($value:ident $default:literal) => {
        <$value as Value>::read($default).expect("a default is a value")
    };
}

macro_rules! given {
    ($field:expr, $given:expr) => {
        $field = Some($given)
    };
    ($field:expr, $given:expr, $default:literal) => {
        $field = $given
    };
}

pub(crate) use given;

macro_rules! is_zero {
    ($field:expr) => {
        $field.as_ref().is_some_and(Value::is_zero)
    };
    ($field:expr, $default:literal) => {
        Value::is_zero(&$field)
    };
}

macro_rules! declare {
    ($($(#[doc = $text:literal])*
       $group:ident $name:ident: $value:ident $(= $default:literal)? $(, $nonzero:ident)?;)*) => {
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
            $($(#[doc = $text])* pub $name: field!($value $($default)?),)*
            /// Every state of one schedule in this many is observed; 0 observes last states only. Only
            /// the command line sets it.
            pub observe_every: u64,
        }

        impl Default for Settings {
            fn default() -> Settings {
                Settings { $($name: initial!($value $($default)?),)* observe_every: 0 }
            }
        }

        impl Settings {
            /// Sets a setting to the value that the text says. An unknown name changes nothing.
            ///
            /// ```
            /// let mut settings = dally::settings::Settings::default();
            /// settings.set("max_steps", "2_000").unwrap();
            /// assert_eq!(settings.max_steps, 2_000);
            /// assert!(settings.set("max_steps", "many").is_err());
            /// ```
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), ValueError> {
                if let Some(setting) = dally_settings::setting(name) {
                    setting.check(text)?;
                }
                match name {
                    $(stringify!($name) => {
                        given!(self.$name, <$value as Value>::read(text)? $(, $default)?);
                    })*
                    _ => {}
                }
                Ok(())
            }

            fn is_zero(&self, name: &str) -> bool {
                match name {
                    $(stringify!($name) => is_zero!(self.$name $(, $default)?),)*
                    _ => false,
                }
            }
        }
    };
}

with_settings!(declare);

impl Settings {
    /// How many schedules to run at most.
    pub fn schedules(&self) -> u64 {
        self.schedules.unwrap_or(if self.time.is_some() { u64::MAX } else { 1_000 })
    }

    /// The search of states, if there is one.
    pub fn plan(&self) -> Option<Plan> {
        Some(Plan {
            search: self.search?,
            delays: self.delays,
            reduction: self.reduction,
            inputs: self.inputs,
            delta: self.delta,
            memory: self.memory.0,
            cache: self.cache,
            exact: self.exact,
            with_explorer: self.with_explorer,
            ..Plan::default()
        })
    }

    /// Tells a program the settings that are about programs of its kind. A program that is shared already keeps
    /// what it has.
    pub(crate) fn apply<P: Program>(&self, program: &mut Arc<P>) {
        if let Some(program) = Arc::get_mut(program) {
            self.of_program().for_each(|(setting, value)| _ = program.set(setting, &value));
        }
    }

    /// Those that are about programs of a kind, with their values: a schedule means what it does only
    /// with them.
    pub(crate) fn of_program(&self) -> impl Iterator<Item = (&'static str, String)> + use<> {
        let given = [
            (TaskPanics::SETTING, self.task_panics.map(|panics| panics.name().to_owned())),
            (Timers::SETTING, self.timers.map(|timers| timers.name().to_owned())),
            (Points::SETTING, self.points.map(|points| points.name().to_owned())),
            (FAULT_BUDGET, self.fault_budget.map(|budget| budget.to_string())),
        ];
        given.into_iter().filter_map(|(setting, value)| Some((setting, value?)))
    }

    /// Takes over what a schedule was recorded with of [`Settings::of_program`].
    pub(crate) fn restore(&mut self, recorded: &Schedule) {
        for (setting, value) in recorded_of_program(recorded) {
            // A value of another version is none, and the replay tells that the program differs.
            let _ = self.set(setting, value);
        }
    }

    /// Refuses settings that do not go together, and those with which nothing would be run, since that
    /// must not pass for a clean run.
    pub fn check(&self) -> Result<(), SettingsError> {
        let zero = SETTINGS.iter().find(|setting| setting.nonzero && self.is_zero(setting.name));
        if let Some(setting) = zero {
            return Err(SettingsError::Value(setting.nothing()));
        }
        if let Some(plan) = self.plan() {
            plan.check()?;
            let learned = self.learned.is_some();
            return if learned { Err(SettingsError::LearnedBySearch) } else { Ok(()) };
        }
        let of_search = [
            ("delays", self.delays.is_some()),
            ("reduction", self.reduction != Reduction::Optimal),
            ("inputs", self.inputs != Inputs::DepthFirst),
            ("delta", self.delta.is_some()),
            ("cache", self.cache != CachePolicy::All),
            ("exact", self.exact),
            ("with_explorer", self.with_explorer),
        ];
        match of_search.into_iter().find(|(_, given)| *given) {
            Some((setting, _)) => Err(SettingsError::WithoutSearch { setting }),
            None => Ok(()),
        }
    }

    /// Takes over the settings of the environment. `variable` looks a name up.
    pub fn override_by<T: Into<OsString>>(
        &mut self,
        variable: impl Fn(&str) -> Option<T>,
    ) -> Result<(), SettingsError> {
        for setting in SETTINGS {
            let Some(value) = variable(&setting.variable()) else { continue };
            let text = match (value.into().into_string(), setting.name) {
                (Ok(text), _) => text,
                // A path need not be text.
                (Err(path), "out") => {
                    self.out = Some(path.into());
                    continue;
                }
                (Err(path), "learned") => {
                    self.learned = Some(path.into());
                    continue;
                }
                (Err(other), _) => other.to_string_lossy().into_owned(),
            };
            self.set(setting.name, text.trim()).map_err(|why| SettingsError::Variable {
                name: setting.variable(),
                text,
                meaning: setting.help(),
                why,
            })?;
        }
        Ok(())
    }
}

/// What a schedule was recorded with of [`Settings::of_program`].
pub(crate) fn recorded_of_program(
    recorded: &Schedule,
) -> impl Iterator<Item = (&'static str, &str)> {
    let of_program = [TaskPanics::SETTING, Timers::SETTING, Points::SETTING, FAULT_BUDGET];
    of_program.into_iter().filter_map(|setting| Some((setting, recorded.setting(setting)?)))
}

/// Why a program cannot be checked with these settings.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// An environment variable has a wrong value.
    #[error("{name}={text}: {why}\n  {name}: {meaning}")]
    Variable {
        /// Its name.
        name: String,
        /// What it holds.
        text: String,
        /// What it means.
        meaning: String,
        /// What is wrong with the text.
        why: ValueError,
    },
    /// A value is wrong.
    #[error(transparent)]
    Value(ValueError),
    /// The search is impossible with these settings.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// `learned` with a search of states, which has no strategy.
    #[error(
        "`learned` is a setting of strategies, and a search of states has none: leave out the file \
         or the search"
    )]
    LearnedBySearch,
    /// `schedules` with a search that runs none.
    #[error(
        "--schedules has no effect on the search {search}, which goes through states: leave it \
         out, or bound the search by --time or --memory"
    )]
    SchedulesOfSearch {
        /// The search.
        search: SearchKind,
    },
    /// A setting of searches without a search.
    #[error(
        "`{setting}` is a setting of a search of states: name one of {} as the search",
        SEARCHES.list()
    )]
    WithoutSearch {
        /// The setting.
        setting: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use dally_settings::CACHES;

    use super::*;

    fn with(name: &'static str, value: &'static str) -> Result<Settings, SettingsError> {
        let mut settings = Settings::default();
        settings.override_by(|asked| (asked == name).then(|| value.to_owned()))?;
        Ok(settings)
    }

    #[test]
    fn every_name_of_the_table_is_known_to_what_has_it() {
        for setting in SETTINGS {
            for name in setting.kind.names().iter().flat_map(|names| names.all) {
                let mut settings = Settings::default();
                assert_eq!(settings.set(setting.name, name.name), Ok(()));
            }
        }
        let caches = CachePolicy::ALL.map(|cache| format!("{cache:?}").to_lowercase());
        assert_eq!(caches, CACHES.array::<4>());
    }

    #[test]
    fn a_replay_has_the_model_of_time_that_its_schedule_was_made_with() {
        let made = with("DALLY_TIMERS", "idle").unwrap();
        let settings = made.of_program().map(|(name, value)| (name.into(), value));
        let recorded = Schedule { settings: settings.collect(), ..Schedule::default() };
        let mut replayed = with("DALLY_TIMERS", "any").unwrap();
        replayed.restore(&recorded);
        assert_eq!(replayed.timers, made.timers);
        assert_eq!(replayed.points, None);
    }

    #[test]
    fn a_time_alone_lifts_the_number_of_schedules() {
        assert_eq!(Settings::default().schedules(), 1_000);
        assert_eq!(with("DALLY_TIME", "2m").unwrap().schedules(), u64::MAX);
    }

    #[test]
    fn defaults_are_those_of_the_table_and_of_the_search() {
        let settings = Settings::default();
        assert_eq!(settings.strategy, StrategyKind::default());
        assert_eq!(settings.fairness, Fairness::default());
        assert_eq!(settings.step_time, Duration::from_secs(10));
        let searched = Settings { search: Some(SearchKind::default()), ..settings };
        assert_eq!(searched.plan(), Some(Plan::default()));
        for setting in SETTINGS {
            assert_eq!(setting.default.map(|text| setting.check(text)).unwrap_or(Ok(())), Ok(()));
        }
    }

    #[test]
    fn a_run_that_would_check_nothing_is_refused_from_a_variable_and_from_a_field() {
        let mut refused = Vec::new();
        for setting in SETTINGS {
            let zero = ["0", "0s"].into_iter().find(|zero| {
                setting.check(zero) == Err(ValueError::Nothing { setting: setting.name })
            });
            if let Some(zero) = zero {
                refused.push(setting.name);
                let mut settings = Settings::default();
                assert!(settings.set(setting.name, zero).is_err(), "{}", setting.name);
            }
        }
        assert_eq!(
            refused,
            [
                "schedules",
                "time",
                "max_steps",
                "max_fair_steps",
                "step_bound",
                "threads",
                "step_time",
                "delta",
                "memory"
            ]
        );
        assert_eq!(
            Settings { memory: Bytes(0), ..Settings::default() }.check().unwrap_err().to_string(),
            "with memory set to 0 nothing would be checked"
        );
        assert!(Settings { time: Some(Duration::ZERO), ..Settings::default() }.check().is_err());
        assert!(Settings { threads: 0, ..Settings::default() }.check().is_err());
        assert_eq!(Settings::default().check(), Ok(()));
    }

    #[test]
    fn a_bad_value_names_the_variable_and_its_meaning() {
        insta::assert_snapshot!(with("DALLY_SCHEDULES", "many").unwrap_err(), @"
        DALLY_SCHEDULES=many: `many` is not a whole number that fits
          DALLY_SCHEDULES: How many schedules to run.
        ");
        insta::assert_snapshot!(with("DALLY_TIME", "30").unwrap_err(), @"
        DALLY_TIME=30: a time is a number with a unit, such as 500ms, 30s, 5m or 2h
          DALLY_TIME: How long to run; with `schedules`, whichever comes first.
        ");
    }
}
