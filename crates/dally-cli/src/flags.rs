//! The flags of settings, generated from the table of settings.

use std::ffi::OsString;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use dally::settings::{Settings, SettingsError};
use dally_settings::{Kind, SETTINGS, Setting};

/// The given flags with their values: of all settings, or of those that matter to a replay.
#[derive(Clone, Debug)]
pub struct Flags<const OF_REPLAYS: bool> {
    given: Vec<(&'static str, String)>,
}

/// The flags of `dally check`.
pub type All = Flags<false>;
/// The flags of `dally replay`.
pub type OfReplays = Flags<true>;

impl<const OF_REPLAYS: bool> Flags<OF_REPLAYS> {
    fn taken() -> impl Iterator<Item = &'static Setting> {
        SETTINGS.iter().filter(|setting| !OF_REPLAYS || setting.name == "step_time")
    }

    pub fn has(&self, name: &str) -> bool {
        self.given(name).is_some()
    }

    /// The value of a flag, if it was given.
    pub fn given(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(given, _)| *given == name).map(|(_, value)| value.as_str())
    }

    /// The settings: from a flag, or else from an environment variable, which `variable` looks up, or
    /// else from `otherwise`.
    pub fn over<V: Into<OsString>>(
        &self,
        otherwise: Settings,
        variable: impl Fn(&str) -> Option<V>,
    ) -> Result<Settings, SettingsError> {
        let mut settings = otherwise;
        settings.override_by(|name| {
            variable(name).filter(|_| Self::taken().any(|setting| setting.variable() == name))
        })?;
        if self.has("strategy") {
            // A strategy that is named by a flag overrides a search that a variable names.
            settings.search = None;
        }
        for (name, text) in &self.given {
            settings.set(name, text).map_err(SettingsError::Value)?;
        }
        Ok(settings)
    }
}

impl All {
    pub fn of_replays(&self) -> OfReplays {
        let mut given = self.given.clone();
        given.retain(|(name, _)| OfReplays::taken().any(|setting| setting.name == *name));
        Flags { given }
    }
}

impl<const OF_REPLAYS: bool> Args for Flags<OF_REPLAYS> {
    fn augment_args(command: Command) -> Command {
        command.args(Self::taken().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const OF_REPLAYS: bool> FromArgMatches for Flags<OF_REPLAYS> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = Self::taken().filter_map(|setting| {
            Some((setting.name, matches.get_one::<String>(setting.name)?.clone()))
        });
        Ok(Flags { given: given.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn flag(setting: &'static Setting) -> Arg {
    let (help, long_help) = texts(setting);
    let flag = Arg::new(setting.name)
        .long(setting.flag())
        .value_name(setting.kind.placeholder(setting.name))
        .help(help)
        .long_help(long_help)
        .help_heading(setting.group.title())
        .value_parser(|text: &str| setting.check(text.trim()).map(|()| text.trim().to_owned()));
    match (setting.kind, setting.name) {
        (Kind::Switch, _) => {
            flag.num_args(0..=1).require_equals(true).default_missing_value("true")
        }
        (_, "strategy") => flag.conflicts_with_all(["search", "exhaustive"]),
        _ => flag,
    }
}

fn texts(setting: &Setting) -> (String, String) {
    let default =
        setting.default.map_or_else(String::new, |default| format!(" [default: {default}]"));
    let names = setting.kind.names();
    let mut help = setting.help();
    if let Some(names) = names {
        help += &format!(" One of {}.", names.list());
    }
    let mut long = help.clone();
    for paragraph in setting.more() {
        long += &format!("\n\n{paragraph}");
    }
    let mut research = false;
    for (place, name) in names.iter().flat_map(|names| names.all).enumerate() {
        if name.research && !research {
            long += "\nFor comparisons:";
            research = true;
        }
        let changes =
            if name.parameter { format!(", {}:CHANGES", name.name) } else { String::new() };
        let long_name = name.long.map_or_else(String::new, |name| format!(", {name}"));
        let separator = if place == 0 { "\n\n" } else { "\n" };
        long += &format!("{separator}{}{changes}{long_name}: {}", name.name, name.help);
    }
    long += &format!("\n\n[variable: {}]{default}", setting.variable());
    (in_flags(help) + &default, in_flags(long))
}

/// A text in which names of settings are replaced by their flags.
pub fn in_flags(text: String) -> String {
    SETTINGS.iter().fold(text, |text, setting| {
        text.replace(&format!("`{}`", setting.name), &format!("--{}", setting.flag()))
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn flags(given: &[&str]) -> All {
        let line = ["dally", "check", "paxos"].iter().chain(given);
        match Cli::try_parse_from(line).unwrap().command {
            Command::Check(arguments) => arguments.settings,
            _ => unreachable!("the command is check"),
        }
    }

    fn another(setting: &Setting) -> &'static str {
        match setting.kind {
            Kind::Count { .. } => "7",
            Kind::Time => "7s",
            Kind::Bytes => "7M",
            Kind::Switch if setting.default == Some("true") => "false",
            Kind::Switch => "true",
            Kind::Name(names) => names.all[2.min(names.all.len() - 1)].name,
            Kind::Strategy => "pct:7",
            _ => "some/path",
        }
    }

    #[test]
    fn every_setting_has_a_flag_that_reaches_it() {
        let unset = format!("{:?}", Settings::default());
        for setting in SETTINGS {
            let flag = format!("--{}={}", setting.flag(), another(setting));
            let settings = flags(&[&flag]).over(Settings::default(), |_| None::<String>).unwrap();
            let mut expected = Settings::default();
            expected.set(setting.name, another(setting)).unwrap();
            assert_eq!(format!("{settings:?}"), format!("{expected:?}"), "{flag}");
            assert_ne!(format!("{settings:?}"), unset, "{flag}");
        }
    }

    #[test]
    fn a_flag_wins_over_a_variable_that_over_what_suits_the_program_and_that_over_the_default() {
        let variable = |name: &str| match name {
            "DALLY_SEED" | "DALLY_MAX_STEPS" => Some("2".to_owned()),
            _ => None,
        };
        let suits =
            || Settings { seed: 1, max_steps: 1, temperature: Some(1), ..Settings::default() };
        let settings = flags(&["--seed", "3"]).over(suits(), variable).unwrap();
        let found = (settings.seed, settings.max_steps, settings.temperature, settings.threads);
        assert_eq!(found, (3, 2, Some(1), 1));
    }

    #[test]
    fn a_switch_is_on_alone_and_can_be_turned_off() {
        let switched = |given: &[&str]| {
            let on = |name: &str| (name == "DALLY_EXACT").then(|| "1".to_owned());
            let settings = flags(given).over(Settings::default(), on).unwrap();
            (settings.exact, settings.shrink, settings.keep_going)
        };
        assert_eq!(switched(&[]), (true, true, false));
        assert_eq!(switched(&["--keep-going"]), (true, true, true));
        assert_eq!(switched(&["--exact=false", "--shrink=0"]), (false, false, false));
    }

    #[test]
    fn a_strategy_on_the_command_line_is_not_overruled_by_the_search_of_a_variable() {
        let searching = |name: &str| (name == "DALLY_SEARCH").then(|| "ses".to_owned());
        let search =
            |given: &[&str]| flags(given).over(Settings::default(), searching).unwrap().search;
        assert!(search(&[]).is_some());
        assert_eq!(search(&["--strategy", "random"]), None);
    }
}
