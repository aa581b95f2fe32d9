//! `dally.toml`: settings of all tests of a workspace, and of those with a name.

use std::ops::Range;
use std::path::{Path, PathBuf};

use dally_settings::{Kind, SETTINGS, Setting, ValueError, nearest, setting};
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Settings;

/// The table of the file that has settings of single tests.
const OF_TESTS: &str = "test";

/// The file that is read.
pub const NAME: &str = "dally.toml";

/// What the file says.
#[derive(Debug, Default)]
pub struct SettingsFile {
    everywhere: Vec<Entry>,
    /// Names of tests or modules, those with fewer letters first.
    of_tests: Vec<(String, Vec<Entry>)>,
    /// Where paths in it begin.
    directory: PathBuf,
}

#[derive(Debug)]
struct Entry {
    setting: &'static Setting,
    text: String,
}

impl SettingsFile {
    /// The nearest file, in this directory or above it.
    pub fn nearest(directory: &Path) -> Result<Option<SettingsFile>, FileError> {
        let Some(path) = directory.ancestors().map(|above| above.join(NAME)).find(|p| p.exists())
        else {
            return Ok(None);
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => SettingsFile::parse(&path, &text).map(Some),
            Err(why) => {
                Err(FileError { path, line: 1, column: 1, why: Why::Read(why.to_string()) })
            }
        }
    }

    /// Reads the text of a file.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use dally::settings::{Settings, SettingsFile};
    ///
    /// let text = "schedules = 5000\n[test.\"pools::slow\"]\nschedules = 100\n";
    /// let file = SettingsFile::parse(Path::new("dally.toml"), text).unwrap();
    /// let schedules = |test: &str| {
    ///     let mut settings = Settings::default();
    ///     file.override_in(&mut settings, test, &[]);
    ///     settings.schedules()
    /// };
    /// assert_eq!(schedules("my_crate::pools::fast"), 5_000);
    /// assert_eq!(schedules("my_crate::pools::slow"), 100);
    /// ```
    pub fn parse(path: &Path, text: &str) -> Result<SettingsFile, FileError> {
        let at = |span: Range<usize>, why: Why| FileError::new(path, text, span, why);
        let table = DeTable::parse(text).map_err(|error| {
            at(error.span().unwrap_or_default(), Why::Form(error.message().to_owned()))
        })?;
        let mut file = SettingsFile {
            directory: path.parent().unwrap_or(Path::new("")).to_owned(),
            ..SettingsFile::default()
        };
        let table = table.get_ref();
        file.everywhere = entries(table, Some(OF_TESTS)).map_err(|(span, why)| at(span, why))?;
        let of_tests = table.iter().filter(|(key, _)| key.get_ref() == OF_TESTS);
        for (_, tests) in of_tests {
            let named = tests.get_ref().as_table();
            for (name, of_test) in named.ok_or_else(|| at(tests.span(), Why::NoTests))? {
                let settings = of_test.get_ref().as_table();
                let settings = settings.ok_or_else(|| at(of_test.span(), Why::NoTests))?;
                let entries = entries(settings, None).map_err(|(span, why)| at(span, why))?;
                file.of_tests.push((name.get_ref().clone().into_owned(), entries));
            }
        }
        file.of_tests.sort_by_key(|(name, _)| name.len());
        Ok(file)
    }

    /// Sets what the file says for the test of this path, which begins with its crate. What it says of all
    /// tests does not count where the test's own code says something: `given` has the names of those
    /// settings. Of several names that fit, the longest counts. Answers the names of what it has set.
    pub fn override_in(
        &self,
        settings: &mut Settings,
        test: &str,
        given: &[&str],
    ) -> Vec<&'static str> {
        let everywhere =
            self.everywhere.iter().filter(|entry| !given.contains(&entry.setting.name));
        let fits = |name: &str| {
            let in_crate = test.split_once("::").map_or(test, |(_, rest)| rest);
            [test, in_crate].into_iter().any(|path| {
                let rest = path.strip_prefix(name);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            })
        };
        let of_test = self.of_tests.iter().filter(|(name, _)| fits(name)).flat_map(|(_, own)| own);
        let mut set = Vec::new();
        for Entry { setting, text } in everywhere.chain(of_test) {
            set.push(setting.name);
            match (setting.kind, setting.name) {
                (Kind::Path, "out") => settings.out = Some(self.directory.join(text)),
                (Kind::Path, "learned") => settings.learned = Some(self.directory.join(text)),
                // It was checked when it was read.
                _ => drop(settings.set(setting.name, text)),
            }
        }
        set
    }
}

/// The settings of a table, without the table of this name in it.
fn entries(
    table: &DeTable<'_>,
    other_than: Option<&str>,
) -> Result<Vec<Entry>, (Range<usize>, Why)> {
    let mut entries = Vec::new();
    for (key, value) in table.iter().filter(|(key, _)| Some(&**key.get_ref()) != other_than) {
        let name = key.get_ref();
        let setting = setting(name).ok_or_else(|| (key.span(), Why::unknown(name, other_than)))?;
        let wrong = |why| (value.span(), Why::Value { setting, why });
        let text = text_of(value).ok_or_else(|| wrong(None))?;
        setting.check(&text).map_err(|why| wrong(Some(why)))?;
        entries.push(Entry { setting, text });
    }
    Ok(entries)
}

/// A value as a variable would have it.
fn text_of(value: &Spanned<DeValue<'_>>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Boolean(switch) => Some(switch.to_string()),
        _ => None,
    }
}

/// Why `dally.toml` cannot be used, and where.
#[derive(Clone, Debug, Error)]
#[error("{}:{line}:{column}: {why}", .path.display())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    why: Why,
}

impl FileError {
    fn new(path: &Path, text: &str, span: Range<usize>, why: Why) -> FileError {
        let before = text.get(..span.start).unwrap_or(text);
        let line_begins = before.rfind('\n').map_or(0, |end| end + 1);
        FileError {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_begins..].chars().count() + 1,
            why,
        }
    }
}

#[derive(Clone, Debug, Error)]
enum Why {
    #[error("the file cannot be read: {0}")]
    Read(String),
    /// In the words of the parser.
    #[error("{0}")]
    Form(String),
    #[error("there is no setting `{name}`{guess}\n  docs/settings.md of Dally has them all")]
    Unknown { name: String, guess: String },
    #[error(
        "`{}` takes {}{}\n  {}: {}",
        .setting.name, .setting.kind.words(), .why.as_ref().map_or_else(String::new, |why| format!(": {why}")),
        .setting.name, .setting.help()
    )]
    Value { setting: &'static Setting, why: Option<ValueError> },
    #[error(
        "settings of one test, or of all in a module, are a table of their own\n  for example\n    \
         [test.\"pools::slow\"]\n    schedules = 100"
    )]
    NoTests,
}

impl Why {
    fn unknown(name: &str, table: Option<&str>) -> Why {
        let known = SETTINGS.iter().map(|setting| setting.name).chain(table);
        let guess = nearest(name, known);
        let guess = guess.map_or_else(String::new, |guess| format!(": did you mean `{guess}`?"));
        Why::Unknown { name: name.escape_debug().to_string(), guess }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
timers = "idle"
schedules = 5_000
shrink = false
out = "findings"

[test.pools]
schedules = 300
strategy = "pct:3"

[test."bank::pools::slow"]
schedules = 100
"#;

    fn read(text: &str) -> Result<SettingsFile, FileError> {
        SettingsFile::parse(Path::new("/project/dally.toml"), text)
    }

    fn of_test(test: &str, given: &[&str]) -> (u64, bool, String, Option<PathBuf>) {
        let mut settings = Settings::default();
        read(FILE).unwrap().override_in(&mut settings, test, given);
        let timers = settings.timers.map_or("", |timers| timers.name());
        assert_eq!(timers, "idle");
        (settings.schedules(), settings.shrink, settings.strategy.to_string(), settings.out)
    }

    #[test]
    fn the_longest_name_counts_then_the_code_then_what_is_said_of_all() {
        let out = || Some(PathBuf::from("/project/findings"));
        let default = Settings::default().strategy.to_string();
        let pct = "pct:3".to_owned();
        assert_eq!(of_test("bank::tests::fast", &[]), (5_000, false, default.clone(), out()));
        assert_eq!(of_test("bank::tests::fast", &["schedules"]), (1_000, false, default, out()));
        assert_eq!(of_test("bank::pools::fast", &["schedules"]), (300, false, pct.clone(), out()));
        assert_eq!(of_test("bank::pools::slow", &["schedules"]), (100, false, pct.clone(), out()));
        // The crate is in the name, and it is another.
        assert_eq!(of_test("shop::pools::slow", &[]), (300, false, pct, out()));
        // A name ends where a module does.
        assert_eq!(of_test("bank::pools_of_threads", &[]).0, 5_000);
    }

    fn told(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        insta::assert_snapshot!(told("# tests\nshedules = 5"), @"
        /project/dally.toml:2:1: there is no setting `shedules`: did you mean `schedules`?
          docs/settings.md of Dally has them all
        ");
        insta::assert_snapshot!(told("[test.slow]\nschedules = \"many\""), @"
        /project/dally.toml:2:13: `schedules` takes a whole number: `many` is not a whole number that fits
          schedules: How many schedules to run.
        ");
        insta::assert_snapshot!(told("time = 30"), @"
        /project/dally.toml:1:8: `time` takes a time, such as `30s`: a time is a number with a unit, such as 500ms, 30s, 5m or 2h
          time: How long to run; with `schedules`, whichever comes first.
        ");
        insta::assert_snapshot!(told("schedules = 1.5"), @"
        /project/dally.toml:1:13: `schedules` takes a whole number
          schedules: How many schedules to run.
        ");
        insta::assert_snapshot!(told("schedules = 0"), @"
        /project/dally.toml:1:13: `schedules` takes a whole number: with schedules set to 0 nothing would be checked
          schedules: How many schedules to run.
        ");
        insta::assert_snapshot!(told("timers = \"never\""), @"
        /project/dally.toml:1:10: `timers` takes `any`, `ordered`, `idle`: no model of time `never`. There are any, ordered, idle
          timers: When the timers of tasks fire.
        ");
        insta::assert_snapshot!(told("[test]\nschedules = 5"), @r#"
        /project/dally.toml:2:13: settings of one test, or of all in a module, are a table of their own
          for example
            [test."pools::slow"]
            schedules = 100
        "#);
        insta::assert_snapshot!(told("[tests.slow]\nschedules = 5"), @"
        /project/dally.toml:1:2: there is no setting `tests`: did you mean `test`?
          docs/settings.md of Dally has them all
        ");
        insta::assert_snapshot!(told("seed = 1\nseed = 2"), @"/project/dally.toml:2:1: duplicate key");
        insta::assert_snapshot!(told("seed = 1\n ]"), @"/project/dally.toml:2:2: missing table open, expected `[`");
    }
}
