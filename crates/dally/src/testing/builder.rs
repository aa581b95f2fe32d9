//! The methods of a test that set its settings, generated from the table of settings.

use std::panic::Location;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dally_search::Clocks;
use dally_search::liveness::Fairness;
use dally_search::reduction::{Inputs, Reduction};
use dally_search::strata::{CachePolicy, Explorer, SearchKind};
use dally_settings::with_settings;
use thiserror::Error;

use super::Test;
use crate::settings::{
    Bytes, Isolate, OutputFormat, Points, TaskPanics, Timers, Value, ValueError, given,
};

/// The argument of a method for a setting with values of type `T`: such a value, or one that can be
/// converted, such as `"30s"` for a [`Duration`] and `"2G"` or a number for [`Bytes`].
///
/// ```
/// use std::time::Duration;
///
/// use dally::testing::Test;
///
/// let test = || Test::new("my-crate", "my_crate::tests::a_test");
/// test().time("30s").memory("2G");
/// test().time(Duration::from_secs(30)).memory(2 << 30);
/// ```
#[diagnostic::on_unimplemented(
    message = "a setting of type `{T}` cannot be given as `{Self}`",
    label = "not a `{T}`"
)]
pub trait IntoSetting<T> {
    /// The value; an error if it cannot be read.
    fn into_setting(self) -> Result<T, ValueError>;
}

impl<T: Value> IntoSetting<T> for T {
    fn into_setting(self) -> Result<T, ValueError> {
        Ok(self)
    }
}

/// Values that can also be given as texts. One impl for each, so that compiler errors name the
/// setting.
macro_rules! texts {
    ($($value:ident)*) => {$(
        impl IntoSetting<$value> for &str {
            fn into_setting(self) -> Result<$value, ValueError> {
                Value::read(self)
            }
        }
    )*};
}

texts!(Duration Bytes PathBuf SearchKind Reduction Inputs CachePolicy Fairness Clocks Isolate TaskPanics Timers Points OutputFormat);

impl IntoSetting<Bytes> for u64 {
    fn into_setting(self) -> Result<Bytes, ValueError> {
        Ok(Bytes(self))
    }
}

impl IntoSetting<PathBuf> for &Path {
    fn into_setting(self) -> Result<PathBuf, ValueError> {
        Ok(self.to_owned())
    }
}

impl IntoSetting<PathBuf> for String {
    fn into_setting(self) -> Result<PathBuf, ValueError> {
        Ok(self.into())
    }
}

/// A setting with a value that cannot be read, reported when the test runs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{setting}, set at {place}: {why}")]
pub struct Mistake {
    /// The name of the setting.
    pub setting: &'static str,
    /// Where it was set.
    pub place: &'static Location<'static>,
    /// What is wrong with the value.
    pub why: ValueError,
}

impl Mistake {
    #[track_caller]
    pub(super) fn here(setting: &'static str, why: ValueError) -> Mistake {
        Mistake { setting, place: Location::caller(), why }
    }
}

/// The method of a setting. Those of strategy and explorer are written by hand, because they also
/// take values of the user's own types.
macro_rules! method {
    ($(#[doc = $text:literal])* strategy $($rest:tt)*) => {};
    ($(#[doc = $text:literal])* explorer $($rest:tt)*) => {};
    ($(#[doc = $text:literal])* $name:ident $value:ident $($default:literal)?) => {
        $(#[doc = $text])*
        #[must_use]
        #[track_caller]
        pub fn $name(mut self, $name: impl IntoSetting<$value>) -> Test<E> {
            self.given.push(stringify!($name));
            match $name.into_setting() {
                Ok(value) => given!(self.settings.$name, value $(, $default)?),
                Err(why) => self.mistake = Some(Mistake::here(stringify!($name), why)),
            }
            self
        }
    };
}

macro_rules! methods {
    ($($(#[doc = $text:literal])*
       $group:ident $name:ident: $value:ident $(= $default:literal)? $(, $nonzero:ident)?;)*) => {
        impl<E: Explorer> Test<E> {
            $(method! { $(#[doc = $text])* $name $value $($default)? })*
        }
    };
}

with_settings!(methods);
