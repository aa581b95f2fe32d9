//! A row of the table of settings, and what follows from it.

use crate::{
    Names, STRATEGIES, ValueError, parse_bytes, parse_count, parse_strategy, parse_switch,
    parse_time,
};

pub(crate) const PREFIX: &str = "DALLY_";

/// A setting.
#[derive(Debug)]
pub struct Setting {
    /// The name of the option and of the method, such as `max_steps`.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Whether 0 is refused, since nothing would be run.
    pub nonzero: bool,
    /// The default value; `None` where the text says what happens without one.
    pub default: Option<&'static str>,
    /// What it belongs to.
    pub group: Group,
    /// What it means: a paragraph for tables and lists, and further ones for the long help. Names of
    /// other settings are in backticks.
    pub text: &'static str,
}

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A whole number up to this one.
    Count {
        /// The greatest.
        most: u64,
    },
    /// A length of time.
    Time,
    /// An amount of memory.
    Bytes,
    /// On or off.
    Switch,
    /// One of these names.
    Name(&'static Names),
    /// A strategy: its name and a number, if it takes one.
    Strategy,
    /// The path of a file or a directory.
    Path,
    /// Any text.
    Text,
    /// An expression in Rust, of this type.
    Expression(&'static str),
}

/// What settings belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Group {
    /// Who picks the choices.
    Choices,
    /// How much is run.
    Bounds,
    /// What counts as a bug.
    Bugs,
    /// What is done about a bug.
    Findings,
    /// Searches of states.
    Search,
    /// Of programs of tasks.
    Tasks,
    /// Of the attribute alone.
    Attribute,
    /// Of machines.
    Machines,
    /// Running a recorded schedule again.
    Replays,
}

impl Group {
    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Group::Choices => "Who picks the choices",
            Group::Bounds => "How much is run",
            Group::Bugs => "What counts as a bug",
            Group::Findings => "What is done about a bug",
            Group::Search => "Searching states",
            Group::Tasks => "Programs of tasks",
            Group::Attribute => "Of tests",
            Group::Machines => "Of tests with machines",
            Group::Replays => "Replays of tests",
        }
    }
}

impl Kind {
    /// The placeholder, the words and the example of the value: see the methods below.
    fn texts(self, setting: &str) -> (String, String, String) {
        let (flag, words, example) = match self {
            Kind::Count { .. } => ("N", "a whole number", "1000"),
            Kind::Time => ("TIME", "a time, such as `30s`", "\"30s\""),
            Kind::Bytes => ("BYTES", "an amount of memory, such as `2G`", "\"2G\""),
            Kind::Switch => ("BOOL", "`true` or `false`", "true"),
            Kind::Path => ("PATH", "a path", "\"target/findings\""),
            Kind::Text => ("VALUE", "a text", "\"deadlock\""),
            Kind::Strategy => {
                let words = "a strategy, such as `random` or `pct:10`";
                return (setting.to_uppercase(), words.into(), "\"pct:10\"".into());
            }
            Kind::Name(names) => {
                let quoted: Vec<_> =
                    names.all.iter().map(|name| format!("`{}`", name.name)).collect();
                let first = format!("\"{}\"", names.all[0].name);
                return (setting.to_uppercase(), quoted.join(", "), first);
            }
            Kind::Expression(of) => {
                return ("VALUE".into(), format!("a `{of}`"), format!("{of}::.."));
            }
        };
        (flag.into(), words.into(), example.into())
    }

    /// The name of the value in a list of flags.
    pub fn placeholder(self, setting: &str) -> String {
        self.texts(setting).0
    }

    /// What the setting takes, in words and with an example.
    pub fn words(self) -> String {
        self.texts("").1
    }

    /// The setting as it is written in an attribute.
    pub fn example(self, setting: &str) -> String {
        format!("{setting} = {}", self.texts(setting).2)
    }

    /// The names that are values, if they are names.
    pub fn names(self) -> Option<&'static Names> {
        match self {
            Kind::Name(names) => Some(names),
            Kind::Strategy => Some(&STRATEGIES),
            _ => None,
        }
    }
}

impl Setting {
    /// The environment variable: `DALLY_MAX_STEPS`.
    pub fn variable(&self) -> String {
        format!("{PREFIX}{}", self.name.to_uppercase())
    }

    /// The flag of the command line, without its dashes: `max-steps`.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The first paragraph of the text.
    pub fn help(&self) -> String {
        self.paragraphs().remove(0)
    }

    /// The other paragraphs.
    pub fn more(&self) -> Vec<String> {
        self.paragraphs().split_off(1)
    }

    fn paragraphs(&self) -> Vec<String> {
        let mut paragraphs = vec![String::new()];
        for line in self.text.lines().map(str::trim) {
            let last = paragraphs.len() - 1;
            match line {
                "" => paragraphs.push(String::new()),
                line if paragraphs[last].is_empty() => paragraphs[last] += line,
                line => paragraphs[last] += &format!(" {line}"),
            }
        }
        paragraphs.retain(|paragraph| !paragraph.is_empty());
        paragraphs
    }

    /// Checks that a text is a value of the setting.
    ///
    /// ```
    /// let max_steps = dally_settings::setting("max_steps").unwrap();
    /// assert_eq!(max_steps.check("2_000"), Ok(()));
    /// assert_eq!(
    ///     max_steps.check("0").unwrap_err().to_string(),
    ///     "with max_steps set to 0 nothing would be checked",
    /// );
    /// ```
    pub fn check(&self, text: &str) -> Result<(), ValueError> {
        let zero = match self.kind {
            Kind::Count { most } => match parse_count::<u64>(text)? {
                number if number > most => return Err(ValueError::Count(text.to_owned())),
                number => number == 0,
            },
            Kind::Time => parse_time(text)?.is_zero(),
            Kind::Bytes => parse_bytes(text)? == 0,
            Kind::Switch => parse_switch(text).map(|_| false)?,
            Kind::Name(names) => names.find(text).map(|_| false)?,
            Kind::Strategy => parse_strategy(text).map(|_| false)?,
            Kind::Path | Kind::Text | Kind::Expression(_) => false,
        };
        if zero && self.nonzero { Err(self.nothing()) } else { Ok(()) }
    }

    /// The error for a 0 where 0 is refused.
    pub fn nothing(&self) -> ValueError {
        ValueError::Nothing { setting: self.name }
    }
}
