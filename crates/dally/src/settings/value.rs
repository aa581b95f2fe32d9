//! The types of the values of settings.

use std::path::PathBuf;
use std::time::Duration;

use dally_search::liveness::Fairness;
use dally_search::reduction::{Inputs, Reduction};
use dally_search::strata::{CachePolicy, ExplorerKind, SearchKind};
use dally_search::{Clocks, StrategyKind};
use dally_settings::{
    Bytes, CACHES, FORMATS, ISOLATION, Names, POINTS, TASK_PANICS, TIMERS, UnknownName, ValueError,
    parse_bytes, parse_count, parse_switch, parse_time,
};

pub(crate) trait Value: Sized {
    fn read(text: &str) -> Result<Self, ValueError>;

    fn is_zero(&self) -> bool {
        false
    }
}

macro_rules! counts {
    ($($count:ident)*) => {$(
        impl Value for $count {
            fn read(text: &str) -> Result<$count, ValueError> {
                parse_count(text)
            }

            fn is_zero(&self) -> bool {
                *self == 0
            }
        }
    )*};
}

counts!(u32 u64 usize);

macro_rules! names {
    ($($named:ident)*) => {$(
        impl Value for $named {
            fn read(text: &str) -> Result<$named, ValueError> {
                Ok(text.parse()?)
            }
        }
    )*};
}

names!(StrategyKind SearchKind Reduction Inputs ExplorerKind Fairness Clocks Isolate OutputFormat);

/// Settings of programs, which go by their names.
macro_rules! of_programs {
    ($($(#[$doc:meta])* $named:ident of $names:ident as $setting:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $named(&'static str);

        impl $named {
            /// The name of the setting.
            pub const SETTING: &'static str = $setting;

            /// The name of the value.
            pub fn name(self) -> &'static str {
                self.0
            }
        }

        impl Value for $named {
            fn read(text: &str) -> Result<$named, ValueError> {
                const NAMES: &Names = &$names;
                Ok($named(NAMES.all[NAMES.find(text)?].name))
            }
        }
    )*};
}

of_programs! {
    /// Which panics of tasks are bugs.
    TaskPanics of TASK_PANICS as "task_panics";
    /// When the timers of tasks fire.
    Timers of TIMERS as "timers";
    /// Where the steps of tasks end.
    Points of POINTS as "points";
}

/// In which form it is told what was checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OutputFormat {
    /// For people.
    Text,
    /// The run with all its findings.
    Json,
    /// JUnit's XML.
    Junit,
    /// Annotations of GitHub Actions.
    Github,
    /// SARIF.
    Sarif,
}

impl std::str::FromStr for OutputFormat {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<OutputFormat, UnknownName> {
        use OutputFormat::{Github, Json, Junit, Sarif, Text};
        Ok([Text, Json, Junit, Github, Sarif][FORMATS.find(name)?])
    }
}

/// Whether schedules have processes of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Isolate {
    /// All run in one.
    None,
    /// Each has one: what it leaves in statics is not there in the next.
    Process,
}

impl std::str::FromStr for Isolate {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Isolate, UnknownName> {
        Ok([Isolate::None, Isolate::Process][ISOLATION.find(name)?])
    }
}

impl Value for CachePolicy {
    fn read(text: &str) -> Result<CachePolicy, ValueError> {
        Ok(CachePolicy::ALL[CACHES.find(text)?])
    }
}

impl Value for bool {
    fn read(text: &str) -> Result<bool, ValueError> {
        parse_switch(text)
    }
}

impl Value for Duration {
    fn read(text: &str) -> Result<Duration, ValueError> {
        parse_time(text)
    }

    fn is_zero(&self) -> bool {
        Duration::is_zero(self)
    }
}

impl Value for Bytes {
    fn read(text: &str) -> Result<Bytes, ValueError> {
        parse_bytes(text).map(Bytes)
    }

    fn is_zero(&self) -> bool {
        self.0 == 0
    }
}

impl Value for PathBuf {
    fn read(text: &str) -> Result<PathBuf, ValueError> {
        Ok(PathBuf::from(text))
    }
}
