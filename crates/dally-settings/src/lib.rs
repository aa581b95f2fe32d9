//! The settings of Dally: their names, values and texts.
//!
//! [`SETTINGS`] is the one place where a setting is declared. Options of `#[dally::test]`, methods
//! of `dally::testing::Test`, fields of `dally::settings::Settings`, environment variables, flags
//! of the command line, their help texts and the reference page `docs/settings.md` are made of it.
//!
//! The crate has no dependencies, because the attribute macro is compiled with it: the macro checks
//! values by the same functions that read variables and flags.

mod misspelt;
mod names;
mod page;
mod setting;
mod table;
mod values;

pub use misspelt::nearest;
pub use names::{
    CACHES, CLOCKS, EXPLORERS, FAIRNESS, FORMATS, INPUTS, ISOLATION, Name, Names, POINTS,
    REDUCTIONS, SEARCHES, STRATEGIES, TASK_PANICS, TIMERS, UnknownName, parse_strategy,
};
pub use page::{options, page};
pub use setting::{Group, Kind, Setting};
pub use table::{OF_ATTRIBUTES, OF_REPLAYS, SETTINGS, setting};
pub use values::{Bytes, ValueError, parse_bytes, parse_count, parse_switch, parse_time};
