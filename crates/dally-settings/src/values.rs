//! Values as people write them: `100_000`, `30s`, `2G`, `on`.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::UnknownName;

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Bytes(pub u64);

impl From<u64> for Bytes {
    fn from(bytes: u64) -> Bytes {
        Bytes(bytes)
    }
}

/// Reads a whole number such as `5000` or `100_000`.
///
/// ```
/// assert_eq!(dally_settings::parse_count("100_000"), Ok(100_000u64));
/// assert!(dally_settings::parse_count::<u8>("1000").is_err());
/// ```
pub fn parse_count<T: std::str::FromStr>(text: &str) -> Result<T, ValueError> {
    text.replace('_', "").parse().map_err(|_| ValueError::Count(text.to_owned()))
}

/// Reads a length of time such as `250ms`, `30s`, `5m`, `2h`.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(dally_settings::parse_time("1.5s"), Ok(Duration::from_millis(1500)));
/// assert!(dally_settings::parse_time("soon").is_err());
/// ```
pub fn parse_time(text: &str) -> Result<Duration, ValueError> {
    let (digits, unit) = split(text);
    let unit = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(ValueError::TimeUnit),
    };
    Duration::try_from_secs_f64(amount(digits)? * unit)
        .map_err(|_| ValueError::Time(text.to_owned()))
}

/// Reads an amount of memory such as `64k`, `512M`, `2G`.
///
/// ```
/// assert_eq!(dally_settings::parse_bytes("2G"), Ok(2 << 30));
/// assert!(dally_settings::parse_bytes("much").is_err());
/// ```
pub fn parse_bytes(text: &str) -> Result<u64, ValueError> {
    let (digits, unit) = split(text);
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(ValueError::BytesUnit),
    };
    let bytes = amount(digits)? * (1u64 << shift) as f64;
    if (0.0..9e18).contains(&bytes) {
        Ok(bytes as u64)
    } else {
        Err(ValueError::Bytes(text.to_owned()))
    }
}

/// Reads a switch: `1`, `true`, `yes`, `on`, or `0`, `false`, `no`, `off`.
///
/// ```
/// assert_eq!(dally_settings::parse_switch("on"), Ok(true));
/// ```
pub fn parse_switch(text: &str) -> Result<bool, ValueError> {
    match text {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(ValueError::Switch(text.to_owned())),
    }
}

/// Splits a number from its unit.
fn split(text: &str) -> (&str, &str) {
    text.split_at(text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len())
}

fn amount(digits: &str) -> Result<f64, ValueError> {
    digits.trim().replace('_', "").parse().map_err(|_| ValueError::Number(digits.to_owned()))
}

/// Why a text is not a value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueError {
    /// It is no whole number of the right size.
    Count(String),
    /// What stands before the unit is no number.
    Number(String),
    /// A time without a unit.
    TimeUnit,
    /// A time that is negative or too long.
    Time(String),
    /// An amount of memory with an unknown unit.
    BytesUnit,
    /// An amount of memory that is negative or too large.
    Bytes(String),
    /// Neither on nor off.
    Switch(String),
    /// An unknown name.
    Name(UnknownName),
    /// A 0 where 0 is refused, because nothing would be run, which must not pass for a clean run.
    Nothing {
        /// The name of the setting.
        setting: &'static str,
    },
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueError::Count(text) => write!(f, "`{text}` is not a whole number that fits"),
            ValueError::Number(text) => write!(f, "`{text}` is not a number"),
            ValueError::TimeUnit => {
                f.write_str("a time is a number with a unit, such as 500ms, 30s, 5m or 2h")
            }
            ValueError::Time(text) => {
                write!(f, "`{text}` is not a length of time that can be waited for")
            }
            ValueError::BytesUnit => {
                f.write_str("an amount of memory is a number with a unit, such as 512M or 2G")
            }
            ValueError::Bytes(text) => write!(f, "`{text}` is not an amount of memory"),
            ValueError::Switch(text) => write!(f, "`{text}` is neither 1 nor 0"),
            ValueError::Name(unknown) => unknown.fmt(f),
            ValueError::Nothing { setting } => {
                write!(f, "with {setting} set to 0 nothing would be checked")
            }
        }
    }
}

impl Error for ValueError {}

impl From<UnknownName> for ValueError {
    fn from(unknown: UnknownName) -> ValueError {
        ValueError::Name(unknown)
    }
}
