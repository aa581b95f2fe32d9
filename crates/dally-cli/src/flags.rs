//! The flags of settings, made of the table of settings.

use std::marker::PhantomData;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use dally::settings::{Settings, SettingsError};
use dally_settings::{Kind, SETTINGS, Setting};

/// The settings that a command has flags for.
pub trait Taken {
    /// Whether it has one for the setting of this name.
    fn takes(name: &str) -> bool;
}

/// All of them, as `dally check` has.
#[derive(Clone, Debug)]
pub struct All;

impl Taken for All {
    fn takes(_: &str) -> bool {
        true
    }
}

/// Those that matter when one schedule is run again.
#[derive(Clone, Debug)]
pub struct OfReplays;

impl Taken for OfReplays {
    fn takes(name: &str) -> bool {
        name == "step_time"
    }
}

/// The flags that were given, with their values.
#[derive(Clone, Debug)]
pub struct Flags<T> {
    given: Vec<(&'static str, String)>,
    taken: PhantomData<T>,
}

impl<T: Taken> Flags<T> {
    /// Whether the flag of the setting of this name was given.
    pub fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(given, _)| *given == name)
    }

    /// What is set: by a flag, or else by an environment variable, or else in `otherwise`.
    pub fn over(&self, otherwise: Settings) -> Result<Settings, SettingsError> {
        let mut settings = otherwise;
        settings.override_by(|name| {
            let taken = SETTINGS.iter().any(|row| T::takes(row.name) && row.variable() == name);
            std::env::var(name).ok().filter(|_| taken)
        })?;
        if self.has("strategy") {
            // Whoever names a strategy does not want the search of a variable.
            settings.search = None;
        }
        for (name, text) in &self.given {
            settings.set(name, text).map_err(SettingsError::Value)?;
        }
        Ok(settings)
    }
}

impl Flags<All> {
    /// Those that matter when one schedule is run again.
    pub fn of_replays(&self) -> Flags<OfReplays> {
        let mut given = self.given.clone();
        given.retain(|(name, _)| OfReplays::takes(name));
        Flags { given, taken: PhantomData }
    }
}

impl<T: Taken> Args for Flags<T> {
    fn augment_args(command: Command) -> Command {
        let taken = SETTINGS.iter().filter(|setting| T::takes(setting.name));
        taken.fold(command, |command, setting| command.arg(flag(setting)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Taken> FromArgMatches for Flags<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Flags<T>, clap::Error> {
        let taken = SETTINGS.iter().filter(|setting| T::takes(setting.name));
        let given = taken.filter_map(|setting| {
            Some((setting.name, matches.get_one::<String>(setting.name)?.clone()))
        });
        Ok(Flags { given: given.collect(), taken: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The flag of a setting.
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

/// The short and the long help of a flag.
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

/// A text in which other settings go by their flags.
fn in_flags(text: String) -> String {
    SETTINGS.iter().fold(text, |text, setting| {
        text.replace(&format!("`{}`", setting.name), &format!("--{}", setting.flag()))
    })
}
