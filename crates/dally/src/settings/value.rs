//! The types of the values of settings.

use std::path::PathBuf;
use std::time::Duration;

use dally_search::liveness::Fairness;
use dally_search::strata::{CachePolicy, ExplorerKind, SearchKind};
use dally_search::{Clocks, StrategyKind};
use dally_settings::{
    Bytes, CACHES, ValueError, parse_bytes, parse_count, parse_switch, parse_time,
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

names!(StrategyKind SearchKind ExplorerKind Fairness Clocks);

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
