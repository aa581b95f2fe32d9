//! What the table says of a setting, and what follows from it.

use crate::{
    Names, STRATEGIES, ValueError, parse_bytes, parse_count, parse_strategy, parse_switch,
    parse_time,
};

/// What all variables begin with.
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
    /// The value if none is given; `None` where the text says what happens then.
    pub default: Option<&'static str>,
    /// What it belongs to.
    pub group: Group,
    /// What it means: a paragraph for a table or a list, and more for who asks for more. Names of
    /// other settings stand in backticks.
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
            Group::Attribute => "Of tests",
            Group::Machines => "Of tests with machines",
            Group::Replays => "Replays of tests",
        }
    }
}

impl Kind {
    /// What the value is called in a list of flags.
    pub fn placeholder(self, setting: &str) -> String {
        match self {
            Kind::Count { .. } => "N".into(),
            Kind::Time => "TIME".into(),
            Kind::Bytes => "BYTES".into(),
            Kind::Switch => "BOOL".into(),
            Kind::Name(_) | Kind::Strategy => setting.to_uppercase(),
            Kind::Path => "PATH".into(),
            Kind::Text | Kind::Expression(_) => "VALUE".into(),
        }
    }

    /// What it takes, in words and with an example.
    pub fn words(self) -> String {
        match self {
            Kind::Count { .. } => "a whole number".into(),
            Kind::Time => "a time, such as `30s`".into(),
            Kind::Bytes => "an amount of memory, such as `2G`".into(),
            Kind::Switch => "`true` or `false`".into(),
            Kind::Name(names) => {
                let names: Vec<_> =
                    names.all.iter().map(|name| format!("`{}`", name.name)).collect();
                names.join(", ")
            }
            Kind::Strategy => "a strategy, such as `random` or `pct:10`".into(),
            Kind::Path => "a path".into(),
            Kind::Text => "a text".into(),
            Kind::Expression(of) => format!("a `{of}`"),
        }
    }

    /// How it is written in an attribute.
    pub fn example(self, setting: &str) -> String {
        let value = match self {
            Kind::Count { .. } => "1000".to_owned(),
            Kind::Switch => "true".to_owned(),
            Kind::Time => "\"30s\"".to_owned(),
            Kind::Bytes => "\"2G\"".to_owned(),
            Kind::Name(names) => format!("\"{}\"", names.all[0].name),
            Kind::Strategy => "\"pct:10\"".to_owned(),
            Kind::Path => "\"target/findings\"".to_owned(),
            Kind::Text => "\"deadlock\"".to_owned(),
            Kind::Expression(of) => format!("{of}::.."),
        };
        format!("{setting} = {value}")
    }

    /// The names that it takes.
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

    /// Sees whether this text is a value of the setting.
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

    /// What is said if it is 0 and must not be.
    pub fn nothing(&self) -> ValueError {
        ValueError::Nothing { setting: self.name }
    }
}
